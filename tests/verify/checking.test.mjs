// web/static/checking.js: what was dropped on a page, and what is said of the answer.

import assert from "node:assert/strict";
import { test } from "node:test";

import { verify } from "../../verify/verify.mjs";
import { checked, failing, sorted, verdict } from "../../web/static/checking.js";
import { MATCH, SECRET, SERVER, blindOf, checkpoint, consistency, file, leavesOf, lines, logOf, match, receipt, record } from "./making.mjs";

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
  assert.equal(verdict(result), "All that could be checked here holds: 14 entries, 14 digests, 12 dice, 11 signatures, 3 leaves.");
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
