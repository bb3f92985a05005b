import assert from "node:assert/strict";
import { test } from "node:test";

import { Draft, Drafts, LONGEST } from "../../../web/static/drafting.js";
import { Keeping, keyIn } from "../../../web/static/keeping.js";
import { command, KEYS, neighbour } from "../../../web/static/keys.js";
import { rest } from "../../../web/static/narrowing.js";
import { percent, points, turn } from "../../../web/static/turning.js";
import { clockText, deed, pointerTo, sentence, valued } from "../../../web/static/words.js";

const KEY = `wl_pabcdefghijklmnop_kabcdefghijklmnop_${"x_-".repeat(14)}y`;

test("a draft grows and shrinks step by step, and is sent as one action or one list", () => {
  const one = new Draft(4).with({ type: "a" }, { choices: [] });
  assert.deepEqual(one.body, { type: "a" });
  const two = one.with({ type: "b" }, null);
  assert.deepEqual(two.body, [{ type: "a" }, { type: "b" }]);
  assert.ok(two.closed && !one.closed && !new Draft(4).closed);
  assert.deepEqual(two.back().actions, one.actions);
  let full = new Draft(1);
  for (let step = 0; step < LONGEST; step += 1) full = full.with({ type: "a" }, {});
  assert.ok(full.closed);
});

test("a key is kept, brought back and forgotten, and a browser that keeps nothing has it as long as the page", () => {
  const store = new Map();
  const kept = { getItem: (name) => store.get(name) ?? null, setItem: (name, value) => store.set(name, value), removeItem: (name) => store.delete(name) };
  const keeping = new Keeping(kept);
  assert.equal(keeping.key, null);
  assert.ok(keeping.keep(KEY));
  assert.deepEqual(new Keeping(kept).headers, { Authorization: `Bearer ${KEY}` });
  assert.equal(new Keeping(kept).player, "pabcdefghijklmnop");
  new Keeping(kept).forget(); // in another tab
  assert.equal(keeping.key, null);
  const none = new Keeping(undefined);
  assert.ok(!none.keep(KEY));
  assert.equal(none.key, KEY);
});

test("only what looks like a key is one", () => {
  assert.equal(keyIn(`  ${KEY}\n`), KEY);
  for (const text of ["", "wl_", "https://a/b", `${KEY} x`, "Bearer x"]) assert.equal(keyIn(text), null);
});

const pressed = (key, more = {}) => ({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

test("no key has two meanings, and each has one that is told", () => {
  const keys = KEYS.flatMap(([, , names]) => names);
  assert.equal(new Set(keys).size, keys.length);
  assert.ok(KEYS.every(([, , , about]) => about.length > 3));
});

test("keys are left to those who type, drag or walk on the board", () => {
  assert.equal(command(pressed("ArrowLeft"), "page"), "back");
  assert.equal(command(pressed("ArrowLeft", { shiftKey: true }), "page"), "turnBack");
  assert.equal(command(pressed("ArrowLeft"), "board"), null);
  assert.equal(command(pressed("ArrowLeft"), "range"), null);
  assert.equal(command(pressed("e"), "field"), null);
  assert.equal(command(pressed("Escape"), "field"), "close");
  assert.equal(command(pressed("Enter"), "button"), null);
  assert.equal(command(pressed("?", { shiftKey: true }), "page"), "help");
  assert.equal(command(pressed("c", { ctrlKey: true }), "page"), null);
});

test("arrow keys reach every place of a board", () => {
  const points = [];
  for (let x = 0; x < 4; x += 1) for (let y = 0; y < 3; y += 1) if (x !== 1 || y !== 1) points.push({ x: x * 100 + y * 7, y: y * 100 });
  const reached = new Set([points[0]]);
  for (const point of reached) for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
    const next = neighbour(points, point, key);
    if (next) reached.add(next);
  }
  assert.equal(reached.size, points.length);
});

const WORDS = { names: { move: "Move", a1: "London", ufo: "UFO" }, options: { ufo: { 1: "1: UFO moves 2" } } };

test("actions are told in words", () => {
  assert.equal(sentence(WORDS, { type: "move", from: "a1", ships: { gun_boat: 2, frigate: 0 } }), "Move: from London, ships 2 × Gun boat");
  assert.equal(sentence(WORDS, { type: "end_turn" }), "End turn");
  assert.equal(valued(WORDS, "option", 1, { card: "ufo", option: 1 }), "1: UFO moves 2");
});

test("a game has sentences for its actions", () => {
  const deeds = {
    play: "{card}: {option}[ to {to}][ as part of a strike{strike}]",
    move: "Move[ {ships}| no ship] from {from}",
    place: "Place {units:unit on}",
    bid: "Bid [{ammo} ammo|no ammo][ and {cards}]",
  };
  const counts = { gun_boat: { one: "gunboat", other: "gunboats" }, "unit on": { one: "unit on", other: "units on" } };
  const words = { ...WORDS, deeds, counts, names: { ...WORDS.names, b2: "Leeds" }, options: { ufo: { 1: "move one UFO" } } };
  const told = (action) => sentence(words, action);
  assert.equal(told({ type: "play", card: "ufo", option: 1, to: "a1" }), "UFO: move one UFO to London");
  assert.equal(told({ type: "play", card: "ufo", option: 1, strike: true }), "UFO: move one UFO as part of a strike");
  assert.equal(told({ type: "move", from: "a1", ships: { gun_boat: 2, frigate: 1, capital: 0 } }), "Move 2 gunboats and 1 frigate from London");
  assert.equal(told({ type: "move", from: "a1", ships: { gun_boat: 0 } }), "Move no ship from London");
  assert.equal(told({ type: "place", units: { a1: 1, b2: 2 } }), "Place 1 unit on London and 2 units on Leeds");
  assert.deepEqual([{ ammo: 0, cards: [] }, { ammo: 2, cards: ["ufo", "b2"] }].map((bid) => told({ type: "bid", ...bid })), ["Bid no ammo", "Bid 2 ammo and UFO and Leeds"]);
});

test("what a guide names is what has not been picked of it", () => {
  const action = { type: "take", cards: ["a", "b"], from: "x" };
  assert.deepEqual(rest(action, []), action);
  assert.deepEqual(rest(action, [{ field: "type", value: "take" }, { field: "cards", id: "a" }]), { cards: ["b"], from: "x" });
  assert.deepEqual([rest(action, [{ field: "from", id: "y" }]), rest(null, [])], [{}, {}]);
});

test("times are told in short", () => {
  assert.deepEqual([0, 59_001, 3_599_000, 3_600_000, 3 * 86_400_000, -5].map(clockText), ["0:00", "1:00", "59:59", "1:00:00", "3d 0h", "0:00"]);
});

test("the field of an id is found, the shallowest one, and told as a pointer", () => {
  const state = { a: { deep: { london: 1 } }, regions: { london: {}, "a/b~c": 2 }, list: [{ york: 1 }] };
  assert.equal(pointerTo(state, "london"), "/regions/london");
  assert.equal(pointerTo(state, "a/b~c"), "/regions/a~1b~0c");
  assert.equal(pointerTo(state, "york"), null);
});

test("what is offered at the table has words of its own", () => {
  const words = { names: { draw: "Take cards", offer_draw: "a draw", offer: "Offer", offer_takeback: "a takeback", take_seat: "Take a seat", blue: "Blue" }, options: {} };
  assert.equal(deed(words, { type: "offer", what: "draw" }), "Offer a draw");
  assert.equal(deed(words, { type: "offer", what: "takeback", version: "…" }), "Offer a takeback to version …");
  assert.equal(deed(words, { type: "take_seat", seat: "blue" }), "Take a seat: Blue");
});

test("an analysis is a line for each seat, and turning points are sentences", () => {
  const decision = { version: 5, action: { type: "move", from: "a1" }, best: { type: "end_turn" }, expected: { red: 0.25, blue: 0.75 } };
  const decisions = [{ ...decision, version: 1 }, decision, { ...decision, version: 9, expected: { red: 1, blue: 0 } }];
  assert.equal(points(decisions, "red", 9), "0,150 500,150 1000,0");
  assert.equal(points([], "red", 1), "");
  const told = (action) => sentence(WORDS, action);
  const name = (seat) => seat.toUpperCase();
  const error = turn({ kind: "error", seat: "red", loss: 0.126 }, decision, told, name);
  assert.equal(error, "RED lost 13% of a victory. Move: from London. Better: End turn.");
  assert.equal(turn({ kind: "lead", seat: "blue", from: "red" }, decision, told, name), "BLUE became the expected winner (75%).");
  assert.equal(percent(0.005), "1%");
});

test("the newest draft is kept for its match, version and seat, until it is sent or dropped", () => {
  const kept = new Map();
  const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value), removeItem: (key) => kept.delete(key) };
  const drafts = new Drafts(() => storage, "/v1/matches/m1");
  drafts.keep(new Draft(4).with({ type: "a" }, {}).with({ type: "b" }, null), "red");
  assert.deepEqual(drafts.kept(4, "red"), [{ type: "a" }, { type: "b" }]);
  assert.deepEqual([drafts.kept(5, "red"), drafts.kept(4, "blue"), new Drafts(() => storage, "/v1/matches/m2").kept(4, "red")], [[], [], []]);
  new Drafts(() => storage, "/v1/matches/m2").keep(new Draft(0), "red");
  assert.equal(drafts.kept(4, "red").length, 2);
  drafts.keep(new Draft(0), "red");
  assert.deepEqual([drafts.kept(4, "red"), kept.size], [[], 0]);
  const closed = new Drafts(() => assert.fail(), "/v1/matches/m1");
  closed.keep(new Draft(4).with({ type: "a" }, {}), "red");
  assert.deepEqual(closed.kept(4, "red"), []);
});
