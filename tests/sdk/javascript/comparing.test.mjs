// What the SDK compares by itself, and the key that it keeps. No service runs.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { base64, decoded } from "../../../sdk/js/canonical.js";
import { continues } from "../../../sdk/js/evidence.js";
import { Folder } from "../../../sdk/js/folder.js";
import { newKey, registrationText, signMove, signText, verifies } from "../../../sdk/js/signing.js";
import { BadReceipt, BrokenChain, Client, Memory, Receipts, Stale, TwoHistories, TwoLogs, digestOf } from "../../../sdk/js/warledger.js";

const [MATCH, PLAYER] = [`m${"a".repeat(16)}`, `p${"b".repeat(16)}`];
const server = await newKey(true);
const sha = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", Buffer.concat(parts)));
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const mark = hex(await sha(Buffer.from("server\n\x01"), decoded(server.publicKey))).slice(0, 8);
const VKEY = `server+${mark}+${base64(Buffer.concat([Buffer.from([1]), decoded(server.publicKey)]))}`;

async function noteOf(text) {
  const signature = Buffer.concat([Buffer.from(mark, "hex"), decoded(await signText(server, text))]);
  return `${text}\n— server ${base64(signature)}\n`;
}

/** Return an entry of the match after the digest of the entry before. */
async function entryOf(version, previous, more = {}) {
  const salt = { salt: "00".repeat(32) };
  const proof = { format: 3, rules: "0".repeat(32), action: salt, request: salt, signed: salt, events: [] };
  const shown = { version, actor: "blue", action: { type: "roll" }, events: [], revision: 1, at: version, proof, ...more };
  return { ...shown, digest: await digestOf(previous, MATCH, shown) };
}

const heldBy = (version) => (version % 2 ? "" : "held 1\n"); // as a server signs that waits for replicas
const receiptOf = (version, digest) => noteOf(`warledger.org/receipt/v1\n${MATCH}\n${version}\n${digest}\n${version}\n${heldBy(version)}`);

/** A server whose answers are its members. */
class Server {
  log = null;
  proof = null;
  keys = [];
  refuses = null;
  entries = [];
  acted = [];
  answers = [];
  told = [];

  async grow(count) {
    for (; count; count--) this.entries.push(await entryOf(this.entries.length + 1, this.entries.at(-1)?.digest ?? "0".repeat(64)));
    return this;
  }

  client(store, settings) {
    const receipts = new Receipts(store, [VKEY]);
    return new Client("http://there", { key: "secret", receipts, tell: (text) => this.told.push(text), fetch: (...given) => this.answer(...given), ...settings });
  }

  async answer(address, { method = "GET", headers, body }) {
    const { pathname: path, searchParams: query } = new URL(address);
    if (path === "/v1/players/me") return Response.json({ id: PLAYER });
    if (path === "/v1/players/me/signing-keys") return method === "GET" ? Response.json({ keys: this.keys }) : this.#register(JSON.parse(body));
    if (path === "/log/checkpoint") return this.log === null ? Response.json({}, { status: 404 }) : new Response(this.log);
    if (path === "/log/consistency") return this.proof === null ? Response.json({}, { status: 404 }) : Response.json({ hashes: this.proof });
    if (path.endsWith("/entries")) return Response.json({ version: this.entries.length, entries: this.entries.slice(Number(query.get("after"))) });
    if (path.endsWith("/choices")) return Response.json({ version: this.entries.length, seat: "red", choices: [] });
    if (path.includes("/receipts/")) return Response.json({ receipt: await receiptOf(Number(path.split("/").at(-1)), "cd".repeat(32)) });
    if (path.endsWith("/matches") || path.includes("/seats/")) return Response.json({ id: MATCH, version: this.entries.length, keys: this.keys.length });
    assert.match(path, /\/actions$/);
    this.acted.push({ signature: headers.get("Warledger-Signature"), id: headers.get("Idempotency-Key"), body });
    const answer = this.answers.shift();
    if (answer) return answer();
    const { version, digest } = this.entries.at(-1);
    return Response.json({ version, seat: "red", entries: [], choices: [], receipt: await receiptOf(version, digest) });
  }

  async #register({ key, signature }) {
    if (this.refuses !== null) return Response.json(this.refuses, { status: 403 });
    assert.ok(await verifies(decoded(key), registrationText(PLAYER, key), decoded(signature)));
    this.keys.push({ key, revoked: null });
    return Response.json({}, { status: 201 });
  }
}

const made = () => new Server().grow(2);
const folder = async () => new Folder(await mkdtemp(join(tmpdir(), "warledger-")));
const saved = async (alarm) => JSON.parse(await readFile(alarm.file, "utf8"));

/** Return the alarm with which a promise ends. */
async function alarmOf(promise, Kind) {
  const alarm = await promise.then(() => null, (reason) => reason);
  assert.ok(alarm instanceof Kind, String(alarm));
  assert.ok(alarm.message.endsWith(alarm.file));
  return alarm;
}

test("proofs of consistency are checked as RFC 9162 says", async () => {
  const leaves = await Promise.all(Array.from({ length: 9 }, (_, number) => sha(Buffer.from([0, number]))));
  const root = async (from, to) => {
    if (to - from === 1) return leaves[from];
    const half = from + 2 ** Math.floor(Math.log2(to - from - 1));
    return sha(Buffer.from([1]), await root(from, half), await root(half, to));
  };
  const proof = async (size, from, to, whole = true) => {
    if (size === to - from) return whole ? [] : [await root(from, to)];
    const half = 2 ** Math.floor(Math.log2(to - from - 1));
    if (size <= half) return [...(await proof(size, from, from + half, whole)), await root(from + half, to)];
    return [...(await proof(size - half, from + half, to, false)), await root(from, from + half)];
  };
  for (let second = 1; second <= 9; second++)
    for (let first = 1; first <= second; first++) {
      const hashes = (await proof(first, 0, second)).map(base64);
      const [one, two] = [first, second].map((size) => ({ origin: "log", size }));
      one.root = base64(await root(0, first));
      two.root = base64(await root(0, second));
      const other = base64(new Uint8Array(32));
      assert.ok(await continues(one, two, hashes));
      assert.ok(!(await continues({ ...one, root: other }, two, hashes)));
      assert.ok(!(await continues(one, { ...two, root: other }, hashes)));
      if (first < second) assert.ok(!(await continues(one, two, hashes.slice(1))) && !(await continues(one, two, [...hashes, other])));
    }
});

test("a log that was told twice is an alarm with both checkpoints and the proof that fails", async () => {
  const there = await made();
  const store = await folder();
  const leaves = await Promise.all([0, 1, 2].map((number) => sha(Buffer.from([0, number]))));
  const checkpoint = (size, root) => noteOf(`server\n${size}\n${base64(root)}\n`);
  const first = (there.log = await checkpoint(1, leaves[0]));
  await there.client(store).compare();
  const second = (there.log = await checkpoint(2, await sha(Buffer.from([1]), leaves[0], leaves[1])));
  there.proof = [base64(leaves[1])];
  await there.client(store).compare();
  assert.deepEqual((await store.lines("log.jsonl")).map((line) => JSON.parse(line)), [first, second]);

  const other = (there.log = await checkpoint(2, leaves[2]));
  const found = await saved(await alarmOf(there.client(store).compare(), TwoLogs));
  assert.deepEqual([found.alarm, found.kept, found.received, found.server_keys], ["TwoLogs", second, other, [VKEY]]);
  there.log = await checkpoint(1, leaves[0]);
  there.proof = null; // the log does not have two leaves any more
  assert.match((await alarmOf(there.client(store).compare(), TwoLogs)).message, /it had 2 leaves and now has 1/);
  there.log = (await checkpoint(2, leaves[2])).replace("server\n2", "server\n3");
  await alarmOf(there.client(store).compare(), BadReceipt);
});

test("a key is registered before a match is created or a seat is taken", async () => {
  assert.equal((await (await made()).client(await folder()).create("war", {})).last.keys, 1);
  assert.equal((await (await made()).client(await folder()).match(MATCH).join("blue")).keys, 1);
});

test("a log that cannot be compared and new keys of the server are told", async () => {
  const there = await made();
  const store = await folder();
  await there.client(store).compare();
  assert.deepEqual(there.told, []); // there never was one
  there.log = await noteOf(`server\n1\n${base64(new Uint8Array(32))}\n`);
  await there.client(store).compare();
  there.log = null;
  await there.client(store).compare();
  assert.match(there.told.shift(), /^The server's log cannot be compared/);

  const published = ["old+00000000+AAAA"];
  const fetch = async (address, init) => (address.includes("well-known") ? Response.json({ keys: published.map((vkey) => ({ vkey })) }) : there.answer(address, init));
  const match = there.client(null, { fetch, receipts: await folder() }).match(MATCH);
  const note = await receiptOf(2, there.entries[1].digest);
  await alarmOf(match.keep(note), BadReceipt);
  assert.deepEqual(there.told, []);
  published.push(VKEY);
  await match.keep(note);
  assert.deepEqual(there.told, [`The server has new keys: ${VKEY}. Ask its operator elsewhere whether they are right.`]);
});

test("the key is made once, only its owner can read it, and it signs in later programs too", async () => {
  const there = await made();
  const store = await folder();
  for (let times = 0; times < 2; times++) await there.client(store).match(MATCH).act({ type: "move", to: { a1: 2, b1: 0 } }, { version: 2 });
  assert.equal(there.keys.length, 1);
  assert.equal((await stat(join(store.path, `signing-key-${PLAYER}.pem`))).mode & 0o777, 0o600);
  assert.equal((await store.signingKey(PLAYER)).privateKey.extractable, false);
  assert.deepEqual((await readdir(store.path)).sort(), [`${MATCH}.jsonl`, `signing-key-${PLAYER}.pem`]);
  const [one, two] = there.acted;
  assert.equal(one.signature, two.signature);
  assert.deepEqual(JSON.parse(one.body), { type: "move", to: { a1: 2 } });
  assert.ok(one.signature.startsWith(`key=:${there.keys[0].key}:, seen=2, digest="${there.entries[1].digest}", signatures=(:`));
});

test("a key that is revoked makes way for a new one, and a foreign one is told once", async () => {
  const there = await made();
  const store = await folder();
  const { key: first } = await there.client(store).signer();
  there.keys[0].revoked = 5;
  const foreign = (await newKey()).publicKey;
  there.keys.push({ key: foreign, revoked: null });
  const client = there.client(store);
  const { key: second } = await client.signer();
  await client.compare();
  assert.notEqual(first.publicKey, second.publicKey);
  assert.deepEqual(there.told, [`The server lists a signing key that you did not make here: ${foreign}. If it is not yours, revoke it.`]);
});

test("where there is no key, or it may not be registered, actions are not signed", async () => {
  const there = await made();
  there.refuses = { code: "scope_needed", detail: "This key does not have the scope account." };
  const match = there.client(await folder()).match(MATCH);
  for (let times = 0; times < 2; times++) await match.act({ type: "roll" }, { version: 2, seat: "red" });
  await there.client(new Memory()).match(MATCH).act({ type: "roll" }, { version: 2, seat: "red" });
  await there.client(await folder(), { sign: false }).match(MATCH).act({ type: "roll" }, { version: 2, seat: "red" });
  assert.deepEqual(there.acted.map(({ signature }) => signature), [null, null, null, null]);
  assert.deepEqual(there.told, ["Moves are not signed: This key does not have the scope account."]);
});

test("a folder that cannot be written is told, and the client goes on", async () => {
  const there = await made();
  const home = join((await folder()).path, "file");
  await writeFile(home, "");
  const before = process.env.WARLEDGER_HOME;
  process.env.WARLEDGER_HOME = home;
  const fetch = async (address, init) => (address.includes("well-known") ? Response.json({ keys: [{ vkey: VKEY }] }) : there.answer(address, init));
  const client = new Client("http://there", { key: "secret", fetch, tell: (text) => there.told.push(text) });
  await client.match(MATCH).act({ type: "roll" }, { version: 2, seat: "red" });
  assert.equal(there.told.length, 1);
  assert.match(there.told[0], /^No receipts are kept, and no moves are signed: /);
  process.env.WARLEDGER_HOME = join((await folder()).path, "home");
  await new Client("http://there:81", { key: "secret", fetch }).match(MATCH).act({ type: "roll" }, { version: 2, seat: "red" });
  assert.deepEqual(await readdir(process.env.WARLEDGER_HOME), ["there_81"]);
  if (before === undefined) delete process.env.WARLEDGER_HOME;
  else process.env.WARLEDGER_HOME = before;
});

test("a repeated request has the same signature, and one at any version is signed anew", async () => {
  const there = await made();
  const match = there.client(await folder()).match(MATCH);
  const lost = () => {
    throw new TypeError("fetch failed");
  };
  const stale = () => Response.json({ code: "stale", version: 3 }, { status: 412 });
  there.answers = [lost, () => Response.json({ code: "busy" }, { status: 503, headers: { "Retry-After": "0" } })];
  await match.act([{ type: "roll" }, { type: "stop" }], { version: 1 });
  assert.equal(there.acted.length, 3);
  assert.equal(new Set(there.acted.map((sent) => JSON.stringify(sent))).size, 1);
  there.answers = [stale];
  await match.act({ type: "resign" });
  there.answers = [stale];
  await assert.rejects(match.act({ type: "resign" }, { version: 2 }), Stale);
});

test("what is signed is the digest that was checked, and a server that has another one is an alarm", async () => {
  const there = await made();
  const match = there.client(await folder()).match(MATCH);
  await match.keep(await receiptOf(2, there.entries[1].digest));
  there.answers = [() => Response.json({ code: "history_differs", detail: "Keep what you were shown." }, { status: 409 })];
  const found = await saved(await alarmOf(match.act({ type: "roll" }, { version: 2 }), TwoHistories));
  const receipts = [await receiptOf(2, there.entries[1].digest), await receiptOf(2, "cd".repeat(32))];
  assert.deepEqual([found.kept, found.received, found.shown], [...receipts, there.entries[1].digest]);
  there.entries[1].digest = "ab".repeat(32);
  const sent = there.acted.length;
  await alarmOf(there.client(await folder()).match(MATCH).act({ type: "roll" }, { version: 2 }), BrokenChain);
  assert.equal(there.acted.length, sent);
});

test("a move must be signed after the history that is shown here", async () => {
  const key = await newKey();
  for (const [digest, seen, good] of [[null, 2, true], ["ab".repeat(32), 2, false], [null, 3, false], [null, 0, false], [null, 1, false]]) {
    const there = await made();
    const action = { type: "roll" };
    const move = { match: MATCH, actor: "blue", seen, digest: digest ?? there.entries[1].digest };
    const signature = await signMove(key, move, action);
    // What the server adds to a signature counts for nothing.
    const signed = { count: 1, key: key.publicKey, place: 1, seen, signature, digest: move.digest };
    there.entries.push(await entryOf(3, there.entries[1].digest, { signed, action }));
    const acting = there.client(await folder()).match(MATCH).act({ type: "roll" }, { version: 3 });
    if (good) await acting;
    else assert.match((await alarmOf(acting, BrokenChain)).message, /blue has not signed this action after the history/);
  }
});

test("a damaged key is told, and not replaced", async () => {
  const store = await folder();
  await mkdir(store.path, { recursive: true });
  await writeFile(join(store.path, `signing-key-${PLAYER}.pem`), "-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n");
  await assert.rejects(store.signingKey(PLAYER));
});
