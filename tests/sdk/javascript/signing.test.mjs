// Signatures over moves: the bytes that are signed.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

import { headerOf, moveStatement, newKey, recorded, registrationText, signText, signed } from "../../../sdk/js/signing.js";

const vectors = JSON.parse(await readFile(new URL("../signatures.json", import.meta.url), "utf8"));
const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.from(vectors.seed, "hex")]);
const key = { publicKey: vectors.public_key, privateKey: await crypto.subtle.importKey("pkcs8", der, { name: "Ed25519" }, false, ["sign"]) };

test("statements, signatures and the header have the bytes of the vectors", async () => {
  for (const { actor, seen, sent, statements, signatures, header } of vectors.requests) {
    const move = { match: vectors.match, actor, seen, digest: vectors.digest };
    const actions = sent.map(recorded);
    const count = actions.length;
    assert.deepEqual(actions.map((action, at) => moveStatement({ ...move, place: at + 1, count }, action)), statements);
    assert.equal(headerOf(vectors.public_key, move, signatures), header);
    assert.equal(await signed(key, move, actions), header);
  }
});

test("a key is registered with a signature over the player and the key", async () => {
  const text = registrationText(vectors.player, vectors.public_key);
  assert.equal(text, vectors.registration.text);
  assert.equal(await signText(key, text), vectors.registration.signature);
});

test("a new key cannot be read, unless that is asked for", async () => {
  const made = await newKey();
  assert.match(made.publicKey, /^[A-Za-z0-9+/]{43}=$/);
  assert.equal(made.privateKey.extractable, false);
  await assert.rejects(crypto.subtle.exportKey("pkcs8", made.privateKey));
  assert.equal((await newKey(true)).privateKey.extractable, true);
});
