import assert from "node:assert/strict";
import { test } from "node:test";

import { applied, Frames, leap, linesOf, PAGE, roundOf, turnOf } from "../../../web/static/frames.js";

const SHEETS = [{ id: "board", box: [0, 0, 10, 10], fragments: ["ground", "a"] }];

/** Return the frames of a match of so many versions, in pages that begin with a keyframe. */
function* match(versions, places = 40) {
  const now = {};
  const put = (version, place) => `<g id="p-${place}">${"x".repeat(400)}${version}</g>`;
  const all = {};
  for (let place = 0; place < places; place += 1) all[`p-${place}`] = put(0, place);
  for (let version = 1; version <= versions; version += 1) {
    const name = `p-${version % places}`;
    all[name] = put(version, version % places);
    now.round = Math.floor(version / 10);
    now.to_act = [version % 4 < 2 ? "red" : "blue"];
    const key = version % PAGE === 1;
    const fragments = key ? { ...all } : { [name]: [3, 1, `">${"x".repeat(400)}${version}`] };
    yield { version, text: [`version ${version}`], now: { ...now }, ...(key ? { key, title: "t", sheets: SHEETS } : {}), fragments, wanted: { ...all } };
  }
}

test("every version of a replay is what the server drew", () => {
  const frames = new Frames();
  const drawn = [...match(450)];
  frames.add(drawn);
  for (const { version, wanted } of drawn) assert.deepEqual(Object.fromEntries(frames.at(version).fragments), wanted);
  assert.equal(frames.lines[77].text[0], "version 77");
});

test("fragments that are gone are gone, before and after a keyframe", () => {
  const frames = new Frames();
  frames.add([
    { version: 1, key: true, title: "t", sheets: SHEETS, fragments: { ground: "g", a: "1" }, now: { round: 1 } },
    { version: 2, gone: ["a"], fragments: {} },
    { version: 3, fragments: { a: "3" } },
    { version: 4, key: true, title: "t", sheets: SHEETS, fragments: { ground: "g" } },
  ]);
  assert.deepEqual([1, 2, 3, 4].map((version) => frames.at(version).fragments.get("a")), ["1", undefined, "3", undefined]);
  assert.equal(frames.lines[3].now.round, 1);
});

test("only a page that begins with a keyframe is taken, and gaps are not filled by what comes later", () => {
  const frames = new Frames();
  const drawn = [...match(250)];
  frames.add(drawn.slice(50, 60));
  assert.ok(!frames.has(51));
  frames.add(drawn.slice(100, 150));
  frames.add(drawn.slice(160, 170));
  assert.ok(frames.has(150) && !frames.has(165));
  assert.deepEqual(frames.missing(250, 240), [2, 1, 0]);
  frames.add(drawn.slice(150, 200));
  assert.deepEqual(frames.missing(250, 5), [0, 2]);
});

test("what is forgotten to make room is far away, and its sentences stay", () => {
  const frames = new Frames(400_000);
  frames.add(match(1500));
  assert.ok(!frames.roomy);
  frames.forget(1480);
  assert.ok(frames.has(1480) && !frames.has(1));
  assert.equal(frames.lines[1].text[0], "version 1");
});

test("steps by turn and by round begin where the next one does", () => {
  const frames = new Frames();
  frames.add(match(60));
  const { lines } = frames;
  assert.equal(leap(lines, 12, 1, 60, roundOf), 20);
  assert.equal(leap(lines, 25, -1, 60, roundOf), 20);
  assert.equal(leap(lines, 20, -1, 60, roundOf), 10);
  assert.equal(leap(lines, 4, 1, 60, turnOf), 6);
  assert.equal(leap(lines, 55, 1, 60, roundOf), 60);
  assert.equal(leap(lines, 3, -1, 60, roundOf), 1);
});

test("a jump looks at no more in a long match than in a short one", () => {
  const looks = (versions) => {
    const frames = new Frames();
    frames.add(match(versions));
    let count = 0;
    const counted = (target, key) => {
      count += 1;
      return target[key];
    };
    for (const page of frames.pages.values()) {
      for (const history of [page.titles, page.sheets, ...page.history.values()]) history.versions = new Proxy(history.versions, { get: counted });
    }
    for (let jump = 0; jump < 200; jump += 1) frames.at(1 + ((jump * 7919) % versions));
    return count;
  };
  const few = looks(500);
  assert.ok(few > 200);
  assert.ok(looks(5000) < 1.1 * few);
});

test("lines come whole, however the bytes are cut", async () => {
  const bytes = new TextEncoder().encode('{"a":"ä"}\n{"a":2}\n{"a":3}');
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const found = [];
  for await (const line of linesOf(body)) found.push(line.a);
  assert.deepEqual(found, ["ä", 2, 3]);
});

test("what was tried is drawn over the picture from which it began, and leaves that as it is", () => {
  const frames = new Frames();
  frames.add(match(30));
  const before = frames.at(30);
  const text = before.fragments.get("p-3");
  const after = applied(before, { fragments: { "p-3": [1, 1, " data-id=", 1, 1, ">new"], other: "o" }, gone: ["p-4"] });
  assert.equal(after.fragments.get("p-3"), '<g data-id="p-3>new</g>');
  assert.ok(after.fragments.has("other") && !after.fragments.has("p-4"));
  assert.equal(frames.at(30).fragments.get("p-3"), text);
  assert.deepEqual([...applied(before, { key: true, title: "n", sheets: [], fragments: { a: "a" } }).fragments], [["a", "a"]]);
});

test("sheets come and go in the order of reading", () => {
  const sheet = (id) => ({ id, box: [0, 0, 1, 1], fragments: [] });
  const frames = new Frames();
  frames.add([
    { version: 1, key: true, title: "t", order: ["board", "a"], sheets: [sheet("board"), sheet("a")], fragments: {} },
    { version: 2, order: ["board", "b", "a"], sheets: [sheet("b")] },
    { version: 3, sheets: [{ ...sheet("a"), box: [0, 0, 2, 2] }] },
    { version: 4, order: ["board", "b"] },
  ]);
  const ids = [1, 2, 3, 4].map((version) => frames.at(version).sheets.map(({ id }) => id).join());
  assert.deepEqual(ids, ["board,a", "board,b,a", "board,b,a", "board,b"]);
  assert.equal(frames.at(3).sheets[2].box[2], 2);
});

test("sheets come and go, and change in part", () => {
  const frames = new Frames();
  const more = { id: "panel-row", seat: null, box: [0, 0, 5, 5], fragments: ["b"] };
  frames.add([
    { version: 1, key: true, title: "t", sheets: SHEETS, fragments: { ground: "g", a: "1" }, now: {} },
    { version: 2, sheets: [more], order: ["panel-row", "board"], fragments: { b: "2" } },
    { version: 3, sheets: [{ id: "board", box: [0, 0, 20, 20] }] },
    { version: 4, order: ["board"], gone: ["b"] },
  ]);
  const wider = { ...SHEETS[0], box: [0, 0, 20, 20] };
  assert.deepEqual(frames.at(1).sheets, SHEETS);
  assert.deepEqual(frames.at(2).sheets, [more, SHEETS[0]]);
  assert.deepEqual(frames.at(3).sheets, [more, wider]);
  assert.deepEqual(frames.at(4).sheets, [wider]);
  assert.deepEqual(applied(frames.at(1), { sheets: [more], order: ["panel-row", "board"] }).sheets, [more, SHEETS[0]]);
});
