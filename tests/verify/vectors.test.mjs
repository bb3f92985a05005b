// The vectors of docs/auditing.md, against verify/verify.mjs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  Dice,
  Hmac,
  blindKey,
  canonical,
  diceKey,
  hex,
  readKey,
  readNote,
  readStatement,
  sha256,
  signers,
  unhex,
  verify,
} from "../../verify/verify.mjs";

const page = readFileSync(new URL("../../docs/auditing.md", import.meta.url), "utf8");
const vectors = JSON.parse(/```json vectors\n(.*?)```/su.exec(page)[1]);
const bytes = (text) => new TextEncoder().encode(text);

test("keys follow from the secret and the contributions", () => {
  for (const { secret, commitment, match, contributions, key, blind } of vectors.keys) {
    assert.equal(hex(sha256(unhex(secret))), commitment);
    assert.equal(hex(diceKey(unhex(secret), contributions, match)), key);
    assert.equal(hex(blindKey(unhex(secret))), blind);
  }
});

test("draws are the numbers of their version", () => {
  for (const text of page.match(/\{"key".*?"below".*?\}/gu)) {
    const exact = JSON.parse(text.replace(/\b[0-9]{3,}\b/gu, '"$&"'));
    const dice = new Dice(unhex(exact.key), Number(exact.version));
    exact.below.forEach((below, place) => assert.equal(dice.number(BigInt(below)), BigInt(exact.numbers[place])));
  }
  assert.equal(page.match(/\{"key".*?"below".*?\}/gu).length, vectors.draws.length);
});

test("shuffles and samples are in the order of the numbers", () => {
  for (const { key, version, items, shuffled, then_sampled: sampled } of vectors.orders) {
    const dice = new Dice(unhex(key), version);
    assert.deepEqual(dice.shuffle(items), shuffled);
    assert.deepEqual(dice.sample(items, 3), sampled);
  }
});

test("leaves are salted hashes of canonical JSON", () => {
  for (const { blind, version, part, value, salt, leaf } of vectors.leaves) {
    assert.equal(hex(new Hmac(unhex(blind)).text(`${version}:${part}`)), salt);
    assert.equal(hex(sha256(unhex(salt), bytes(canonical(value)))), leaf);
  }
});

test("the chain of the entries holds, with the blind key and with the secret that the last one reveals", async () => {
  for (const blind of [vectors.keys[0].blind, null]) {
    const first = JSON.stringify({ blind, match: vectors.keys[0].match });
    const { findings, checked } = await verify(bytes([first, ...vectors.entries, ""].join("\n")));
    assert.equal(checked.digests, 3);
    // The vectors are no match: there is no version that creates one, so nothing to which the server committed itself.
    assert.deepEqual(
      findings.map(({ version, code }) => [version, code]),
      [[1, "commitment_broken"]],
    );
  }
});

test("notes are signed by their keys", async () => {
  for (const { vkey, note } of vectors.notes) {
    const key = readKey(vkey),
      read = readNote(note);
    assert.ok(readStatement(read.text));
    assert.deepEqual(await signers(read, [key]), { good: [key], bad: [] });
    assert.deepEqual((await signers({ ...read, text: `${read.text}x\n` }, [key])).bad, [key]);
  }
});

test("a receipt may say how many replicas have its version", () => {
  const receipt = readNote(vectors.notes[0].note).text;
  const ofSeat = readNote(vectors.notes.at(-1).note).text;
  const withHeld = (text, line) => text.split("\n").toSpliced(5, 0, line).join("\n");
  assert.deepEqual([readStatement(withHeld(receipt, "held 2")).held, readStatement(receipt).held], [2, undefined]);
  assert.deepEqual({ ...readStatement(ofSeat), held: 2 }, readStatement(withHeld(ofSeat, "held 2")));
  for (const line of ["held 0", "held 02", "held 1000", "held", "held x", "held 1 ", "hold 1"])
    assert.equal(readStatement(withHeld(receipt, line)), null);
});

test("running hashes cover their items in order", () => {
  const named = readStatement(readNote(vectors.notes.at(-1).note).text);
  for (const { items, hashes } of vectors.running)
    hashes.forEach((hash, place) => assert.equal(hex(sha256(unhex(hashes[place - 1] ?? "0".repeat(64)), bytes(items[place]))), hash));
  assert.deepEqual(
    [named.refused, named.refusedHash, named.reads, named.readsHash],
    vectors.running.flatMap(({ hashes }) => [hashes.length, hashes.at(-1)]),
  );
});
