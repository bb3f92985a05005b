import assert from "node:assert/strict";
import { test } from "node:test";

import { impossible, inWords } from "../../../web/static/reasons.js";
import { Narrowing } from "../../../web/static/narrowing.js";

const CHOICES = [{ action: { type: "move", from: "a1" } }, { action: { type: "move", from: "b2" } }, { action: { type: "end" } }];

test("what is not possible stands beside the next buttons, each value once, if no choice has it", () => {
  const no = (action, detail) => ({ action, code: "no", detail, rule: "TOY-ADD-01" });
  const blocked = [no({ type: "move", from: "c3" }, "Nobody is there."), no({ type: "move", from: "a1", to: "c3" }, "Too far."), no({ type: "shut" }, "Open."), no({ type: "shut" }, "Again.")];
  const start = new Narrowing(CHOICES);
  assert.deepEqual(impossible(start, blocked), [{ field: "type", value: "shut", action: { type: "shut" }, detail: "Open.", rule: "TOY-ADD-01" }]);
  const moves = start.with(start.buttons()[0].pick);
  assert.deepEqual(impossible(moves, blocked).map(({ field, value, detail }) => [field, value, detail]), [["from", "c3", "Nobody is there."]]);
  assert.deepEqual(impossible(moves.back(), blocked).map(({ value }) => value), ["shut"]);
  const only = new Narrowing([{ action: { type: "add", card: "x" } }]);
  const others = [no({ type: "add", card: "y" }, "No card."), no({ type: "end" }, "Not yet.")];
  assert.equal(only.field, null);
  assert.deepEqual(impossible(only, others).map(({ field, value }) => [field, value]), [["type", "end"]]);
  assert.deepEqual(impossible(only.with({ field: "type", value: "add" }), others).map(({ field, value }) => [field, value]), [["card", "y"]]);
  assert.deepEqual(impossible(start, []), []);
});

test("a sentence of the API has words for ids", () => {
  const words = { names: { power_supply: "power supply", ufo_1: "UFO 1" }, options: {} };
  assert.equal(inWords(words, "balloons keep ufo_1 out; power_supply and north_sea stay, as does end."), "Balloons keep UFO 1 out; Power supply and North sea stay, as does end.");
});
