// A moving picture from pictures of one size, without the page: gifenc.js does the colours and the bytes.

const COLOURS = 255; // of a picture; one more is for what has not changed

export class Animation {
  /** `gif` is the module gifenc.js. */
  constructor(gif, width, height) {
    Object.assign(this, { gif, width, height });
    this.encoder = gif.GIFEncoder();
    this.waiting = null; // the picture that is shown until the next one differs
    this.before = null;
    this.pictures = 0;
  }

  /** Add a picture, 4 bytes a pixel, shown for some milliseconds. One that is as the picture before only lengthens it. */
  add(rgba, delay) {
    const pixels = new Uint32Array(rgba.buffer, rgba.byteOffset, this.width * this.height);
    const last = this.waiting?.pixels;
    if (last && pixels.every((pixel, place) => pixel === last[place])) {
      this.waiting.delay += delay;
      return;
    }
    this._write();
    this.waiting = { rgba, pixels, delay };
  }

  _write() {
    if (!this.waiting) return;
    const { rgba, pixels, delay } = this.waiting;
    const { gif, before, width, height } = this;
    const changed = before ? pixels.filter((pixel, place) => pixel !== before[place]) : pixels;
    const palette = gif.quantize(new Uint8Array(changed.buffer, changed.byteOffset, changed.byteLength), COLOURS);
    const index = gif.applyPalette(rgba, palette);
    if (before) pixels.forEach((pixel, place) => pixel === before[place] && (index[place] = palette.length));
    const colours = [...palette, [0, 0, 0]];
    this.encoder.writeFrame(index, width, height, {
      palette: colours,
      delay,
      transparent: before !== null,
      transparentIndex: palette.length,
      dispose: before ? 1 : -1,
    });
    this.before = pixels;
    this.pictures += 1;
  }

  /** Return the file. */
  bytes() {
    this._write();
    this.waiting = null;
    this.encoder.finish();
    return this.encoder.bytes();
  }
}

/** Return the versions of a stretch that are drawn: at most so many, the first and the last among them. */
export function stretch(from, to, most) {
  const [first, last] = from <= to ? [from, to] : [to, from];
  const count = Math.min(most, last - first + 1);
  if (count === 1) return [first];
  return Array.from({ length: count }, (_, place) => Math.round(first + (place * (last - first)) / (count - 1)));
}

/** Return the size of a picture whose width is at most `most`; both are even. */
export function sized(width, height, most) {
  const scale = Math.min(1, most / width);
  return [width, height].map((side) => Math.max(2, 2 * Math.round((side * scale) / 2)));
}
