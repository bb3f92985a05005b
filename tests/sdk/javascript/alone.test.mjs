// What the SDK does without a server.

import assert from "node:assert/strict";
import { readFile, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { Folder } from "../../../sdk/js/folder.js";
import { Patience, sleep } from "../../../sdk/js/patience.js";
import { eventsOf } from "../../../sdk/js/streams.js";
import * as warledger from "../../../sdk/js/warledger.js";
import { canonical as other } from "../../../verify/verify.mjs";

const { Client, Memory, Problem, Refused, Receipts, Stale, Unreachable, Unavailable, WebStorage, canonical, inTheGame } = warledger;
const answer = (status, body, headers) => new Response(body === undefined ? null : JSON.stringify(body), { status, headers });

/** Return a client whose requests are answered by these functions, one after the other, and the requests that came. */
function asked(answers, settings) {
  const sent = [];
  const fetch = async (url, init) => {
    const request = new Request(url, init);
    sent.push(request);
    return answers[Math.min(sent.length, answers.length) - 1](request);
  };
  return [new Client("https://play.example/", { fetch, receipts: null, ...settings }), sent];
}

const lost = () => {
  throw new TypeError("fetch failed");
};

test("every name is declared, and every declared member is there", async () => {
  const declared = await readFile(new URL("../../../sdk/js/warledger.d.ts", import.meta.url), "utf8");
  const names = [...declared.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(names.sort(), Object.keys(warledger).sort());
  const classes = declared.split(/^export class /m).slice(1).map((text) => text.split("\n}\n")[0]);
  for (const text of classes) {
    const [name] = /^\w+/.exec(text);
    const { prototype } = warledger[name];
    const methods = [...text.matchAll(/^ {2}(\w+)(?:<[^(]*>)?\(/gm)].map(([, method]) => method);
    const found = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([, { value }]) => typeof value === "function");
    assert.deepEqual([...new Set(["constructor", ...methods])].sort(), found.map(([method]) => method).sort(), name);
    const getters = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([, { get }]) => get).map(([getter]) => getter);
    for (const getter of getters.filter((getter) => getter !== "name")) assert.match(text, new RegExp(`^ {2}readonly ${getter}:`, "m"));
  }
});

test("a request that creates something has one id, however often it is sent", async () => {
  const busy = () => answer(503, { code: "busy" }, { "Retry-After": "0" });
  const [client, sent] = asked([lost, busy, () => answer(201, { key: "wl_p_k_x", id: "p1" })]);
  assert.equal((await client.register("Ada")).id, "p1");
  assert.equal(client.key, "wl_p_k_x");
  const ids = sent.map((request) => request.headers.get("Idempotency-Key"));
  assert.equal(new Set(ids).size, 1);
  assert.ok(ids[0].length >= 22);
  assert.deepEqual(await Promise.all(sent.map((request) => request.json())), Array(3).fill({ name: "Ada" }));
});

test("what must not be sent twice is sent once, unless nothing was done", async () => {
  const [client, sent] = asked([lost]);
  await assert.rejects(client.request("POST", "/v1/players/me/keys/k1/rotate"), Unreachable);
  assert.equal(sent.length, 1);
  const [limited, more] = asked([() => answer(429, { code: "too_many_requests" }, { "Retry-After": "0" }), () => answer(200, {})]);
  assert.ok((await limited.request("POST", "/v1/players/me/keys/k1/rotate")).ok);
  assert.equal(more.length, 2);
});

test("a wait that is longer than the patience is the caller's", async () => {
  const [client] = asked([() => answer(429, { code: "quota_reached", limit: "matches" }, { "Retry-After": "3600" })]);
  await assert.rejects(client.create("war", {}), (problem) => problem instanceof warledger.Limited && problem.limit === "matches" && problem.retryAfter === 3600);
});

test("a server that fails is asked three times", async () => {
  const [client, sent] = asked([() => answer(500, { code: "broken" })]);
  await assert.rejects(client.me(), Unavailable);
  assert.equal(sent.length, 3);
});

test("an answer that is cut counts as none", async () => {
  const cut = () => new Response(new ReadableStream({ start: (body) => body.error(new TypeError("terminated")) }));
  const [client, sent] = asked([cut, () => answer(200, { id: "p1" })]);
  assert.equal((await client.me()).id, "p1");
  assert.equal(sent.length, 2);
});

test("what can never be sent is not tried again", async () => {
  const [client, sent] = asked([lost], { key: "a\nb" });
  await assert.rejects(client.me(), TypeError);
  assert.equal(sent.length, 0);
});

test("a signal ends a request while it waits", async () => {
  const stop = new AbortController();
  const [client] = asked([
    () => {
      stop.abort(new Error("enough"));
      return lost();
    },
  ]);
  await assert.rejects(client.get("/v1/games", {}, { signal: stop.signal }), /enough/);
  await assert.rejects(sleep(100, stop.signal), /enough/);
});

test("problems are told apart, and have the rule and the sentence", async () => {
  const body = { code: "not_adjacent", detail: "a1 does not border c7.", rule: "WAR-MOV-03", facts: { from: "a1" }, game: "war", place: 1 };
  const [client] = asked([() => answer(422, body), () => answer(412, { code: "stale", version: 41 }), () => new Response("<html>", { status: 404 })]);
  const refused = await client.match("m1").act({ type: "move" }).catch((problem) => problem);
  assert.ok(refused instanceof Refused && refused instanceof Problem && refused instanceof Error);
  assert.equal(refused.message, "422 not_adjacent: a1 does not border c7.");
  assert.deepEqual([refused.rule, refused.facts, refused.game, refused.place, refused.name], ["WAR-MOV-03", { from: "a1" }, "war", 1, "Refused"]);
  const stale = await client.match("m1").act({ type: "move" }, { version: 40 }).catch((problem) => problem);
  assert.ok(stale instanceof Stale && stale.version === 41);
  const missing = await client.me().catch((problem) => problem);
  assert.deepEqual([missing.name, missing.code, missing.detail], ["NotFound", "", "<html>"]);
});

test("pages follow each other by their cursors", async () => {
  const [client, sent] = asked([() => answer(200, { matches: [1, 2], next: "c" }), () => answer(200, { matches: [], next: "d" }), () => answer(200, { matches: [3], next: null })]);
  const found = [];
  for await (const match of client.matches({ to_act: "me", game: undefined })) found.push(match);
  assert.deepEqual(found, [1, 2, 3]);
  assert.deepEqual(sent.map(({ url }) => new URL(url).search), ["?to_act=me", "?to_act=me&cursor=c", "?to_act=me&cursor=d"]);
});

test("patience grows, ends, and begins anew with progress", () => {
  let now = 0;
  const patience = new Patience(10, true, () => now);
  const pauses = Array.from({ length: 5 }, () => patience.afterSilence());
  pauses.forEach((pause, place) => assert.ok(pause >= 0.125 * 2 ** place && pause <= 0.25 * 2 ** place));
  now = 9.9;
  assert.equal(patience.afterSilence(), null);
  patience.progress();
  assert.ok(patience.afterSilence() <= 0.25);
  assert.ok(patience.after({ status: 503, retryAfter: 4 }) >= 4);
  assert.equal(patience.after({ status: 503, retryAfter: 11 }), null);
  assert.equal(patience.after({ status: 409, retryAfter: null }), null);
  assert.equal(new Patience(10, false).after({ status: 503, retryAfter: 1 }), null);
});

test("events are read however their bytes are cut", async () => {
  const text = new TextEncoder().encode(": hello\r\nid: 1\nevent: entry\ndata: {\ndata: é}\n\nevent: over\ndata: {}\r\n\r\nid: 2\ndata: unfinished");
  for (const size of [1, 2, 7, 1000]) {
    const body = new ReadableStream({
      start(controller) {
        for (let from = 0; from < text.length; from += size) controller.enqueue(text.slice(from, from + size));
        controller.close();
      },
    });
    assert.deepEqual(await all(eventsOf(body)), [{ id: "1", event: "entry", data: "{\né}" }, { id: "1", event: "over", data: "{}" }]);
  }
});

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

test("a stream whose server begins anew brings each entry once", async () => {
  const sends = (...versions) => () => new Response(versions.map((version) => `id: ${version}\nevent: entry\ndata: {"version": ${version}}\n\n`).join(""));
  const [client, sent] = asked([sends(1, 2), sends(1, 2, 3), () => answer(204)]);
  const found = await all(client.match("m1").stream({ check: false }));
  assert.deepEqual(found.map(({ version }) => version), [1, 2, 3]);
  assert.deepEqual(sent.map(({ headers }) => headers.get("Last-Event-ID")), [null, "2", "3"]);
});

test("canonical JSON is that of the independent verifier", () => {
  const values = [null, true, -0, 3, 2 ** 53 - 1, "é\u2028\u0007\"\\/", [], {}, { b: [1, { z: null, a: "𝄞" }], "\u20ac": 1, a: {}, "10": 1, "9": 2 }];
  for (const value of values) assert.equal(canonical(value), other(value));
});

test("choices at the table are told apart", () => {
  assert.deepEqual(inTheGame([{ action: { type: "roll" } }, { action: { type: "resign" }, at_table: true }]), [{ action: { type: "roll" } }]);
});

test("every store keeps lines in their order", async () => {
  const items = new Map();
  const storage = { getItem: (name) => items.get(name) ?? null, setItem: (name, value) => items.set(name, value) };
  const folder = await mkdtemp(join(tmpdir(), "warledger-"));
  for (const store of [new Memory(), new WebStorage(storage), new Folder(join(folder, "deep", "down"))]) {
    assert.deepEqual(await store.lines("a"), []);
    for (const line of ["1", "2"]) await store.append("a", line);
    await store.append("b", "3");
    assert.deepEqual([await store.lines("a"), await store.lines("b")], [["1", "2"], ["3"]]);
  }
  assert.deepEqual((await readdir(join(folder, "deep", "down"))).sort(), ["a", "b"]);
  assert.deepEqual(await new Receipts(new Memory()).keys(), []);
});
