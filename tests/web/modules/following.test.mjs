import assert from "node:assert/strict";
import { test } from "node:test";

import { eventsOf } from "../../../sdk/js/streams.js";
import { follow as followed, pause } from "../../../web/static/following.js";

const follow = (given) => followed({ eventsOf, ...given });

const body = (...texts) =>
  new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
const answer = (...texts) => ({ ok: true, status: 200, body: body(...texts) });

test("events are read however the text is cut, and comments are none", async () => {
  const found = [];
  for await (const event of eventsOf(body(": hi\n\nretry: 1000\n\nid: 4\neve", "nt: entry\nda", 'ta: {"a":1}\n\nid: 5\nevent: entry\ndata: half'))) found.push(event);
  assert.deepEqual(found, [{ id: "4", event: "entry", data: '{"a":1}' }]);
});

test("a stream is resumed after the last version that came, and ends when the match is over", async () => {
  const asked = [];
  const came = [];
  const states = [];
  const answers = [
    answer("id: 7\nevent: entry\ndata: {}\n\nid: 8\nevent: entry\ndata: {}\n\n"),
    new Error("cut"),
    { ok: false, status: 503 },
    answer("id: 9\nevent: entry\ndata: {}\n\nevent: over\ndata: {}\n\n"),
  ];
  await follow({
    open: async (last) => {
      asked.push(last);
      const next = answers.shift();
      if (next instanceof Error) throw next;
      return next;
    },
    last: 6,
    onEvent: (event) => came.push(event.id),
    onState: (state) => states.push(state),
    signal: new AbortController().signal,
    sleep: async () => {},
  });
  assert.deepEqual(asked, [6, "8", "8", "8"]);
  assert.deepEqual(came, ["7", "8", "9", "9"]);
  assert.deepEqual(states, ["live", "cut", "cut", "cut", "live", "over"]);
});

test("204 ends it, and so does a refusal", async () => {
  for (const [status, state] of [[204, "over"], [403, "refused"], [404, "refused"]]) {
    const states = [];
    await follow({ open: async () => ({ ok: status < 300, status }), last: 1, onEvent: () => {}, onState: (now) => states.push(now), signal: new AbortController().signal });
    assert.deepEqual(states, [state]);
  }
});

test("the pause grows, has an end, and is not the same for all", () => {
  assert.ok(pause(0, () => 1) < pause(3, () => 1));
  assert.ok(pause(50, () => 1) <= 15_000);
  assert.notEqual(pause(2, () => 0), pause(2, () => 0.9));
});
