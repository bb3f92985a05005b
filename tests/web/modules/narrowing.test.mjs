import assert from "node:assert/strict";
import { test } from "node:test";

import { Counts, Narrowing } from "../../../web/static/narrowing.js";

const CHOICES = [
  { action: { type: "move", from: "a1" }, choose: { to: { each: { a2: [0, 1], b1: [0, 1] }, total: [1, 1] } } },
  { action: { type: "move", from: "b2" }, choose: { to: { each: { b1: [0, 2], c2: [0, 2] }, total: [2, 2] } } },
  { action: { type: "take", cards: ["x"] } },
  { action: { type: "take", cards: ["x", "y"] } },
  { action: { type: "take", cards: ["y"] } },
  { action: { type: "end" } },
];

test("a click on a place narrows to the choices that name it", () => {
  const start = new Narrowing(CHOICES);
  assert.deepEqual([...start.ids().keys()].sort(), ["a1", "b2", "x", "y"]);
  const picked = start.with(start.ids().get("a1"));
  assert.equal(picked.only, CHOICES[0]);
  assert.equal(picked.back().left.length, CHOICES.length);
});

test("buttons decide the type first, and one field after the other", () => {
  const start = new Narrowing(CHOICES);
  assert.equal(start.field, "type");
  assert.deepEqual(start.buttons().map(({ value, left }) => [value, left]), [["move", 2], ["take", 3], ["end", 1]]);
  const moves = start.with(start.buttons()[0].pick);
  assert.deepEqual(moves.buttons().map(({ value }) => value), ["a1", "b2"]);
});

test("a list of cards is picked card by card, and what is picked can be enough", () => {
  const start = new Narrowing(CHOICES);
  const one = start.with(start.ids().get("x"));
  assert.equal(one.enough, CHOICES[2]);
  assert.deepEqual([...one.ids().keys()], ["y"]);
  const both = one.with(one.ids().get("y"));
  assert.equal(both.only, CHOICES[3]);
  assert.equal(start.enough, null);
});

test("every choice is reached by buttons alone, and by what it names", () => {
  for (const choice of CHOICES) {
    let now = new Narrowing(CHOICES);
    for (let steps = 0; now.field !== null; steps += 1) {
      assert.ok(steps < 9);
      const wanted = JSON.stringify(choice.action[now.field]);
      now = now.with(now.buttons().find(({ value }) => JSON.stringify(value) === wanted).pick);
    }
    assert.equal(now.only, choice);
  }
});

test("counts stay in their ranges, and the only unit goes where the second click points", () => {
  const counts = new Counts({ action: { type: "move", from: "a1", to: {} }, choose: CHOICES[0].choose });
  assert.deepEqual(counts.lack, { field: "to", low: 1, high: 1, sum: 0 });
  assert.ok(counts.add("to", "a2"));
  assert.equal(counts.lack, null);
  assert.ok(!counts.can("to", "b1", 1));
  assert.ok(counts.add("to", "b1"));
  assert.deepEqual(counts.action, { type: "move", from: "a1", to: { b1: 1 } });
  assert.ok(counts.add("to", "b1"), "a full count starts again");
  assert.equal(counts.sum("to"), 0);
});

test("a single number has its range", () => {
  const counts = new Counts({ action: { type: "bid", ammo: 0 }, choose: { ammo: [0, 2] } });
  assert.ok(counts.step("ammo", null, 1) && counts.step("ammo", null, 1));
  assert.ok(!counts.step("ammo", null, 1));
  assert.deepEqual(counts.action, { type: "bid", ammo: 2 });
  assert.equal(counts.lack, null);
});
