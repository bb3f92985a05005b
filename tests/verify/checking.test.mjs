// web/static/checking.js: what was dropped on a page, and what is said of the answer.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as evidence from "../../sdk/js/evidence.js";
import { verify } from "../../verify/verify.mjs";
import { alone, aloneTold, checked, failing, forked, receiptsTold, sorted, verdict, withKept } from "../../web/static/checking.js";
import { keyOf, MATCH, SECRET, SERVER, blindOf, checkpoint, consistency, file, leavesOf, lines, logOf, match, receipt, record } from "./making.mjs";

const { readReceipt } = evidence;
const ENTRIES = match();
const BLIND = blindOf(SECRET).toString("hex");
const LOG = logOf(leavesOf(ENTRIES));
const dossier = new Blob([file(lines(ENTRIES))]);
const tampered = new Blob([file(lines(ENTRIES)).toString().replace('"d4":1', '"d4":2')]);

test("what somebody keeps is known by what is in it, whatever its name", async () => {
  const answer = { from: 5, to: LOG.length, hashes: consistency(LOG, 5).map((hash) => hash.toString("base64")) };
  const kept = {
    keys: `${SERVER.vkey}\n`,
    "keys of the server": JSON.stringify({ name: SERVER.name, keys: [{ vkey: SERVER.vkey }] }),
    receipt: receipt(SERVER, ENTRIES[5]),
    "receipt in an answer": JSON.stringify({ match: MATCH, version: 6, receipt: receipt(SERVER, ENTRIES[5]) }),
    checkpoint: checkpoint(SERVER, LOG.slice(0, 5)),
    consistency: JSON.stringify(answer),
  };
  const found = await sorted([dossier, ...Object.values(kept).map((text) => new Blob([text])), new Blob([record(ENTRIES)])]);
  assert.equal(found.files.length, 2);
  assert.deepEqual(found.keys, [SERVER.vkey, SERVER.vkey]);
  assert.deepEqual(found.receipts, [kept.receipt, kept.receipt]);
  assert.deepEqual(found.checkpoints, [kept.checkpoint]);
  assert.deepEqual(found.consistency, [answer]);
  const result = await checked(verify, found);
  assert.ok(result.ok, JSON.stringify(result.findings));
  assert.equal(verdict(result), "All that could be checked here holds: 14 entries, 14 digests, 12 dice, 12 signatures, 3 leaves.");
});

test("receipts are known as programs keep them, as a page saves them, and as they were pasted", async () => {
  const notes = [receipt(SERVER, ENTRIES[5]), receipt(SERVER, ENTRIES[6])];
  const bundle = { receipts: notes, checkpoints: [checkpoint(SERVER, LOG)], keys: [SERVER.vkey] };
  const proof = { sentence: "It differs.", ...bundle, consistency: [{ from: 1, to: 2, hashes: [] }], entry: {} };
  const texts = [notes.map((note) => `${JSON.stringify(note)}\n`).join(""), JSON.stringify(bundle), JSON.stringify(proof), ` \n${notes[0].trim().replaceAll("\n", "\r\n")}`];
  const found = await sorted(texts.map((text) => new Blob([text])));
  assert.deepEqual(found.receipts, [...notes, ...notes, ...notes, notes[0]]);
  assert.deepEqual([found.checkpoints.length, found.keys.length, found.consistency.length, found.files.length], [2, 2, 1, 0]);
});

test("what the browser keeps of a match is compared with its file, and each receipt is told of", async () => {
  const other = { ...ENTRIES[5], digest: "ab".repeat(32) };
  const elsewhere = receipt(SERVER, { ...ENTRIES[0], match: "mbbbbbbbbbbbbbbbb" });
  const kept = { receipts: [receipt(SERVER, ENTRIES[3]), receipt(SERVER, ENTRIES[4]), elsewhere], keys: [SERVER.vkey] };
  const given = [elsewhere, receipt(SERVER, ENTRIES[5]), receipt(keyOf("someone"), ENTRIES[5])].map((text) => new Blob([text]));
  const all = await withKept(await sorted([dossier, ...given]), kept, readReceipt);
  assert.deepEqual([all.own, all.receipts.length, all.keys], [2, 5, [SERVER.vkey]]);
  const result = await checked(verify, all);
  assert.deepEqual(result.receipts.map(({ state }) => state), ["elsewhere", "agrees", "unsigned", "agrees", "agrees"]);
  assert.deepEqual(receiptsTold(result.receipts.filter(({ match }) => match === MATCH), 2), [
    { text: "The receipt of version 6 agrees with the file.", bad: false },
    { text: "The receipt of version 6 is not signed by a key that is known.", bad: true },
    { text: "2 receipts that this browser keeps agree with the file.", bad: false },
  ]);
  const half = await checked(verify, await withKept(await sorted([new Blob([record(ENTRIES.slice(0, 4), BLIND)])]), kept, readReceipt));
  assert.deepEqual(half.receipts.map(({ state }) => state), ["agrees", "beyond"]);
  const retold = await checked(verify, await withKept(await sorted([dossier]), { ...kept, receipts: [receipt(SERVER, other)] }, readReceipt));
  assert.deepEqual([retold.ok, ...receiptsTold(retold.receipts, 1).map(({ bad }) => bad)], [false, true]);
  assert.match(receiptsTold([...half.receipts, ...result.receipts])[0].text, new RegExp(`^The receipt of version 4 of ${MATCH} agrees`));
});

test("a file of another server is not measured by what this browser keeps of this one", async () => {
  const key = keyOf("another-server");
  const foreign = new Blob([file(lines(ENTRIES, { key }), { key })]);
  const kept = { receipts: [receipt(SERVER, { ...ENTRIES[5], digest: "ab".repeat(32) })], keys: [SERVER.vkey] };
  const all = await withKept(await sorted([foreign]), kept, readReceipt);
  assert.deepEqual([all.own, all.receipts, all.keys], [0, [], []]);
  assert.ok((await checked(verify, all)).ok);
  const posing = new Blob([file(lines(ENTRIES, { key: keyOf(SERVER.name, 2) }), { key: keyOf(SERVER.name, 2) })]);
  const found = await checked(verify, await withKept(await sorted([posing]), { ...kept, receipts: [] }, readReceipt));
  assert.equal(found.findings[0].code, "wrong_key");
});

test("receipts without a file are held against one another, and against what the server signs now", async () => {
  const retold = { ...ENTRIES[5], digest: "ab".repeat(32) };
  const server = async (path) => {
    const version = Number(/^\/v1\/matches\/mabcdefghijklmnop\/receipts\/(\d+)$/.exec(path)?.[1]);
    if (!version || version > 6) throw Object.assign(new Error("There is no such version."), { status: 404 });
    return new Response(JSON.stringify({ receipt: receipt(SERVER, version === 6 ? retold : ENTRIES[version - 1]) }));
  };
  const isSigned = async (note) => note.includes(SERVER.name);
  const hold = async (...notes) => (await alone(notes, readReceipt, isSigned, server)).map(({ state }) => state);
  const [fourth, sixth, seventh] = [3, 5, 6].map((place) => receipt(SERVER, ENTRIES[place]));
  assert.deepEqual(await hold(fourth, sixth, seventh), ["same", "changed", "unknown"]);
  assert.deepEqual(await hold(sixth, receipt(SERVER, retold)), ["twice", "twice"]);
  assert.deepEqual(await hold(receipt(keyOf("someone"), ENTRIES[3]), "warledger.org/receipt/v1\n"), ["unsigned", "unsigned"]);
  assert.deepEqual(await hold(fourth, receipt(keyOf("someone"), retold)), ["same", "unsigned"]);
  const away = async () => Promise.reject(Object.assign(new Error("It is away."), { status: 503 }));
  await assert.rejects(alone([fourth], readReceipt, isSigned, away), /away/);
  assert.deepEqual([["same"], ["same", "unknown"], ["same", "changed"]].map((states) => aloneTold(states.map((state) => ({ state })))), [
    { ok: true, text: "1 receipt agrees with what this server signs now. Its file says more: drop that, too." },
    { ok: true, text: "1 receipt agrees with what this server signs now; of the others it shows nothing." },
    { ok: false, text: "Something is wrong with 1 receipt of 2." },
  ]);
});

test("checkpoints without a file are compared with one another", async () => {
  const [small, large] = [checkpoint(SERVER, LOG.slice(0, 5)), checkpoint(SERVER, LOG)];
  const proof = { from: 5, to: LOG.length, hashes: consistency(LOG, 5).map((hash) => hash.toString("base64")) };
  const other = checkpoint(SERVER, ["x", ...LOG.slice(1, 5)]);
  assert.equal(await forked([small, large, small], [proof], evidence), null);
  assert.match(await forked([small, other], [], evidence), /^There are two logs .* of 5 leaves\./);
  assert.match(await forked([other, large], [proof], evidence), /does not continue that of 5/);
  assert.equal(await forked([other, large, checkpoint(keyOf("another"), LOG.slice(0, 5))], [], evidence), null);
});

test("what a monitor has found is judged, by its own keys where it is of another server", async () => {
  const two = [LOG.slice(0, 3), ["another", ...LOG.slice(1, 3)]].map((leaves) => checkpoint(SERVER, leaves));
  const judged = async (checkpoints, keys) => {
    const text = JSON.stringify({ checkpoints, code: "checkpoint_forked", finding: 1, leaves: [], path: [], receipts: [], vkeys: [SERVER.vkey] });
    const found = await sorted([new Blob([`${text}\n`])]);
    assert.equal(found.files.length, 1);
    return verdict(await checked(verify, await withKept(found, { receipts: [], keys }, readReceipt)));
  };
  const fork = `The file of a monitor shows: The log ${SERVER.name} with 3 leaves does not continue that with 3.`;
  assert.equal(await judged(two, [SERVER.vkey]), fork);
  for (const keys of [[], [keyOf("other.org").vkey]])
    assert.equal(await judged(two, keys), `${fork} That is by the keys in the file: anybody can make such a file with keys of their own.`);
  assert.match(await judged([two[0], two[0]], []), /^The file of a monitor shows nothing: The two checkpoints do not contradict/);
  assert.match(await judged(two, [keyOf(SERVER.name, 2).vkey]), /^The file of a monitor shows nothing: A checkpoint in it is not signed/);
});

test("any other object of JSON is a file to be checked", async () => {
  const objects = ["{}", ' \n{"receipt":1}', '{"keys":[1]}', '{"keys":[]', `{"x":"${"x".repeat(200_000)}"}`];
  const found = await sorted(objects.map((text) => new Blob([text])));
  assert.equal(found.files.length, objects.length);
  assert.ok(!(await checked(verify, found)).ok);
});

test("what is no object of JSON is no file of a match", async () => {
  const others = ["", "[1]", "warledger.org/read/v1\n", "\0\0", "\x89PNG\r\n\x1a\n", "x".repeat(200_000)];
  const found = await sorted([dossier, ...others.map((text) => new Blob([text]))]);
  assert.deepEqual([found.files.length, found.others.length], [1, others.length]);
  assert.ok((await checked(verify, found)).ok);
});

test("the verdict on half a match says that it was not over", async () => {
  const half = new Blob([record(ENTRIES.slice(0, 6), BLIND)]);
  const result = await checked(verify, await sorted([half]));
  assert.equal(result.files[0].over, false);
  assert.ok(result.unchecked.includes("What came after version 6: the match was not over."));
  assert.match(verdict(result), /^All that could be checked here holds, but the file ends at version 6, before the match was over: 6 entries/u);
  const both = await checked(verify, await sorted([dossier, half]));
  assert.match(verdict(both), /^All that could be checked here holds, but 1 file ends before the match was over: /u);
});

test("the first version that fails is named, and the versions of the match of the page", async () => {
  const result = await checked(verify, await sorted([tampered]));
  assert.match(verdict(result), /^Version 6 is the first that fails: The digest of version 6 /u);
  assert.deepEqual(failing(result, MATCH), [6]);
  assert.deepEqual(failing(result, "mzzzzzzzzzzzzzzzz"), []);
  const both = await checked(verify, await sorted([dossier, tampered]));
  assert.match(verdict(both), /^Version 6 is the first that fails in file 2: /u);
  const short = await checked(verify, await sorted([new Blob([file(lines(ENTRIES)).subarray(0, -1)])]));
  assert.match(verdict(short), /^Something is wrong: The file does not have as many lines as it says\.$/u);
});

test("progress is told, and the page is given time in between", async () => {
  const told = [];
  const long = new Blob([Buffer.from("{}\n".repeat(5000))]);
  await checked(verify, await sorted([new Blob(["x".repeat(100_001), "\n"]), long]), (number) => told.push(number));
  assert.deepEqual(told, [2000, 4000]);
});
