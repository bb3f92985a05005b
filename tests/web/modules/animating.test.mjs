import assert from "node:assert/strict";
import { test } from "node:test";

import { Animation, sized, stretch } from "../../../web/static/animating.js";
import * as gif from "../../../web/static/gifenc.js";

const WIDTH = 20;
const HEIGHT = 10;

/** A picture of one colour, with a square of another. */
function picture(ground, square, at) {
  const rgba = new Uint8ClampedArray(4 * WIDTH * HEIGHT);
  for (let place = 0; place < WIDTH * HEIGHT; place += 1) {
    const inside = place % WIDTH >= at && place % WIDTH < at + 4 && Math.floor(place / WIDTH) < 4;
    rgba.set([...(inside ? square : ground), 255], 4 * place);
  }
  return rgba;
}

/** Undo the compression of GIF: codes of growing width, each a string that was seen before and one letter. */
function unpacked(least, bytes, length) {
  const clear = 1 << least;
  const out = [];
  let table,
    width,
    before,
    bit = 0;
  while (out.length < length) {
    let code = 0;
    for (let place = 0; place < (width ?? least + 1); place += 1, bit += 1) code |= ((bytes[bit >> 3] >> (bit & 7)) & 1) << place;
    if (code === clear) {
      table = [...Array.from({ length: clear }, (_, colour) => [colour]), null, null];
      [width, before] = [least + 1, null];
      continue;
    }
    assert.notEqual(code, clear + 1, "the picture ends too early");
    const letters = table[code] ?? [...before, before[0]];
    if (before) table.push([...before, letters[0]]);
    if (table.length === 1 << width && width < 12) width += 1;
    out.push(...letters);
    before = letters;
  }
  return out;
}

/** Read a GIF: what is on the screen after each picture, and how long it is shown. */
function read(bytes) {
  const number = (at) => bytes[at] | (bytes[at + 1] << 8);
  assert.equal(String.fromCharCode(...bytes.subarray(0, 6)), "GIF89a");
  const [width, height] = [number(6), number(8)];
  let screen = new Array(width * height).fill(null),
    colours = null,
    control = null;
  const pictures = [];
  const table = (at, flags) =>
    Array.from({ length: 2 << (flags & 7) }, (_, place) => [...bytes.subarray(at + 3 * place, at + 3 * place + 3)]);
  let at = 13;
  if (bytes[10] & 0x80) ((colours = table(at, bytes[10])), (at += 3 * colours.length));
  const blocks = () => {
    const parts = [];
    for (; bytes[at]; at += bytes[at] + 1) parts.push(...bytes.subarray(at + 1, at + 1 + bytes[at]));
    at += 1;
    return parts;
  };
  while (bytes[at] !== 0x3b) {
    if (bytes[at] === 0x21) {
      const label = bytes[at + 1];
      at += 2;
      const data = blocks();
      if (label === 0xf9) control = { delay: 10 * (data[1] | (data[2] << 8)), clear: data[0] & 1 ? data[3] : null };
    } else {
      assert.equal(bytes[at], 0x2c);
      const flags = bytes[at + 9];
      at += 10;
      let own = colours;
      if (flags & 0x80) ((own = table(at, flags)), (at += 3 * own.length));
      const least = bytes[at++];
      const index = unpacked(least, blocks(), width * height);
      screen = index.map((colour, place) => (colour === control.clear ? screen[place] : own[colour]));
      pictures.push({ screen, delay: control.delay });
    }
  }
  return { width, height, pictures };
}

test("a moving picture shows what was put in, and a picture that repeats only lasts longer", () => {
  const animation = new Animation(gif, WIDTH, HEIGHT);
  const shown = [picture([255, 0, 0], [0, 0, 255], 0), picture([255, 0, 0], [0, 0, 255], 6), picture([255, 255, 255], [0, 255, 0], 6)];
  animation.add(shown[0], 100);
  animation.add(shown[1], 100);
  animation.add(Uint8ClampedArray.from(shown[1]), 100);
  animation.add(shown[2], 300);
  const { width, height, pictures } = read(animation.bytes());
  assert.deepEqual([width, height, animation.pictures], [WIDTH, HEIGHT, 3]);
  assert.deepEqual(
    pictures.map(({ delay }) => delay),
    [100, 200, 300],
  );
  shown.forEach((rgba, at) => {
    const wanted = Array.from({ length: WIDTH * HEIGHT }, (_, place) => [...rgba.subarray(4 * place, 4 * place + 3)]);
    assert.deepEqual(pictures[at].screen, wanted);
  });
});

test("more colours than a GIF has become the nearest ones", () => {
  const animation = new Animation(gif, 64, 64);
  const rgba = new Uint8ClampedArray(4 * 64 * 64);
  for (let place = 0; place < 64 * 64; place += 1) rgba.set([4 * (place % 64), 4 * Math.floor(place / 64), 128, 255], 4 * place);
  animation.add(rgba, 100);
  const [{ screen }] = read(animation.bytes()).pictures;
  const far = screen.map((colour, place) => Math.max(...colour.map((part, at) => Math.abs(part - rgba[4 * place + at]))));
  assert.ok(Math.max(...far) < 40, String(Math.max(...far)));
});

test("a long stretch is thinned out, with its first and last version", () => {
  assert.deepEqual(stretch(3, 7, 100), [3, 4, 5, 6, 7]);
  assert.deepEqual(stretch(7, 3, 100), [3, 4, 5, 6, 7]);
  assert.deepEqual(stretch(5, 5, 100), [5]);
  const thin = stretch(1, 5000, 100);
  assert.deepEqual([thin.length, thin[0], thin.at(-1), new Set(thin).size], [100, 1, 5000, 100]);
});

test("a picture keeps its form", () => {
  assert.deepEqual(sized(1440, 840, 720), [720, 420]);
  assert.deepEqual(sized(300, 201, 720), [300, 202]);
});
