import assert from "node:assert/strict";
import { test } from "node:test";

import * as evidence from "../../../sdk/js/evidence.js";
import * as problems from "../../../sdk/js/problems.js";
import * as receipts from "../../../sdk/js/receipts.js";
import { Comparing, dayOf, Disagreement, told } from "../../../web/static/comparing.js";
import { Kept } from "../../../web/static/receipts.js";
import { Memory } from "../../../web/static/storing.js";
import { verify } from "../../../verify/verify.mjs";
import { chained, checkpoint, consistency, keyOf, lines, match as played, MATCH, receipt, SERVER, START } from "../../verify/making.mjs";

const SDK = { ...evidence, ...problems, ...receipts };
const ENTRIES = played();
const LEAVES = Array.from({ length: 9 }, (_, place) => `leaf ${place}`);

/** A server: what it has played, its key, its log. Any of them may be replaced later. */
class Server {
  constructor(entries = ENTRIES) {
    Object.assign(this, { entries, key: SERVER, keys: [SERVER.vkey], leaves: LEAVES.slice(0, 5), spectators: "all", asked: [] });
  }

  get standing() {
    const over = this.entries.some(({ secret }) => secret);
    return { id: MATCH, version: this.entries.length, status: over ? "over" : "playing", spectators: this.spectators };
  }

  ask = async (path) => {
    this.asked.push(path);
    const { pathname, searchParams: query } = new URL(path, "http://server");
    const give = (value) => new Response(typeof value === "string" ? value : JSON.stringify(value));
    if (pathname === "/.well-known/warledger-keys") return give({ keys: this.keys.map((vkey) => ({ vkey })) });
    if (pathname === "/log/checkpoint") return give(checkpoint(this.key, this.leaves));
    if (pathname === "/log/consistency") {
      const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
      if (to > this.leaves.length) throw Object.assign(new Error("It is not in the log."), { status: 404 });
      return give({ from, to, hashes: consistency(this.leaves.slice(0, to), from).map((hash) => hash.toString("base64")) });
    }
    if (pathname === `/v1/matches/${MATCH}`) return give(this.standing);
    const version = /\/receipts\/(\d+)$/.exec(pathname)?.[1];
    if (version) return give({ receipt: receipt(this.key, this.entries[version - 1]) });
    const shown = lines(this.entries, { viewer: "red" }).filter(({ line }) => line === "shown").map(({ entry }) => entry);
    return give({ entries: shown.slice(Number(query.get("after")), Number(query.get("after")) + 2) });
  };
}

const reader = (server, storage = new Memory(), more = {}) =>
  new Comparing({ storage, kept: new Kept(storage, more), sdk: SDK, ask: (path) => server.ask(path) });

/** Return the Disagreement that something ends with. */
async function disagreement(work) {
  const problem = await work.then(() => assert.fail("nothing was noticed"), (found) => found);
  assert.ok(problem instanceof Disagreement, problem.stack);
  return problem;
}

test("the first look keeps a receipt of the newest version, and later ones are compared along the chain of the entries", async () => {
  const server = new Server(ENTRIES.slice(0, 2));
  const here = reader(server);
  assert.deepEqual(await here.match(server.standing), { agree: 0, chained: true });
  await here.keep(receipt(SERVER, ENTRIES[2]));
  server.entries = ENTRIES;
  assert.deepEqual(await here.match(server.standing), { agree: 2, chained: true });
  assert.deepEqual(await here.match(server.standing), { agree: 3, chained: true });
  assert.deepEqual((await here.kept.matches()).map(({ match, over, notes }) => [match, over, notes.length]), [[MATCH, true, 3]]);
  assert.deepEqual(server.asked.filter((path) => path.includes("keys")).length, 1);
});

test("a match that is told anew is noticed, and both signed texts are in the proof", async () => {
  const server = new Server();
  const here = reader(server);
  await here.keep(receipt(SERVER, ENTRIES[3]));
  server.entries = played({ secret: "ab".repeat(32) });
  const { message, proof } = await disagreement(here.match(server.standing));
  assert.equal(message, "The server has changed the history of this match: it signed another version 4 before.");
  assert.deepEqual(proof.receipts.slice(0, 1), [receipt(SERVER, ENTRIES[3])]);
  assert.ok(proof.receipts.includes(receipt(SERVER, server.entries[3])));
  assert.deepEqual([proof.match, proof.version, proof.keys], [MATCH, 4, [SERVER.vkey]]);
});

test("an entry that does not follow is noticed also where the server still signs what it signed before", async () => {
  const server = new Server();
  const here = reader(server);
  await here.keep(receipt(SERVER, ENTRIES[1]));
  const entries = structuredClone(ENTRIES);
  entries[3].events[0].attack.die = 7;
  server.entries = entries;
  const { message, proof } = await disagreement(here.match(server.standing));
  assert.match(message, /^Version 4 of this match, as the server shows it now, does not follow/);
  assert.equal(proof.entry.version, 4);
  assert.match(proof.expected, /^[0-9a-f]{64}$/);
});

test("signatures of moves are checked, as far as what their actor saw is known here", async () => {
  const { signed } = ENTRIES[5]; // over another action
  const told = (seen) => chained(ENTRIES.map(({ version, digest, ...entry }) => ({ ...entry, signed: version === 5 ? { ...signed, seen } : entry.signed && true })));
  const from = async (seen) => {
    const here = reader(new Server(told(seen)));
    await here.keep(receipt(SERVER, told(seen)[2]));
    return here.match(new Server(told(seen)).standing);
  };
  assert.deepEqual(await from(2), { agree: 1, chained: true });
  const { message, proof } = await disagreement(from(4));
  assert.equal(message, "The server shows version 5 of this match after another history than the one after which blue has signed it.");
  assert.equal(proof.entry.signed.seen, 4);
});

test("a match that got shorter is noticed, unless more of it is hidden", async () => {
  const server = new Server();
  const here = reader(server);
  await here.match(server.standing);
  server.entries = ENTRIES.slice(0, 4);
  const { message, proof } = await disagreement(here.match(server.standing));
  assert.equal(message, "The match has 4 versions now, but the server has signed its version 7.");
  assert.deepEqual(proof.receipts, [receipt(SERVER, ENTRIES[6]), receipt(SERVER, ENTRIES[3])]);
  server.spectators = "none";
  assert.deepEqual(await here.match(server.standing), { agree: 0, chained: true });
});

test("a standing that is older than a receipt is no match that got shorter", async () => {
  const server = new Server();
  const here = reader(server);
  await here.keep(receipt(SERVER, ENTRIES[5]));
  await here.keep(receipt(SERVER, ENTRIES[2]));
  assert.deepEqual(await here.match({ ...server.standing, version: 4 }), { agree: 1, chained: true });
});

test("the digest that is signed is the one to which the chain was followed, and no other", async () => {
  const server = new Server(ENTRIES.slice(0, 2));
  const here = reader(server);
  assert.equal(await here.digest(MATCH, 2), ENTRIES[1].digest);
  server.entries = ENTRIES.slice(0, 6);
  assert.equal(await here.digest(MATCH, 5), ENTRIES[4].digest);
  assert.equal(await here.digest(MATCH, 1), undefined);
  const entries = structuredClone(ENTRIES);
  entries[6].events[0].seat = "red";
  server.entries = entries;
  await disagreement(here.digest(MATCH, 7));
  const { proof } = await here.differing(MATCH, 2, ENTRIES[1].digest);
  assert.deepEqual([proof.version, proof.shown, proof.receipts.length], [2, ENTRIES[1].digest, 2]);
});

test("two receipts of one version that differ are noticed when the second one comes", async () => {
  const server = new Server();
  const here = reader(server);
  await here.keep(receipt(SERVER, ENTRIES[3]));
  const other = receipt(SERVER, { ...ENTRIES[3], digest: "ab".repeat(32) });
  const { proof } = await disagreement(here.keep(other));
  assert.ok(proof.receipts.includes(other) && proof.receipts.includes(receipt(SERVER, ENTRIES[3])));
  await disagreement(here.match(server.standing)); // both are kept, so it is not forgotten
});

test("a receipt by another key is none, and a server that drops its key is not believed", async () => {
  const server = new Server();
  const here = reader(server);
  await here.match(server.standing);
  const other = keyOf(SERVER.name, 2);
  const { message } = await disagreement(here.keep(receipt(other, ENTRIES[3])));
  assert.match(message, /receipt of version 4 that is not good: no key/);
  server.keys.push(other.vkey);
  await here.keep(receipt(other, ENTRIES[3])); // it signs by a new key, and still publishes the one before
  const third = keyOf(SERVER.name, 3);
  Object.assign(server, { key: third, keys: [third.vkey] });
  assert.match((await disagreement(here.match(server.standing))).message, /^The server signs with another key/);
  await here.forget();
  assert.deepEqual(await here.match(server.standing), { agree: 0, chained: true });
});

test("what somebody has changed in the browser accuses nobody", async () => {
  const server = new Server();
  const here = reader(server);
  await here.match(server.standing);
  await here.log(START);
  const changed = receipt(keyOf("someone-else"), { ...ENTRIES[6], digest: "ab".repeat(32) });
  await here.storage.change("receipts", MATCH, (kept) => ({ ...kept, lines: [JSON.stringify(changed)] }));
  await here.storage.change("logs", "log", ({ last }) => ({ last: { ...last, note: last.note.replace("5\n", "6\n"), size: 6 } }));
  assert.deepEqual(await here.match(server.standing), { agree: 0, chained: true });
  assert.equal((await here.log()).since, null);
});

test("without WebCrypto what the server signs is compared, and that is said", async () => {
  const server = new Server();
  const here = reader(server);
  await here.match(server.standing);
  here.sdk = { ...SDK, canCheck: () => false };
  assert.deepEqual(await here.match(server.standing), { agree: 1, chained: false });
  server.entries = played({ secret: "ab".repeat(32) });
  await disagreement(here.match(server.standing));
  assert.match(told({ agree: 1, chained: false }, null, true), /^1 receipt agrees with what the server signs now\. .* Without https/);
});

test("the log must continue the one that was seen", async () => {
  const server = new Server();
  const here = reader(server);
  assert.deepEqual(await here.log(START), { since: null, renamed: null });
  server.leaves = LEAVES;
  assert.equal((await here.log(START + 5)).since, START);
  server.leaves = LEAVES.slice(0, 7); // another process, which is a little behind
  server.ask = ((ask) => (path) => (path.includes("consistency") ? new Server().ask.call(null, path) : ask(path)))(server.ask);
  assert.match((await disagreement(here.log())).message, /^The log of the server has only 7 leaves now, and had 9 on /);
});

/** What verify.mjs finds in a proof. */
async function shown(proof) {
  const { findings } = await verify(new TextEncoder().encode(`${JSON.stringify(proof)}\n`), { keys: [SERVER.vkey] });
  return findings.map(({ code }) => code);
}

test("a log whose proof shows nothing is noticed, with the proof that fails", async () => {
  const server = new Server();
  const here = reader(server);
  await here.log(START);
  server.leaves = ["another", ...LEAVES.slice(1, 8)];
  server.ask = ((ask) => (path) => (path.includes("consistency") ? new Response(JSON.stringify({ from: 5, to: 8, hashes: [] })) : ask(path)))(server.ask);
  const { proof } = await disagreement(here.log());
  assert.deepEqual(proof.consistency, [{ from: 5, to: 8, hashes: [] }]);
  assert.equal(proof.checkpoints.length, 2);
});

test("a log that shows another tree is noticed, and the proof is the file of a monitor", async () => {
  const server = new Server();
  const here = reader(server);
  await here.log(START);
  server.leaves = ["another", ...LEAVES.slice(1, 8)];
  const { message, proof } = await disagreement(here.log());
  assert.match(message, new RegExp(`does not continue the one that this browser saw on ${dayOf(START)}`));
  assert.deepEqual(proof.checkpoints, [checkpoint(SERVER, LEAVES.slice(0, 5)), checkpoint(SERVER, server.leaves)]);
  assert.deepEqual(await shown(proof), ["checkpoint_forked"]);
  server.leaves = ["another", ...LEAVES.slice(1, 5)];
  const other = await disagreement(here.log());
  assert.match(other.message, /^The server shows another log of 5 leaves/);
  assert.deepEqual(await shown(other.proof), ["checkpoint_forked"]);
  server.leaves = LEAVES.slice(0, 5);
  server.key = keyOf("someone-else");
  await disagreement(here.log());
});

test("of a match the first receipt and the newest stay, and of many matches those that run and were looked at last", async () => {
  const storage = new Memory();
  const kept = new Kept(storage, { receipts: 3, matches: 2, letters: 100 });
  for (const note of ["a", "b", "c", "d", "e"]) await kept.append("m1.jsonl", JSON.stringify(note));
  assert.deepEqual((await kept.lines("m1.jsonl")).map(JSON.parse), ["a", "d", "e"]);
  await kept.used("m1", true);
  await kept.append("m2.jsonl", '"f"');
  await kept.append("server-keys.txt", "key");
  await kept.append("m3.jsonl", '"g"');
  assert.deepEqual((await kept.matches()).map(({ match }) => match), ["m2", "m3"]);
  await kept.append("m3.jsonl", JSON.stringify("x".repeat(96)));
  assert.deepEqual((await kept.matches()).map(({ match, notes }) => [match, notes.length]), [["m2", 1], ["m3", 2]]);
  await kept.append("m3.jsonl", JSON.stringify("x".repeat(10)));
  assert.deepEqual((await kept.matches()).map(({ match }) => match), ["m3"]);
  await kept.append("m4.jsonl", JSON.stringify("x".repeat(5_000)));
  assert.deepEqual([await kept.lines("m4.jsonl"), await kept.lines("server-keys.txt")], [[], ["key"]]);
});

test("what came of comparing is said in a line", () => {
  const log = { since: START, renamed: null };
  assert.equal(told({ agree: 12, chained: true }, log, true), `12 receipts agree with this match's history. The log continues what you saw on ${dayOf(START)}.`);
  assert.match(told({ agree: 0, chained: true }, { since: null, renamed: null }, true), /^From now on this browser keeps receipts/);
  assert.match(told({ agree: 0, chained: true }, log, false), /^The log continues .* This browser keeps nothing, so/);
  assert.match(told({ agree: 1, chained: true }, { since: null, renamed: "old" }, true), /another name than before, when it was old\.$/);
});

test("a log that has not begun is no failure, but one that is gone is", async () => {
  const server = new Server();
  const answer = server.ask;
  const none = Object.assign(new Error("The log has no checkpoint yet."), { status: 404 });
  server.ask = async (path) => {
    if (path === "/log/checkpoint") throw none;
    return answer(path);
  };
  const here = reader(server);
  const log = await here.log();
  assert.deepEqual(log, { since: null, renamed: null, begun: false });
  assert.match(told({ agree: 0, chained: true }, log, true), /has not begun yet/);
  server.ask = answer;
  assert.deepEqual(await here.log(), { since: null, renamed: null });
  server.ask = async () => Promise.reject(none);
  assert.equal((await here.log()).late, null);
  await assert.rejects(reader({ ask: async () => Promise.reject(Object.assign(none, { status: 503 })) }).log(), none);
});

test("a log that is kept back is told with the day on which it was seen, and aloud after a day without it", async () => {
  const server = new Server();
  const here = reader(server);
  const [answer, day] = [server.ask, 86_400_000];
  await here.log(START);
  const away = Object.assign(new Error("It did not answer."), { status: 0 });
  server.ask = async (path) => (path.startsWith("/log/") ? Promise.reject(away) : answer(path));
  const month = START + 30 * day; // it may have been there all the time in which nobody looked
  const first = await here.log(month);
  assert.deepEqual(first, { since: null, renamed: null, missed: START, late: null });
  assert.equal(told({ agree: 0, chained: true }, first, false).startsWith(`The server's log could not be asked for. This browser last saw it on ${dayOf(START)}.`), true);
  assert.equal((await here.log(month + day - 1)).late, null);
  const { late } = await here.log(month + day);
  assert.equal(late.title, "The log of this server is missing");
  assert.ok(late.message.startsWith(`The log could not be asked for since ${dayOf(month)}. On ${dayOf(START)} it had 5 leaves.`));
  assert.deepEqual([late.proof.checkpoints, late.proof.keys], [[checkpoint(SERVER, LEAVES.slice(0, 5))], [SERVER.vkey]]);
  server.leaves = LEAVES;
  server.ask = async (path) => (path.startsWith("/log/consistency") ? Promise.reject(away) : answer(path));
  assert.ok((await here.log(month + day)).late, "a checkpoint without the proof that it continues the other one is no answer");
  server.ask = answer;
  assert.equal((await here.log(month + 2 * day)).since, START);
  server.ask = async () => Promise.reject(away);
  assert.equal((await here.log(month + 5 * day)).late, null, "the day begins anew");
});

test("a move of one's seat that this browser has not sent is told, and what it has sent is not", async () => {
  const server = new Server();
  const here = reader(server);
  await here.keep(receipt(SERVER, ENTRIES[1]));
  const player = "paaaaaaaaaaaaaaaa";
  const standing = { ...server.standing, seats: { red: { player }, blue: { player: "pbbbbbbbbbbbbbbbb" } } };
  server.ask = ((ask) => (path) => (path.endsWith("signing-keys") ? Promise.reject(new Error("away")) : ask(path)))(server.ask);
  const { foreign } = await here.match(standing, player);
  assert.match(foreign.sentence, /^2 moves of your seats were not sent by this browser \(versions 4, 6\)\./);
  const { proof } = await foreign.accused();
  assert.deepEqual(proof.receipts, ENTRIES.slice(2, 6).map((entry) => receipt(SERVER, entry)));
  await here.kept.noteSent(MATCH, [4], "");
  await here.storage.change("signing", player, () => ({ publicKey: ENTRIES[5].signed.key }));
  assert.equal((await here.match(standing, player)).foreign, undefined);
  assert.equal((await here.match({ ...standing, version: 4 }, player)).foreign, undefined);
  await here.kept.noteSent(MATCH, [4, 6], "another key");
  const { message } = await disagreement(here.match(standing, player));
  assert.match(message, /^The server shows your move of version 4 with another signature than this browser has sent/);
});

test("a checkpoint that a file shows is compared with the one that was kept", async () => {
  const server = new Server();
  const here = reader(server);
  assert.deepEqual(await here.shown(checkpoint(SERVER, LEAVES)), { since: null });
  server.leaves = LEAVES;
  await here.log(START);
  assert.deepEqual(await here.shown(checkpoint(SERVER, LEAVES.slice(0, 3))), { since: START });
  assert.deepEqual(await here.shown(checkpoint(keyOf("another"), LEAVES.slice(0, 3))), { since: null });
  await disagreement(here.shown(checkpoint(SERVER, ["another", ...LEAVES.slice(1, 3)])));
});
