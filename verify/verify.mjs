// Check a match without trusting the server that it was played on.
//
//   node verify/verify.mjs FILE...          in a terminal
//   import { verify } from "./verify.mjs"   in Node or in a browser
//
// This is written from docs/auditing.md alone. It shares no code with the service, needs no package and no network, and
// knows no rule of any game: it checks everything that needs none. ./run verify decides every action again as well.
//
// SHA-256 is computed here, because a page that did not come over https has no crypto.subtle, and because the hashes of
// a match are many and small. Signatures are checked by WebCrypto; where there is none, the answer says so.

// ---------------------------------------------------------------------------------------------------------------------
// Bytes

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The bytes of a text in UTF-8. */
const utf8 = (text) => encoder.encode(text);

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Bytes as lower-case hex. */
export function hex(bytes) {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** The bytes that lower-case hex names, or null if it is none. */
export function unhex(text) {
  if (typeof text !== "string" || text.length % 2 || !/^[0-9a-f]*$/.test(text)) return null;
  return Uint8Array.from({ length: text.length / 2 }, (_, place) => parseInt(text.slice(2 * place, 2 * place + 2), 16));
}

const isHash = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

/** The bytes that standard base64 names, or null if it is none. Only the one encoding of some bytes is accepted. */
export function unbase64(text) {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4) return null;
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = letters.charCodeAt(place);
  return text.endsWith(base64(bytes.subarray(-(bytes.length % 3 || 3)))) ? bytes : null;
}

/** Bytes in standard base64. */
export const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

function same(one, other) {
  let place = 0;
  while (place < one.length && one[place] === other[place]) place++;
  return place === one.length && place === other.length;
}

// ---------------------------------------------------------------------------------------------------------------------
// SHA-256 and HMAC (FIPS 180-4, RFC 2104)

const PRIMES = [];
for (let number = 2; PRIMES.length < 64; number++) if (PRIMES.every((prime) => number % prime)) PRIMES.push(number);
const fraction = (number) => ((number - Math.floor(number)) * 2 ** 32) | 0;
const ROUNDS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const words = new Int32Array(64);

/** Take 64 bytes from a place on into the state. */
function compress(state, bytes, at) {
  for (let i = 0; i < 16; i++, at += 4) {
    words[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  }
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15];
    const y = words[i - 2];
    const low = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const high = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = (words[i - 16] + low + words[i - 7] + high) | 0;
  }
  let a = state[0],
    b = state[1],
    c = state[2],
    d = state[3],
    e = state[4],
    f = state[5],
    g = state[6],
    h = state[7];
  for (let i = 0; i < 64; i++) {
    const high = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + high + (g ^ (e & (f ^ g))) + ROUNDS[i] + words[i]) | 0;
    const low = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (low + ((a & b) | (c & (a | b)))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

/** A SHA-256 that takes its bytes in pieces. `begin` starts another hash, after 64 bytes if their state is given. */
export class Sha256 {
  constructor() {
    this.state = new Int32Array(8);
    this.block = new Uint8Array(64);
    this.begin();
  }

  begin(state = START, length = 0) {
    this.state.set(state);
    this.length = length;
    return this;
  }

  update(bytes, from = 0, to = bytes.length) {
    let filled = this.length % 64;
    this.length += to - from;
    if (filled) {
      while (filled < 64 && from < to) this.block[filled++] = bytes[from++];
      if (filled < 64) return this;
      compress(this.state, this.block, 0);
    }
    for (; from + 64 <= to; from += 64) compress(this.state, bytes, from);
    for (let place = 0; from < to;) this.block[place++] = bytes[from++];
    return this;
  }

  /** Write the hash to `out`, 32 bytes from a place on. */
  finish(out = new Uint8Array(32), at = 0) {
    const { state, block, length } = this;
    let filled = length % 64;
    block[filled++] = 0x80;
    if (filled > 56) {
      block.fill(0, filled);
      compress(state, block, 0);
      filled = 0;
    }
    block.fill(0, filled, 56);
    const high = Math.floor(length / 2 ** 29);
    const low = length << 3;
    for (let i = 0; i < 4; i++) {
      block[56 + i] = high >>> (24 - 8 * i);
      block[60 + i] = low >>> (24 - 8 * i);
    }
    compress(state, block, 0);
    for (let i = 0; i < 32; i++) out[at + i] = state[i >> 2] >>> (24 - 8 * (i & 3));
    return out;
  }
}

const hasher = new Sha256();

/** The SHA-256 of all pieces, one after another: 32 bytes. */
export function sha256(...pieces) {
  hasher.begin();
  for (const piece of pieces) hasher.update(piece);
  return hasher.finish();
}

/** The module of Node that computes hashes and signatures; undefined in a browser. */
const builtIn = globalThis.process?.getBuiltinModule?.("node:crypto");

/** A SHA-256 of many bytes in pieces: by Node itself where it can, which takes a seventh of the time, else by ours. */
function longHash() {
  const native = builtIn?.createHash("sha256");
  if (!native) return new Sha256();
  return { update: (bytes) => native.update(bytes), finish: () => new Uint8Array(native.digest()) };
}

/** HMAC-SHA-256 under one key. The two blocks that depend on the key alone are hashed once. */
export class Hmac {
  constructor(key) {
    const block = new Uint8Array(64);
    block.set(key.length > 64 ? sha256(key) : key);
    this.inner = this.after(block, 0x36);
    this.outer = this.after(block, 0x5c);
  }

  after(block, pad) {
    const state = START.slice();
    compress(
      state,
      block.map((byte) => byte ^ pad),
      0,
    );
    return state;
  }

  of(bytes, to = bytes.length, out = new Uint8Array(32)) {
    hasher.begin(this.inner, 64).update(bytes, 0, to).finish(out);
    return hasher.begin(this.outer, 64).update(out, 0, 32).finish(out);
  }

  /** The HMAC of a text of ASCII. */
  text(text, out = new Uint8Array(32)) {
    for (let place = 0; place < text.length; place++) letters[place] = text.charCodeAt(place);
    return this.of(letters, text.length, out);
  }
}

const letters = new Uint8Array(256);

/** The key of the salts that follows from a secret of 32 bytes. */
export const blindKey = (secret) => new Hmac(secret).text("blind");

// ---------------------------------------------------------------------------------------------------------------------
// Canonical JSON (RFC 8785)

const DEPTH = 200;

/** A value as canonical JSON. Raises RangeError if it is nested too deep, TypeError if JSON cannot say it. */
export function canonical(value, depth = 0) {
  if (depth > DEPTH) throw new RangeError("nested too deep");
  if (typeof value === "string" && !value.isWellFormed?.() && /\p{Surrogate}/u.test(value)) throw new TypeError("not Unicode");
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError("not a number");
  if (value === undefined) throw new TypeError("not a value of JSON");
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(",")}]`;
  const members = Object.keys(value)
    .sort()
    .map((name) => `${canonical(name)}:${canonical(value[name], depth + 1)}`);
  return `{${members.join(",")}}`;
}

// The functions below go through bytes without making values of them. Each returns the place after what it has read, or -1
// if the bytes are not canonical JSON there. They read nothing beyond the array: there, a byte is undefined.

function skipValue(bytes, at, depth) {
  const first = bytes[at];
  if (first === 0x22) return skipString(bytes, at);
  if (first === 0x7b) return skipObject(bytes, at, depth);
  if (first === 0x5b) return skipArray(bytes, at, depth, null);
  if (first === 0x2d || (first >= 0x30 && first <= 0x39)) return skipNumber(bytes, at);
  return skipWord(bytes, at, first === 0x74 ? TRUE : first === 0x66 ? FALSE : NULL);
}

const TRUE = utf8("true");
const FALSE = utf8("false");
const NULL = utf8("null");

function skipWord(bytes, at, word) {
  for (let place = 0; place < word.length; place++) if (bytes[at + place] !== word[place]) return -1;
  return at + word.length;
}

function skipNumber(bytes, at) {
  const from = at;
  if (bytes[at] === 0x2d) at++;
  if (bytes[at] === 0x30 ? bytes[at + 1] >= 0x30 && bytes[at + 1] <= 0x39 : !(bytes[at] >= 0x31 && bytes[at] <= 0x39)) return -1;
  let whole = bytes[from] !== 0x2d || bytes[at] !== 0x30;
  for (; ; at++) {
    const byte = bytes[at];
    if (byte >= 0x30 && byte <= 0x39) continue;
    if (byte !== 0x2e && byte !== 0x65 && byte !== 0x2b && byte !== 0x2d) break;
    whole = false;
  }
  if (whole && at - from <= 15) return at;
  const text = String.fromCharCode(...bytes.subarray(from, Math.min(at, from + 40)));
  return at - from <= 40 && String(Number(text)) === text ? at : -1;
}

// The letters that follow a backslash in canonical JSON, but for \u00xx.
const ESCAPED = new Set(utf8('"\\bfnrt'));
const CONTROLS = new Set([8, 9, 10, 12, 13]);

function skipString(bytes, at) {
  for (at++; ;) {
    const byte = bytes[at];
    if (byte === 0x22) return at + 1;
    if (byte === 0x5c) {
      if (ESCAPED.has(bytes[at + 1])) at += 2;
      else if (isControl(bytes, at + 1)) at += 6;
      else return -1;
    } else if (byte < 0x80) {
      if (byte < 0x20) return -1;
      at++;
    } else {
      const length = lengthOfLetter(bytes, at);
      if (!length) return -1;
      at += length;
    }
  }
}

/** Whether `u00xx` stands there for a control character that has no shorter name. */
function isControl(bytes, at) {
  if (bytes[at] !== 0x75 || bytes[at + 1] !== 0x30 || bytes[at + 2] !== 0x30) return false;
  const high = bytes[at + 3] - 0x30;
  const low = "0123456789abcdef".indexOf(String.fromCharCode(bytes[at + 4]));
  return (high === 0 || high === 1) && low >= 0 && !CONTROLS.has(16 * high + low);
}

/** How many bytes the letter beyond ASCII has that stands there, or 0 if that is not UTF-8. */
function lengthOfLetter(bytes, at) {
  const first = bytes[at];
  const second = bytes[at + 1];
  const follows = (place) => bytes[at + place] >= 0x80 && bytes[at + place] <= 0xbf;
  if (!follows(1)) return 0;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (!follows(2)) return 0;
  if (first === 0xe0 ? second >= 0xa0 : first === 0xed ? second <= 0x9f : first >= 0xe1 && first <= 0xef) return 3;
  if (!follows(3)) return 0;
  if (first === 0xf0 ? second >= 0x90 : first === 0xf4 ? second <= 0x8f : first >= 0xf1 && first <= 0xf3) return 4;
  return 0;
}

/** Skip a list. `items`, if given, is told where each item begins and ends. */
function skipArray(bytes, at, depth, items) {
  if (depth > DEPTH) return -1;
  if (bytes[++at] === 0x5d) return at + 1;
  for (; ; at++) {
    const end = skipValue(bytes, at, depth + 1);
    if (end < 0) return -1;
    if (items) items.push(at, end);
    at = end;
    if (bytes[at] === 0x5d) return at + 1;
    if (bytes[at] !== 0x2c) return -1;
  }
}

function skipObject(bytes, at, depth) {
  if (depth > DEPTH) return -1;
  if (bytes[++at] === 0x7d) return at + 1;
  for (let before = 0, beforeEnd = 0; ; at++) {
    if (bytes[at] !== 0x22) return -1;
    const end = skipString(bytes, at);
    if (end < 0 || bytes[end] !== 0x3a || (before && !follows(bytes, before, beforeEnd, at, end))) return -1;
    before = at;
    beforeEnd = end;
    at = skipValue(bytes, end + 1, depth + 1);
    if (at < 0) return -1;
    if (bytes[at] === 0x7d) return at + 1;
    if (bytes[at] !== 0x2c) return -1;
  }
}

/** Whether the name that stands second comes after the first, by UTF-16 code units. Both include their quotes. */
function follows(bytes, one, oneEnd, other, otherEnd) {
  const length = Math.min(oneEnd - one, otherEnd - other) - 1;
  for (let place = 1; place < length; place++) {
    const a = bytes[one + place];
    const b = bytes[other + place];
    if (a === 0x5c || b === 0x5c || a >= 0x80 || b >= 0x80) {
      return parsed(bytes, one, oneEnd) < parsed(bytes, other, otherEnd);
    }
    if (a !== b) return a < b;
  }
  return oneEnd - one < otherEnd - other;
}

const parsed = (bytes, from, to) => JSON.parse(strict.decode(bytes.subarray(from, to)));

/** Where the members of an object stand in its bytes: `at` gives begin and end of a member, `items` those of the items of a list. */
class Outline {
  constructor(...names) {
    this.names = names.map(utf8);
    this.places = new Map(names.map((name, place) => [name, place]));
    this.from = new Int32Array(names.length);
    this.to = new Int32Array(names.length);
    this.lists = names.map(() => []);
  }

  /** Go through the object in these bytes. Return the place after it, or -1 if it is not canonical JSON or has another member. */
  read(bytes, at) {
    this.from.fill(0);
    this.to.fill(0);
    for (const list of this.lists) list.length = 0;
    if (bytes[at] !== 0x7b) return -1;
    if (bytes[++at] === 0x7d) return at + 1;
    for (let before = -1; ; at++) {
      const place = this.named(bytes, at, before + 1);
      if (place < 0) return -1;
      before = place;
      this.from[place] = at += this.names[place].length + 3;
      at = bytes[at] === 0x5b ? skipArray(bytes, at, 1, this.lists[place]) : skipValue(bytes, at, 1);
      if (at < 0) return -1;
      this.to[place] = at;
      if (bytes[at] === 0x7d) return at + 1;
      if (bytes[at] !== 0x2c) return -1;
    }
  }

  /** An object of JSON without the members that have no place here. */
  only(value) {
    if (Object.keys(value).every((name) => this.places.has(name))) return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => this.places.has(name)));
  }

  /** The place, from `first` on, of the name that stands there; names are in their order. */
  named(bytes, at, first) {
    for (let place = first; place < this.names.length; place++) {
      const name = this.names[place];
      const length = name.length;
      if (bytes[at] !== 0x22 || bytes[at + length + 1] !== 0x22 || bytes[at + length + 2] !== 0x3a) continue;
      let letter = 0;
      while (letter < length && bytes[at + 1 + letter] === name[letter]) letter++;
      if (letter === length) return place;
    }
    return -1;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Signed notes (c2sp.org/signed-note) and keys

const ED25519 = 1;
const COSIGNATURE = 4;

/** A key of the form `<name>+<id>+<base64>`, or null if it is none. */
export function readKey(text) {
  const parts = /^([^+\s\p{Cc}]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u.exec(text);
  const bytes = parts && unbase64(parts[3]);
  if (!bytes || bytes.length !== 33 || ![ED25519, COSIGNATURE].includes(bytes[0])) return null;
  const [, name, id] = parts;
  if (hex(sha256(utf8(`${name}\n`), bytes)).slice(0, 8) !== id) return null;
  return { text, name, id, kind: bytes[0], bytes: bytes.slice(1) };
}

/** The text of a note and its signatures `{name, id, bytes}`, or null if it is no note. */
export function readNote(note) {
  if (typeof note !== "string" || note.length > 1_000_000 || /[\x00-\x09\x0b-\x1f]/.test(note) || !note.endsWith("\n")) return null;
  const middle = note.lastIndexOf("\n\n");
  if (middle < 0) return null;
  const lines = note.slice(middle + 2, -1).split("\n");
  const signatures = lines.map((line) => {
    const parts = /^— ([^+\s]+) (\S+)$/u.exec(line);
    const bytes = parts && unbase64(parts[2]);
    return bytes && bytes.length > 4 ? { name: parts[1], id: hex(bytes.subarray(0, 4)), bytes: bytes.slice(4) } : null;
  });
  return lines.length <= 100 && signatures.every(Boolean) ? { text: note.slice(0, middle + 1), signatures } : null;
}

const algorithm = { name: "Ed25519" };
let checkable = null;

/** Whether Ed25519 can be checked here: by WebCrypto, which pages have over https and on localhost. */
export function canCheckSignatures() {
  checkable ??= imported(new Uint8Array(32).fill(9, 0, 1)).then(
    () => true,
    () => false,
  );
  return checkable;
}

const SPKI = unhex("302a300506032b6570032100"); // what stands before the bytes of an Ed25519 key in its DER form

const imported = async (key) => globalThis.crypto.subtle.importKey("raw", key, algorithm, false, ["verify"]);

/** Whether an Ed25519 signature of some bytes is good. */
async function signed(key, signature, bytes) {
  if (signature.length !== 64) return false;
  try {
    if (builtIn && globalThis.crypto?.subtle) {
      // WebCrypto asks another thread, which takes longer than to do it here.
      key.built ??= builtIn.createPublicKey({ key: Buffer.concat([SPKI, key.bytes]), format: "der", type: "spki" });
      return builtIn.verify(null, bytes, key.built, signature);
    }
    key.imported ??= imported(key.bytes);
    return await globalThis.crypto.subtle.verify(algorithm, await key.imported, signature, bytes);
  } catch {
    return false;
  }
}

const UNSIGNED = "Signatures: there is no WebCrypto with Ed25519 here. Pages have it over https and on localhost.";

/**
 * The same by other threads, which begin at once; null if it cannot be checked here. It is worth it for many signatures, when no other
 * work waits for the answer.
 */
async function signedElsewhere(key, signature, bytes) {
  if (!builtIn) return (await canCheckSignatures()) ? signed(key, signature, bytes) : null;
  try {
    key.built ??= builtIn.createPublicKey({ key: Buffer.concat([SPKI, key.bytes]), format: "der", type: "spki" });
    return await new Promise((done) => builtIn.verify(null, bytes, key.built, signature, (error, good) => done(!error && good)));
  } catch {
    return false;
  }
}

/** Who of `keys` has signed a note that was read: the keys whose signature is `good`, and those whose signature is `bad`. */
export async function signers(note, keys) {
  const good = [];
  const bad = [];
  for (const signature of note.signatures) {
    const key = keys.find((one) => one.name === signature.name && one.id === signature.id);
    if (key) ((await holds(note.text, signature.bytes, key)) ? good : bad).push(key);
  }
  return { good, bad };
}

async function holds(text, bytes, key) {
  if (key.kind === ED25519) return signed(key, bytes, utf8(text));
  if (bytes.length !== 72) return false;
  const at = bytes.subarray(0, 8).reduce((number, byte) => 256n * number + BigInt(byte), 0n);
  return signed(key, bytes.slice(8), utf8(`cosignature/v1\ntime ${at}\n${text}`));
}

// ---------------------------------------------------------------------------------------------------------------------
// The log: checkpoints, leaves and proofs (RFC 6962, c2sp.org/tlog-checkpoint, c2sp.org/tlog-proof)

const isNumber = (text) => /^(0|[1-9][0-9]{0,15})$/.test(text ?? "") && Number.isSafeInteger(Number(text));

/** The checkpoint in the text of a note: `{origin, size, root}`, or null if it is none. */
export function readCheckpoint(text) {
  const [origin, size, root] = text.split("\n");
  const bytes = unbase64(root ?? "");
  return origin && isNumber(size) && bytes?.length === 32 ? { origin, size: Number(size), root: hex(bytes) } : null;
}

/** A proof in the form of c2sp.org/tlog-proof: `{index, hashes, checkpoint}` with the note of the checkpoint, or null. */
export function readProof(text) {
  if (typeof text !== "string") return null;
  const middle = text.indexOf("\n\n");
  const lines = text.slice(0, middle).split("\n");
  if (middle < 0 || lines.shift() !== "c2sp.org/tlog-proof@v1") return null;
  if (lines[0]?.startsWith("extra ")) lines.shift();
  const index = /^index (.+)$/.exec(lines.shift() ?? "")?.[1];
  const hashes = lines.map(unbase64);
  if (!isNumber(index) || hashes.length > 64 || hashes.some((hash) => hash?.length !== 32)) return null;
  return { index: Number(index), hashes, checkpoint: text.slice(middle + 2) };
}

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** The hash of a leaf of the log, from its bytes. */
export const leafHash = (bytes) => sha256(LEAF, bytes);

const node = (left, right) => sha256(NODE, left, right);

/**
 * Walk from a place of a tree up to its root along a path of hashes, and return whether the path ends there. `last` is the last place of the
 * tree. `left` is called for a hash that comes first in its node, `right` for one that comes second.
 */
function climb(place, last, path, left, right) {
  for (const hash of path) {
    if (last === 0) return false;
    if (place % 2 || place === last) {
      left(hash);
      while (place % 2 === 0 && place !== 0) {
        place = Math.floor(place / 2);
        last = Math.floor(last / 2);
      }
    } else {
      right(hash);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  return last === 0;
}

/** The root in hex that a proof gives for a leaf at a place of a tree of this size, or null if it is no such proof (RFC 9162, 2.1.3.2). */
export function provenRoot(hash, index, size, hashes) {
  if (index >= size) return null;
  const left = (other) => (hash = node(other, hash));
  const right = (other) => (hash = node(hash, other));
  return climb(index, size - 1, hashes, left, right) ? hex(hash) : null;
}

// ---------------------------------------------------------------------------------------------------------------------
// The dice

const WHOLE = 1n << 256n;

/** The key of the dice, from the secret, the contributions by seat in hex, and the id of the match. */
export const diceKey = (secret, contributions, match) => new Hmac(secret).of(utf8(canonical({ contributions, match })));

/** The draws of one version. */
export class Dice {
  constructor(key, version) {
    this.hmac = new Hmac(key);
    this.version = version;
    this.blocks = 0;
  }

  /** A whole number from 0 to below - 1, as a BigInt. */
  number(below) {
    const most = WHOLE - (WHOLE % BigInt(below));
    for (;;) {
      const block = BigInt(`0x${hex(this.hmac.text(`${this.version}:${this.blocks++}`))}`);
      if (block < most) return block % BigInt(below);
    }
  }

  roll(sides) {
    return Number(this.number(sides)) + 1;
  }

  sample(items, size) {
    const left = [...items];
    return Array.from({ length: size }, () => left.splice(Number(this.number(left.length)), 1)[0]);
  }

  shuffle(items) {
    const order = [...items];
    for (let i = order.length - 1; i > 0; i--) {
      const j = Number(this.number(i + 1));
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// What a file is made of

const isWhole = (value) => Number.isSafeInteger(value) && value >= 0;
const isVersion = (value) => Number.isSafeInteger(value) && value >= 1;
const isText = (value) => typeof value === "string";
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isTyped = (value) => isObject(value) && isText(value.type);
const isRules = (value) => isText(value) && /^[0-9a-f]{32}$/.test(value);
const isMatch = (value) => isText(value) && /^m[a-z2-7]{16}$/.test(value);
// Base64 of so many bytes, canonical: the bits that are left over are zero.
const isBase64 = (count) => {
  const most = Math.ceil((4 * count) / 3) - 1;
  const form = new RegExp(`^[A-Za-z0-9+/]{${most}}${count % 3 === 2 ? "[AEIMQUYcgkosw048]=" : "[AQgw]=="}$`);
  return (value) => isText(value) && form.test(value);
};
const orNull = (check) => (value) => value === null || check(value);
const listOf = (check) => (value) => Array.isArray(value) && value.every(check);
const one =
  (...values) =>
  (value) =>
    values.includes(value);
const maybe = (check) => Object.assign((value) => check(value), { maybe: true });

/** An object with exactly these members, of the right types. Members that are `maybe` may be left out. */
function shape(members) {
  const names = Object.keys(members);
  const needed = names.filter((name) => !members[name].maybe).length;
  return (value) => {
    if (!isObject(value)) return false;
    let found = 0;
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(members, name) || !members[name](value[name])) return false;
      if (!members[name].maybe) found++;
    }
    return found === needed;
  };
}

// What asked for an entry: the request of a caller, or the decision of an artificial player.
const isAsked = shape({ id: isText, fingerprint: isText });
const isSaw = (text) => typeof text === "string" && /^[0-9a-f]{16}$/.test(text);
const isDecision = shape({ budget: isWhole, level: isText, players: isWhole, saw: isSaw, spent: isWhole, weights: isHash });
const isRequest = (value) => isAsked(value) || isDecision(value);

// The signature of the actor.
const isSigned = shape({ count: isVersion, key: isBase64(32), place: isVersion, seen: isVersion, signature: isBase64(64) });

/** Whether an object that has no other members is an entry. It is written out, because there are as many as versions. */
function isEntry(value) {
  const { format, match, version, actor, action, events, revision, rules, at, digest, request, secret, signed } = value;
  const who = format === 3 && isText(match) && isVersion(version) && isText(actor) && isWhole(revision) && isRules(rules) && isWhole(at);
  if (!who || !isHash(digest) || !isTyped(action) || !Array.isArray(events)) return false;
  if (!events.every(isTyped) || !(request === undefined || isRequest(request))) return false;
  return (secret === undefined || isHash(secret)) && (signed === undefined || isSigned(signed));
}

const isProof = (value) => shape({ leaf: isHash })(value) || shape({ salt: isHash })(value);
const isShown = shape({
  version: isVersion,
  actor: isText,
  action: isTyped,
  events: listOf(isTyped),
  revision: isWhole,
  at: isWhole,
  digest: isHash,
  secret: maybe(isHash),
  signed: maybe(isSigned),
  proof: shape({ format: one(3), rules: isRules, action: isProof, request: isProof, signed: isProof, events: listOf(isProof) }),
});
const fits = ({ proof, events, signed }) => proof.events.length === events.length && (!signed || proof.signed.salt !== undefined);
const LEAF_MEMBERS = { at: isWhole, digest: isHash, match: isText, version: isVersion };
const isBegin = shape({ ...LEAF_MEMBERS, kind: one("begin"), commitment: isHash });
const isLater = shape({ ...LEAF_MEMBERS, kind: one("hour", "end") });
const isOpen = (value) => isBegin(value) || isLater(value);
const isInside = shape({ ...LEAF_MEMBERS, kind: one("hour"), hour: isWhole });
const isSealed = shape({ kind: one("sealed"), seal: isHash });
const isSeen = shape({ version: isWhole, at: isWhole, reader: isText, what: isText });
const isStep = shape({ version: isVersion, type: isText });
const KEY_MEMBERS = { at: isWhole, key: isText, player: isText };
const isRegistered = shape({ ...KEY_MEMBERS, kind: one("signing_key"), signature: isBase64(64) });
const isRevoked = shape({ ...KEY_MEMBERS, kind: one("signing_key_revoked") });
const isLeafOfKey = shape({ index: isWhole, leaf: isObject, proof: isText });

// The lines of a dossier but for entries, by their member `line`. Each has the member `line` besides.
const LINES = {
  dossier: {
    dossier: one(1),
    match: isMatch,
    game: isText,
    viewer: isText,
    versions: isVersion,
    at: isWhole,
    name: isText,
    vkeys: listOf(isText),
    blind: orNull(isHash),
    secret: orNull(isHash),
  },
  rules: { game: isText, revision: isVersion, rules: isRules },
  seat: { seat: isText, player: orNull(isText), ai: orNull(isText), taken: isVersion, at: isWhole, contribution: orNull(isText) },
  dispute: { number: isVersion, seat: isText, version: isVersion, steps: listOf(isStep), verdict: one("rejected", "upheld", null) },
  refused: { seat: isText, player: isText, version: isWhole, at: isWhole, action: isObject, code: isText, rule: orNull(isText) },
  refusals_dropped: { seat: isText, count: isWhole, hash: isHash },
  read: { note: isText, count: isWhole },
  reads: { count: isWhole, hash: isHash, newest: listOf(isSeen) },
  receipt: { note: isText },
  leaf: { index: isWhole, leaf: (value) => isOpen(value) || isSealed(value), opened: maybe(orNull(isInside)), proof: isText },
  signing_key: { key: isBase64(32), leaves: listOf(isLeafOfKey), player: isText },
  end: { lines: isWhole, note: isText },
};
const { action: _, ...LARGE } = { ...LINES.refused, sha256: isHash };
const isLarge = shape({ line: one("refused"), ...LARGE }); // a refused action of which only the hash is kept
const isLine = Object.fromEntries(Object.entries(LINES).map(([line, members]) => [line, shape({ line: one(line), ...members })]));
const isKind = (kind, value) => isLine[kind](value) || (kind === "refused" && isLarge(value));

const ENTRY = new Outline(
  "action",
  "actor",
  "at",
  "digest",
  "events",
  "format",
  "match",
  "request",
  "revision",
  "rules",
  "secret",
  "signed",
  "version",
);
const SHOWN = new Outline("action", "actor", "at", "digest", "events", "proof", "revision", "secret", "signed", "version");
const LINE_OF = { entry: [utf8('{"entry":'), utf8(',"line":"entry"}')], shown: [utf8('{"entry":'), utf8(',"line":"shown"}')] };

// What the table decides (table/CONTRACT.md): no action of a game has one of these types.
const TABLE = new Set(
  [
    "create_match fork_match continue_match take_seat leave_seat decline_seat close_match take_over",
    "resign return hand_over offer accept decline vote claim rematch",
    "dispute withdraw_dispute state_side accept_ruling appeal take_dispute rule_dispute attach_report escalate_dispute lapse_dispute",
    "close_appeal end_freeze",
    "time_out end_pause end_vote abandon return_time begin_continuation open_record open_origin",
  ].flatMap((types) => types.split(" ")),
);

// What events tell of the numbers that were drawn for them, by game and type of event (docs/auditing.md, "Rolls of dice in the events").
// draws: written by `./run documents`
const DRAWS = {
  war: {
    attack_rolled: {"dice": ["/attack/die", "/defence/die"], "sides": 6},
  },
  war_of_the_worlds: {},
  war_of_civilizations: {
    dice_rolled: {"dice": ["/dice/0", "/dice/1"], "sides": 6},
    disaster_drawn: {"numbers": 1},
    deck_reshuffled: {"shuffled": "/deck"},
  },
};
// end of draws
const NOTHING = new Map();
const TOLD = new Map(Object.entries(DRAWS).map(([game, events]) => [game, new Map(Object.entries(events))]));
const pointed = (event, pointer) => pointer.split("/").slice(1).reduce((value, name) => value?.[name], event);
const cardsOf = (deck) => (Array.isArray(deck) ? deck.length : isWhole(deck) ? deck : 0);

/** The text of a statement that the server signs, as an object; null if it is no such statement. */
export function readStatement(text) {
  const [first, ...lines] = text.split("\n").slice(0, -1);
  const members = STATEMENTS.get(first)?.find(({ length }) => length === lines.length);
  if (!members || !lines.every((line, place) => members[place][0] === "held" || /^[!-~]{1,100}$/.test(line))) return null;
  const values = members.map(([name, check], place) => [name, check(lines[place])]);
  return values.every(([, value]) => value !== null) ? { kind: first.split("/")[1], ...Object.fromEntries(values) } : null;
}

const asNumber = (text) => (isNumber(text) ? Number(text) : null);
const asHash = (text) => (isHash(text) ? text : null);
const asText = (text) => text;
const asWhat = (text) => (/^(dossier|record|audit|view:.+)$/.test(text) ? text : null);
const RECEIPT = [
  ["match", asText],
  ["version", asNumber],
  ["digest", asHash],
  ["at", asNumber],
];
const HELD = [...RECEIPT, ["held", (text) => (/^held [1-9][0-9]{0,2}$/.test(text) ? Number(text.slice(5)) : null)]];
const OF_SEAT = [
  ["seat", asText],
  ["refused", asNumber],
  ["refusedHash", asHash],
  ["reads", asNumber],
  ["readsHash", asHash],
];
const READ = [
  ["match", asText],
  ["version", asNumber],
  ["reader", asText],
  ["what", asWhat],
  ["at", asNumber],
];
const SEALED = [
  ["match", asText],
  ["version", asNumber],
  ["viewer", asText],
  ["hash", asHash],
];
const STATEMENTS = new Map([
  ["warledger.org/receipt/v1", [RECEIPT, HELD, [...RECEIPT, ...OF_SEAT], [...HELD, ...OF_SEAT]]],
  ["warledger.org/read/v1", [READ]],
  ["warledger.org/dossier/v1", [SEALED]],
]);

// ---------------------------------------------------------------------------------------------------------------------
// The chain of digests

const FRAME = [
  '{"actor":',
  ',"at":',
  ',"format":',
  ',"leaves":[',
  '],"match":',
  ',"revision":',
  ',"rules":',
  ',"secret":',
  ',"version":',
  "}",
].map(utf8);

/** The frame of an entry, as bytes. */
class Frame {
  constructor() {
    this.bytes = new Uint8Array(1 << 12);
    this.length = 0;
  }

  add(bytes, from = 0, to = bytes.length) {
    if (this.length + to - from > this.bytes.length) {
      const more = new Uint8Array(2 * (this.length + to - from));
      more.set(this.bytes.subarray(0, this.length));
      this.bytes = more;
    }
    if (to - from < 100) while (from < to) this.bytes[this.length++] = bytes[from++];
    else {
      this.bytes.set(bytes.subarray(from, to), this.length);
      this.length += to - from;
    }
    return this;
  }

  /** Add a leaf to the list of leaves: a hash as a string of hex. */
  leaf(hash, first) {
    quoted[0] = first ? 0x20 : 0x2c;
    for (let place = 0; place < 32; place++) {
      quoted[2 + 2 * place] = DIGITS[hash[place] >> 4];
      quoted[3 + 2 * place] = DIGITS[hash[place] & 15];
    }
    return this.add(quoted, first ? 1 : 0, 67);
  }
}

const DIGITS = utf8("0123456789abcdef");
const quoted = utf8(`,"${"0".repeat(64)}"`);
const frame = new Frame();
const salt = new Uint8Array(32);
const leaf = new Uint8Array(32);

/** Read 32 bytes of hex that stand there. They were checked before. */
function hashAt(bytes, at, out = new Uint8Array(32)) {
  for (let place = 0; place < 32; place++, at += 2) out[place] = (digit(bytes[at]) << 4) | digit(bytes[at + 1]);
  return out;
}

const digit = (byte) => (byte < 0x3a ? byte - 0x30 : byte - 0x57);

/** Compute the digest of a stored entry that `ENTRY` has just read, with the HMAC of the blind key. */
function wholeDigest(bytes, previous, version, blind) {
  return digestOf(bytes, previous, ENTRY, (events) => {
    const add = (part, from, to) => {
      blind.text(`${version}:${part}`, salt);
      hasher.begin().update(salt);
      (to ? hasher.update(bytes, from, to) : hasher.update(NULL)).finish(leaf);
      frame.leaf(leaf, part === "a");
    };
    for (const [part, place] of PARTS) add(part, ENTRY.from[place], ENTRY.to[place]);
    for (let event = 0; event < events.length / 2; event++) add(event, events[2 * event], events[2 * event + 1]);
  });
}

/** Compute the digest of an entry as it is shown, which `SHOWN` has just read, from its proof. */
function shownDigest(bytes, previous, entry, match) {
  const { proof } = entry;
  const outer = { format: utf8(canonical(proof.format)), match: utf8(canonical(match)), rules: utf8(canonical(proof.rules)) };
  return digestOf(
    bytes,
    previous,
    SHOWN,
    (events) => {
      const add = (part, from, to) => {
        const first = part === proof.action;
        if (part.leaf) return frame.leaf(unhex(part.leaf), first);
        hasher.begin().update(unhex(part.salt));
        (to ? hasher.update(bytes, from, to) : hasher.update(NULL)).finish(leaf);
        return frame.leaf(leaf, first);
      };
      add(proof.action, SHOWN.from[ACTION], SHOWN.to[ACTION]);
      add(proof.request, 0, 0);
      add(proof.signed, SHOWN.from[SHOWN_SIGNED], SHOWN.to[SHOWN_SIGNED]);
      proof.events.forEach((part, event) => add(part, events[2 * event], events[2 * event + 1]));
    },
    outer,
  );
}

const ACTION = 0;
const SHOWN_SIGNED = SHOWN.places.get("signed");
const PARTS = [
  ["a", ACTION],
  ["r", ENTRY.places.get("request")],
  ["s", ENTRY.places.get("signed")],
];

function digestOf(bytes, previous, outline, addLeaves, outer = {}) {
  frame.length = 0;
  frame.add(previous);
  const member = (piece, name) => {
    const place = outline.places.get(name);
    frame.add(FRAME[piece]);
    if (outer[name]) frame.add(outer[name]);
    else frame.add(bytes, outline.from[place], outline.to[place]);
  };
  member(0, "actor");
  member(1, "at");
  member(2, "format");
  frame.add(FRAME[3]);
  addLeaves(outline.lists[outline.places.get("events")]);
  member(4, "match");
  member(5, "revision");
  member(6, "rules");
  if (outline.to[outline.places.get("secret")]) member(7, "secret");
  member(8, "version");
  frame.add(FRAME[9]);
  const whole = frame.bytes.subarray(0, frame.length);
  return builtIn?.hash ? new Uint8Array(builtIn.hash("sha256", whole, "buffer")) : sha256(whole);
}

// ---------------------------------------------------------------------------------------------------------------------
// What one file says

const MOST = 25; // findings of one code in one file: what is wrong everywhere must not hide what else is wrong
const MINUTE = 60 * 1000;
const TWO_HOURS = 2 * 3600 * 1000;

/** What was found wrong with a file, how much of it was checked, and what could not be checked. */
class Report {
  constructor() {
    this.findings = [];
    this.codes = new Map(); // how many findings there were of each
    this.checked = { entries: 0, digests: 0, salts: 0, rolls: 0, moves: 0, signatures: 0, receipts: 0, reads: 0, leaves: 0, "running hashes": 0, logs: 0 };
    this.unchecked = new Set();
  }

  found(version, code, sentence) {
    const before = this.codes.get(code) ?? 0;
    this.codes.set(code, before + 1);
    if (before < MOST) this.findings.push({ version, code, sentence });
  }
}

/** What a file says, as far as it has been read. */
class Contents {
  constructor() {
    this.report = new Report();
    this.lines = 0;
    this.head = null; // the line `dossier`, or null for a record
    this.header = null; // the first line of a record, if it is not an entry
    this.record = false;
    this.inOne = false; // whether it is a record in one JSON object, as GET …/record answers where nobody asks for lines
    this.kinds = { rules: [], dispute: [], refused: [], refusals_dropped: [], read: [], reads: [], receipt: [], leaf: [], signing_key: [], end: [] }; // lines of a dossier by their kind
    this.sidelog = null; // the running hashes of refused actions by seat, and those of reads
    this.ending = null; // the line `end`
    this.match = null;
    this.expected = 1; // the version of the next entry
    this.entries = new Map(); // by version: digest, at and type of the action
    this.created = {}; // the event `match_created`
    this.filled = null; // the version at which the last seat was taken
    this.ended = null; // the version that ended or closed the match
    this.told = null; // the secret that an entry tells, in hex
    this.opened = null; // the version that tells it
    this.secret = null; // the secret that the file tells anywhere
    this.committed = false; // whether the server committed itself to that secret
    this.promises = []; // the receipts in the file that fit
    this.checkpoints = []; // the checkpoints in the file that are signed
    this.signers = []; // who signed entries, and with which keys
    this.absent = null; // the version of which the log must not have a leaf, if what a monitor has found is true
  }

  /** The newest version that was read. */
  get last() {
    return this.expected - 1;
  }

  /** Whether versions are missing at the end. */
  get cut() {
    return this.last < (this.head?.versions ?? 0);
  }

  /** Whether the match is hidden from spectators while it runs. */
  get hidden() {
    return (this.created.spectators ?? "all") !== "all";
  }

  /** Whether the match may have had more versions than its viewer saw: spectators of a hidden match see them late, or in the end. */
  get behind() {
    return this.head.viewer === "spectator" && this.hidden && this.told === null;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The lines of a file

const LINE_FEED = Uint8Array.of(0x0a);

/** Reads the lines of a file. Each entry is checked when it is read; `finish` carries out the checks that need the whole file. */
class Reader {
  constructor() {
    this.file = new Contents();
    this.whole = longHash(); // of all lines but the last one
    this.kept = []; // lines of a record that wait for the secret of its last entry
    this.chain = new Chain(this.file);
    this.times = new Times(this.file);
    this.rules = new Rules(this.file);
    this.requests = new Requests(this.file);
    this.moves = new Moves(this.file);
    this.seats = new Seats(this.file);
    this.rolls = new Rolls(this.file);
    this.disputes = new Disputes(this.file);
    this.signers = new Signers();
    this.notes = new Notes(this.file.report);
    this.finding = null; // what a monitor has found, if that is what the file is
  }

  /** Take a line, without its line feed. Nothing that it may hold raises an error. */
  feed(line) {
    const { file } = this;
    file.lines++;
    if (file.ending) file.report.found(null, "line_unknown", "There are lines after the line that ends the file.");
    const value = file.lines === 1 || !file.record ? valueOf(line) : null;
    if (file.lines === 1) file.record = value?.line !== "dossier";
    if (file.lines === 1 && isObject(value) && Object.hasOwn(value, "finding")) this.finding = value;
    if (this.finding) return;
    if (file.record) this.recordLine(line, value);
    else this.dossierLine(line, value);
  }

  /** Take a line of a record. Without the blind key the entries wait, since the last one may reveal the secret. */
  recordLine(line, value) {
    const { file, chain } = this;
    if (file.lines > 1 || !isObject(value) || Object.hasOwn(value, "version")) {
      this.recordEntry(line);
      return;
    }
    file.header = value;
    file.match = isText(value.match) ? value.match : null;
    if (isHash(value.blind)) chain.blinds.push(unhex(value.blind));
    file.inOne = Array.isArray(value.entries);
    if (file.inOne) for (const entry of value.entries) this.recordEntry(utf8(quietly(() => canonical(entry)) ?? ""));
  }

  recordEntry(bytes) {
    if (this.chain.blinds.length) this.entry(bytes, "entry", valueOf(bytes));
    else this.kept.push(bytes.slice());
  }

  /** Check the lines of a record that waited. */
  replay() {
    const { kept, chain } = this;
    for (let place = kept.length - 1; place >= 0 && !chain.blinds.length; place--) {
      const entry = valueOf(kept[place]);
      if (isHash(entry?.secret)) chain.blinds.push(blindKey(unhex(entry.secret)));
      if (!TABLE.has(entry?.action?.type)) break; // what follows the entry that tells the secret is no action of a game
    }
    for (const line of kept) this.entry(line, "entry", valueOf(line));
  }

  /** Take a line of a dossier. */
  dossierLine(line, value) {
    const { file } = this;
    const kind = isObject(value) && isText(value.line) ? value.line : null;
    if (kind !== "end") this.whole.update(line).update(LINE_FEED);
    if (kind === "entry" || kind === "shown") this.entryLine(line, value, kind);
    else if (!kind || !Object.hasOwn(isLine, kind) || !isKind(kind, value) || skipValue(line, 0, 0) !== line.length)
      file.report.found(null, "line_unknown", `Line ${file.lines} is not a line of a dossier.`);
    else if (kind === "dossier") this.headLine(value);
    else if (kind === "seat") this.seats.line(value);
    else {
      if (kind === "end") file.ending = value;
      file.kinds[kind]?.push(value);
    }
  }

  headLine(value) {
    const { file, chain } = this;
    if (file.lines > 1) {
      file.report.found(null, "line_unknown", `Line ${file.lines} begins a second dossier.`);
      return;
    }
    file.head = value;
    file.match = value.match;
    file.secret = value.secret;
    if (value.blind) chain.blinds.push(unhex(value.blind));
    if (value.secret) chain.blinds.push(blindKey(unhex(value.secret)));
    if (chain.blinds.length === 2 && !same(...chain.blinds))
      file.report.found(null, "salt_differs", "The blind key does not follow from the secret.");
  }

  entryLine(line, value, kind) {
    const { head, lines, report } = this.file;
    const wanted = head && (head.viewer === "all" ? "entry" : "shown");
    if (kind !== wanted || !isObject(value.entry) || Object.keys(value).length !== 2) {
      report.found(null, "line_unknown", `Line ${lines} does not belong into this dossier.`);
      return;
    }
    const [before, after] = LINE_OF[kind];
    const to = line.length - after.length;
    const framed = skipWord(line, 0, before) > 0 && skipWord(line, to, after) > 0;
    this.entry(framed ? line.subarray(before.length, to) : null, kind, value.entry);
  }

  /** Take an entry: checks 3a to 3g. `bytes` are those of the entry, or null if they cannot be canonical. */
  entry(bytes, kind, value) {
    this.seats.compare();
    const { file, chain } = this;
    const { expected, report } = file;
    const shown = kind === "shown";
    const outline = shown ? SHOWN : ENTRY;
    const entry = outline.only(isObject(value) ? value : {});
    if (!(shown ? isShown(entry) && fits(entry) : isEntry(entry))) {
      this.unread("unreadable", `What stands for version ${expected} is not an entry of format 3.`);
      return;
    }
    if (!bytes || outline.read(bytes, 0) !== bytes.length) {
      bytes = utf8(quietly(() => canonical(entry)) ?? "");
      const sentence = `Version ${expected} is not canonical JSON, or has a member that no entry has.`;
      if (outline.read(bytes, 0) !== bytes.length) {
        this.unread("not_canonical", sentence);
        return;
      }
      report.found(expected, "not_canonical", sentence);
    }
    const { version } = entry;
    if (version < expected) {
      report.found(expected, "wrong_version", `Where version ${expected} should stand, version ${version} stands again.`);
      return;
    }
    if (version > expected) {
      report.found(expected, "gap", `Version ${expected} is missing; version ${version} follows.`);
      chain.previous = null;
    }
    file.expected = version + 1;
    this.follow(bytes, entry, shown);
  }

  /** Go on after an entry that cannot be read. The digest of the next one cannot be checked then. */
  unread(code, sentence) {
    this.file.report.found(this.file.expected, code, sentence);
    this.chain.previous = null;
    this.file.expected++;
  }

  /** Check an entry that could be read, and keep what it says. */
  follow(bytes, entry, shown) {
    const { file } = this;
    const { version, digest, at, action } = entry;
    file.report.checked.entries++;
    file.match ??= entry.match;
    if (!shown && entry.match !== file.match)
      file.report.found(version, "wrong_match", `Version ${version} is of the match ${entry.match}, not ${file.match}.`);
    this.times.compare(entry);
    this.rules.entry(entry, shown);
    this.requests.entry(entry, this.signers.players);
    this.moves.entry(bytes, entry, shown);
    // What is not in the chain says nothing of the time: else one false moment would make all entries after it too early.
    if (this.chain.add(bytes, entry, shown)) this.times.add(entry);
    this.times.compareHead(entry);
    revealed(file, entry);
    if (version === 1) file.created = entry.events.filter(isCreation).at(-1) ?? file.created;
    this.seats.entry(entry);
    this.signers.entry(entry);
    this.rolls.entry(entry);
    this.disputes.entry(entry);
    file.entries.set(version, { digest, at, type: action.type });
  }

  /** Carry out the checks that need the whole file, but for what others have kept. `keys` are those that are trusted, if any. */
  async finish(complete, keys, noted) {
    const { file, chain, notes } = this;
    const { report } = file;
    if (!file.lines) file.record = true;
    notes.keys = keys;
    if (this.finding) {
      await foundByMonitor(this, complete);
      return;
    }
    this.replay();
    this.seats.compare();
    secretChecked(file, chain);
    if (!file.record) {
      this.rules.finish();
      this.disputes.finish();
      dossierTruncated(file, complete);
      if (!keys.length) {
        notes.keys = file.head ? file.head.vkeys.map(readKey).filter(Boolean) : [];
        report.unchecked.add("Whose keys these are: the file's own keys were taken. Give one that you have noted (--key).");
      }
      await statements(file, notes, this.whole, chain.blind, noted);
      await keysChecked(file, notes, this.signers.owners);
    } else {
      file.signers = [...this.signers.owners.values()].flatMap((owner) => signersOf(owner, {}));
      if (file.signers.length) report.unchecked.add("Whose keys signed the moves: a record does not say. A dossier does.");
      if (!complete && !file.inOne) report.found(file.expected, "truncated", "The file does not end with a line feed.");
      if (!file.last) report.found(null, "empty", "There is no entry.");
      report.unchecked.add("Signatures: a record has none. A dossier has them.");
    }
    file.signers.sort((one, other) => one.versions[0] - other.versions[0]);
    [file.unsigned, file.byServer] = [Object.fromEntries(this.signers.unsigned), this.signers.byServer];
    this.rolls.finish(this.seats.contributions);
    await this.moves.finish();
    if (file.last && file.ended === null) report.unchecked.add(`What came after version ${file.last}: the match was not over.`);
    report.unchecked.add("The rules: no action was decided again. ./run verify does that.");
  }
}

/** Check that a dossier has as many versions and lines as it says. */
function dossierTruncated({ report, head, last, cut, ending, lines }, complete) {
  const promised = head?.versions ?? last;
  if (cut) report.found(last + 1, "truncated", `The file ends after version ${last}; it should have ${promised}.`);
  else if (last > promised) report.found(promised + 1, "wrong_version", `The file should end with version ${promised}, and goes on.`);
  else if (!ending) report.found(null, "truncated", "The file does not end with the line that ends a dossier.");
  else if (!complete || ending.lines !== lines - 1)
    report.found(null, "truncated", "The file does not have as many lines as it says.");
}

/** The value that some bytes are as JSON, or undefined. */
function valueOf(bytes) {
  return quietly(() => JSON.parse(strict.decode(bytes)));
}

function quietly(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// What is checked of every entry

/** The digests of the entries, and the salts of what is shown. */
class Chain {
  constructor(file) {
    this.file = file;
    this.blinds = []; // the blind keys that may be right: the one given, and the one that follows from the secret given
    this.blind = null; // HMAC with the one that is
    this.previous = new Uint8Array(32); // the digest before; null if it is not known
  }

  /** Check the digest of an entry. Return whether it holds, as far as it can be known. */
  add(bytes, entry, shown) {
    const { report, match } = this.file;
    const { version } = entry;
    const { previous } = this;
    this.previous = hashAt(bytes, (shown ? SHOWN : ENTRY).from[3] + 1);
    if (!shown && !this.blinds.length) report.unchecked.add("The chain of digests and the leaves: the file holds no blind key.");
    if (!previous || (!shown && !this.blinds.length)) return true;
    const digest = (blind) => (shown ? shownDigest(bytes, previous, entry, match) : wholeDigest(bytes, previous, version, blind));
    this.blind ??= this.rightBlind((blind) => shown || same(digest(blind), this.previous));
    report.checked.digests++;
    const holds = same(digest(this.blind), this.previous);
    if (!holds) {
      report.found(version, "digest_broken", `The digest of version ${version} does not follow from the entry and the digest before it.`);
    }
    if (shown && this.blind) this.salted(entry);
    return holds;
  }

  /** The blind key of two that is right for the entry at hand, so that one that was changed does not break every digest. */
  rightBlind(fits) {
    const hmacs = this.blinds.map((key) => new Hmac(key));
    return hmacs.find(fits) ?? hmacs[0] ?? null;
  }

  salted({ version, proof: { action, request, events } }) {
    const { report } = this.file;
    const given = [["a", action], ["r", request], ...events.entries()].filter(([, part]) => part.salt);
    report.checked.salts += given.length;
    if (given.some(([name, part]) => hex(this.blind.text(`${version}:${name}`, salt)) !== part.salt)) {
      report.found(version, "salt_differs", `A salt of version ${version} does not follow from the secret.`);
    }
  }
}

/** The times of the entries, which do not run backwards. */
class Times {
  constructor(file) {
    this.file = file;
    this.latest = 0;
    this.ahead = false; // whether an entry was made after the file says that it was written
  }

  /** Compare an entry with the entries before it. */
  compare({ version, at, actor, action }) {
    if (at >= this.latest) return;
    const { report, created } = this.file;
    const clock = isObject(created.clock) && created.clock.kind !== "none";
    if (clock && !TABLE.has(action.type) && Object.hasOwn(created.roster, actor))
      report.unchecked.add("Whether a seat that acts at the same time as another had its clock running then: that needs the rules.");
    else report.found(version, "time_backwards", `Version ${version} is earlier than an entry before it.`);
  }

  add({ at }) {
    this.latest = Math.max(this.latest, at);
  }

  /** Compare the entries up to this one with the moment at which the file says that it was written. */
  compareHead({ version }) {
    const { head, report } = this.file;
    if (!head || this.ahead || this.latest <= head.at) return;
    this.ahead = true;
    report.found(version, "time_backwards", "The file says that it was written before this entry.");
  }
}

/** The signatures of actors: that each is over its action and the history before it, and that lists are whole. */
class Moves {
  constructor(file) {
    this.file = file;
    this.before = null; // the entry before, if it shows whether it is signed
    this.keys = new Map(); // by base64
    this.pending = []; // checks that other threads make meanwhile
    this.whole = true; // whether the entries are whole
  }

  entry(bytes, entry, shown) {
    const { report, match, entries } = this.file;
    const { version, actor, signed: given } = entry;
    const hidden = shown && entry.proof.signed.leaf !== undefined;
    const { before } = this;
    this.whole = !shown;
    this.before = hidden ? null : { version, actor, given };
    if (before && !hidden) this.listed(before, this.before);
    if (!given) return;
    if (given.seen > version - given.place) {
      report.found(version, "seen_not_before", `The signature of version ${version} is over version ${given.seen}, which was not before it.`);
      return;
    }
    const digest = entries.get(given.seen)?.digest;
    if (!digest) {
      report.unchecked.add("Signatures of moves: the file does not have the versions that they are over.");
      return;
    }
    const [from, to] = shown ? [SHOWN.from[ACTION], SHOWN.to[ACTION]] : [ENTRY.from[ACTION], ENTRY.to[ACTION]];
    const head = utf8(`warledger.org/move/v1\n${match}\n${actor}\n${given.seen}\n${digest}\n${given.place}/${given.count}\n`);
    const text = joined([head, bytes.subarray(from, to), LINE_FEED]);
    if (!this.keys.has(given.key)) this.keys.set(given.key, { bytes: unbase64(given.key) });
    this.pending.push(this.check(version, this.keys.get(given.key), unbase64(given.signature), text));
  }

  async check(version, key, signature, text) {
    const { report } = this.file;
    const good = await signedElsewhere(key, signature, text);
    if (good === null) {
      report.unchecked.add(UNSIGNED);
      return;
    }
    report.checked.moves++;
    if (!good)
      report.found(version, "move_signature_broken", `The signature of version ${version} is not one over this action and the history before it.`);
  }

  /** Check that the actions of one request follow each other. */
  listed(before, now) {
    const { report } = this.file;
    const [one, two] = [before.given, now.given];
    const same = one && two && before.actor === now.actor && one.key === two.key && one.seen === two.seen && one.count === two.count;
    const follows = same && two.place === one.place + 1;
    if (one && one.place < one.count && !follows) this.cut(before.version);
    if (two && two.place > 1 && !follows)
      report.found(now.version, "move_list_broken", "The actions before this one in its signed list are not before it.");
  }

  cut(version) {
    this.file.report.found(version, "move_list_broken", "The signed list of actions does not go on after this entry.");
  }

  async finish() {
    const { before, whole } = this;
    if (whole && before?.given && before.given.place < before.given.count) this.cut(before.version);
    await Promise.all(this.pending);
  }
}

/** The rules that the entries name. */
class Rules {
  constructor(file) {
    this.file = file;
    this.pairs = new Map(); // by revision and rules: the first version that names them
  }

  entry({ version, revision, rules, proof }, shown) {
    const pair = `${revision} ${shown ? proof.rules : rules}`;
    this.revision ??= revision;
    if (revision !== this.revision || revision < 1) {
      const sentence = `Version ${version} names another revision of the rules than the match began with.`;
      this.file.report.found(version, "rules_differ", sentence);
    }
    if (!this.pairs.has(pair)) this.pairs.set(pair, version);
  }

  /** Compare them with the lines `rules`. */
  finish() {
    const { report, head, kinds, created } = this.file;
    const named = new Set(kinds.rules.map(({ revision, rules }) => `${revision} ${rules}`));
    for (const [pair, version] of this.pairs) {
      if (!named.has(pair)) report.found(version, "rules_unknown", `Version ${version} names rules that have no line of their own.`);
    }
    if (kinds.rules.some((line) => line.game !== head?.game || !this.pairs.has(`${line.revision} ${line.rules}`))) {
      report.found(null, "rules_unknown", "A line names rules under which no entry was decided.");
    }
    if (head && created.game !== undefined && created.game !== head.game) {
      report.found(null, "line_unknown", "The game of the first line is not the one that was created.");
    }
  }
}

/** What asked for the entries. A request belongs to the player who has the seat that acts, or else to the actor. */
class Requests {
  constructor(file) {
    this.report = file.report;
    this.asked = new Map(); // by player and id: the last version
  }

  /** Take an entry. `players`: who had the seats before it. */
  entry({ version, actor, request }, players) {
    if (request?.id !== undefined && version > 1) {
      const name = `${players.get(actor) ?? actor}/${request.id}`;
      if ((this.asked.get(name) ?? version - 1) !== version - 1)
        this.report.found(version, "request_twice", `Version ${version} carries out a request a second time.`);
      this.asked.set(name, version);
    } else if (request && request.id === undefined) {
      const sentence = "Whether artificial players decide so on what they saw: ./run verify --decisions runs their decisions again.";
      this.report.unchecked.add(sentence);
    }
  }
}

/** Check that the secret is told when the match ends; when it goes on elsewhere by a ruling, not before its record is opened. */
function revealed(file, { version, secret, action, events }) {
  const { report } = file;
  const has = (wanted) => events.some(({ type }) => type === wanted);
  const ends = has("match_ended") || has("match_closed");
  const tells = (ends && !has("match_continued")) || has("record_opened");
  if (file.ended !== null && !TABLE.has(action.type)) {
    report.found(version, "not_legal", `Version ${version} is an action of the game, but version ${file.ended} ended the match.`);
  }
  if (tells && secret === undefined) report.found(version, "secret_differs", `Version ${version} should tell the secret, and does not.`);
  if (!tells && secret !== undefined) report.found(version, "secret_differs", `Version ${version} tells the secret, and should not.`);
  if (has("seats_filled")) file.filled ??= version;
  if (ends) file.ended ??= version;
  file.told ??= secret ?? null;
  if (secret !== undefined) file.opened ??= version;
}

/** Compare the secret with the first line, with what the server committed itself to, and with the lock of the match. */
function secretChecked(file, chain) {
  const { report, head, last, cut, told, record } = file;
  const { commitment, lock } = file.created;
  if (head && !cut && head.secret !== told) {
    report.found(last || null, "secret_differs", "The secret in the first line is not the one that the entries tell.");
  }
  file.secret = told ?? file.secret;
  if (told === null && file.filled !== null && (head?.viewer ?? "all") === "all" && (head ?? file.header)?.blind === null)
    report.found(null, "salt_differs", `The file has no blind key, though the last seat was taken at version ${file.filled}.`);
  if (!file.secret) {
    report.unchecked.add("The dice, and the secret: it is not revealed yet.");
    return;
  }
  const secret = unhex(file.secret);
  file.committed = hex(sha256(secret)) === commitment;
  if (!file.committed) report.found(1, "commitment_broken", "The secret is not the one to which the server committed itself in version 1.");
  if (record && chain.blinds[0] && !same(chain.blinds[0], blindKey(secret)))
    report.found(null, "salt_differs", "The blind key does not follow from the secret.");
  const code = base32(new Hmac(secret).text("code").subarray(0, 10));
  if (file.committed && isText(lock) && lock !== hex(sha256(utf8(`${commitment}:${code}`)))) {
    report.found(1, "events_differ", "The lock of the match is not that of its code.");
  }
}

const base32 = (bytes) =>
  [...bytes]
    .map((byte) => byte.toString(2).padStart(8, "0"))
    .join("")
    .match(/.{5}/g)
    .map((bits) => "abcdefghijklmnopqrstuvwxyz234567"[parseInt(bits, 2)])
    .join("");

const isCreation = (event) => event.type === "match_created" && isObject(event.roster);

/** Who has the seats: what the events say, and the lines `seat` that must follow an entry. */
class Seats {
  constructor(file) {
    this.file = file;
    this.contributions = Object.create(null);
    this.after = null; // the newest entry: its version, the lines that are due after it, and those that were given
  }

  entry({ version, at, events }) {
    const due = [];
    const holder = (seat, player, ai, contribution) => due.push({ line: "seat", seat, player, ai, taken: version, at, contribution });
    for (const event of events) {
      if (isCreation(event) && version === 1) {
        for (const seat of Object.keys(event.roster).sort()) {
          const { player = null, ai = null } = event.roster[seat] ?? {};
          if (player !== null || ai !== null) holder(seat, player, ai, null);
        }
      } else if (event.type === "seat_taken") {
        holder(event.seat, event.player, null, event.contribution ?? null);
        if (isText(event.contribution)) this.contributions[event.seat] = event.contribution;
      } else if (event.type === "seat_left") {
        delete this.contributions[event.seat];
      } else if (event.type === "seat_handed_over") {
        holder(event.seat, event.player, null, null);
      }
    }
    this.after = { version, due, given: [] };
  }

  line(value) {
    const { report, lines } = this.file;
    if (this.after) this.after.given.push(value);
    else report.found(null, "seat_differs", `Line ${lines} gives a seat away before there was an entry.`);
  }

  /** Compare the lines after the newest entry with its events. */
  compare() {
    if (!this.after || this.file.record) return;
    const { version, due, given } = this.after;
    const line = quietly(() => canonical(due));
    if (line !== canonical(given))
      this.file.report.found(version, "seat_differs", `Who had a seat from version ${version} on is not what its events say.`);
    this.after = null;
  }
}

/**
 * Who signed the entries. `owners` are by player and key: `{player, key, actors}`, and `actors` have the versions that each has signed.
 * `unsigned` counts by seat the entries that nobody signed. `byServer` counts those of the system, of artificial players and of substitutes.
 */
class Signers {
  constructor() {
    this.owners = new Map();
    this.unsigned = new Map();
    this.byServer = 0;
    this.players = new Map(); // by seat
    this.artificial = new Set(["system"]); // the system, and the seats that artificial players have or play for others
  }

  /** An actor without a seat, such as a referee, is a player. */
  entry({ version, actor, signed: given, events }) {
    if (given) {
      const player = this.players.get(actor) ?? actor;
      const name = `${player} ${given.key}`;
      const owner = this.owners.get(name) ?? { player, key: given.key, actors: new Map() };
      this.owners.set(name, owner);
      if (!owner.actors.has(actor)) owner.actors.set(actor, []);
      owner.actors.get(actor).push(version);
    } else if (this.artificial.has(actor)) this.byServer++;
    else if (this.players.has(actor)) this.unsigned.set(actor, (this.unsigned.get(actor) ?? 0) + 1);
    for (const event of events) {
      if (isCreation(event)) {
        const taken = Object.entries(event.roster).filter(([, who]) => isText(who?.player) && who.open === undefined);
        this.players = new Map(taken.map(([seat, { player }]) => [seat, player]));
        for (const [seat, who] of Object.entries(event.roster)) if (who?.ai !== undefined) this.artificial.add(seat);
      } else if (event.type === "seat_taken" || event.type === "seat_handed_over") {
        this.players.set(event.seat, event.player);
        this.artificial.delete(event.seat);
      } else if (event.type === "seat_left") this.players.delete(event.seat);
      else if (event.type === "seat_substituted") this.artificial.add(event.seat);
      else if (event.type === "seat_returned") this.artificial.delete(event.seat);
    }
  }
}

/** What is told of the owner of a key, by actor. `known` says when it was registered and revoked, as far as the log does. */
function signersOf({ player, key, actors }, { registered = null, revoked = null }, began = Infinity) {
  const late = registered !== null && registered > began;
  return [...actors].map(([actor, versions]) => ({ actor, player, key, versions, registered, revoked, late }));
}

/** The disputes: what the events say, and the lines `dispute`. */
class Disputes {
  constructor(file) {
    this.file = file;
    this.due = []; // the lines that follow from the entries
    this.numbered = new Map(); // the same by their number
  }

  entry({ version, action, events }) {
    for (const { type, dispute: number = null, seat = null, version: about = null, verdict = null } of events) {
      if (type === "dispute_opened") {
        const line = { number, seat, steps: [], verdict: null, version: about };
        this.due.push(line);
        if (!this.numbered.has(number)) this.numbered.set(number, line);
      }
      const line = this.numbered.get(number);
      if (!line) continue;
      if (line.steps.at(-1)?.version !== version) line.steps.push({ type: action.type, version });
      if (type === "dispute_ruled") line.verdict = verdict;
    }
  }

  finish() {
    const { report, kinds } = this.file;
    const said = kinds.dispute.map(({ number, seat, steps, verdict, version }) => ({ number, seat, steps, verdict, version }));
    const place = [...said, ...this.due].findIndex((_, at) => canonical(said[at] ?? null) !== canonical(this.due[at] ?? null));
    if (place < 0) return;
    const first = [said[place], this.due[place]].map((line) => line?.steps[0]?.version).find(Boolean) ?? null;
    report.found(first, "dispute_differs", "What the file says of a dispute is not what the entries say.");
  }
}

/** Whether the dice of a match may be known from the start: practice of its creator and artificial players (TBL-GUI-02). */
const mayKnow = ({ dice, creator, roster, practice, rated }) =>
  isHash(dice) &&
  practice === true &&
  rated === undefined &&
  Object.values(roster).every((one) => (one?.player === undefined ? isText(one?.ai) : one.player === creator));

/** The dice that fell. They are checked when the secret is known. */
class Rolls {
  constructor(file) {
    this.file = file;
    this.versions = []; // by version: the dice that fell, and how many numbers were drawn before each
  }

  /** Find the entry that lets others play, if everybody knows the dice of the match (TBL-GUI-02). */
  known(version, events) {
    const { report, created } = this.file;
    if (created.dice === undefined) return;
    const taken = events.some(({ type }) => type === "seat_taken" || type === "seat_handed_over");
    if (taken || (events.includes(created) && !mayKnow(created))) {
      report.found(version, "not_legal", "The dice are known from the start, but not only the creator and artificial players play.");
    }
  }

  entry({ version, events }) {
    this.known(version, events);
    const told = TOLD.get(this.file.created.game) ?? NOTHING;
    const fell = [];
    let drawn = 0;
    for (const event of events) {
      const { dice = [], sides, numbers = 0, shuffled } = told.get(event.type) ?? {};
      for (const pointer of dice) fell.push([drawn++, sides, pointed(event, pointer)]);
      drawn += numbers + (shuffled === undefined ? 0 : Math.max(0, cardsOf(pointed(event, shuffled)) - 1));
    }
    if (fell.length) this.versions.push([version, fell]);
  }

  finish(contributions) {
    const { report, created, secret, committed, match } = this.file;
    if (!secret || !committed) return;
    if (!TOLD.has(created.game)) {
      report.unchecked.add("The dice: which events of this game hold rolls is not known here.");
      return;
    }
    const key = quietly(() => (isHash(created.dice) ? unhex(created.dice) : diceKey(unhex(secret), contributions, match)));
    for (const [version, fell] of key ? this.versions : []) {
      const dice = new Dice(key, version);
      for (const [drawn, sides, face] of fell) {
        dice.blocks = drawn;
        report.checked.rolls++;
        if (dice.roll(sides) !== face) {
          report.found(version, "events_differ", `The dice of version ${version} did not fall so.`);
          break;
        }
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// What the server has signed: the file, receipts, reads and the leaves of its log

/** The signatures of notes, by the keys that are known. */
class Notes {
  constructor(report) {
    this.report = report;
    this.keys = [];
    this.quorum = { least: 0, witnesses: [] };
    this.missed = new Set(); // the checkpoints without a quorum
    this.signers = new Map(); // by note: who has signed it. Leaves share the note of their checkpoint
  }

  /** Check a note, a checkpoint by those keys with its `origin` for a name. Return its text if it is good. */
  async check(version, what, text, origin = null) {
    const { report } = this;
    const note = readNote(text);
    if (!note) {
      report.found(version, "signature_broken", `${what} is not a signed note.`);
      return null;
    }
    if (!(await canCheckSignatures())) return note.text;
    if (!this.signers.has(text)) this.signers.set(text, await signers(note, this.keys));
    const { good, bad } = this.signers.get(text);
    const server = good.filter(({ kind, name }) => kind === ED25519 && (origin === null || name === origin));
    report.checked.signatures += good.length;
    if (bad.length) report.found(version, "signature_broken", `A signature of ${what} does not fit its text.`);
    else if (!server.length) report.found(version, "wrong_key", `${what} is not signed by a key that is known.`);
    else if (origin === null || (await this.cosigned(text, note))) return note.text;
    return null;
  }

  /** Whether as many witnesses have cosigned a checkpoint as the reader asks for. */
  async cosigned(text, note) {
    const { least, witnesses } = this.quorum;
    if (!least) return true;
    const { good } = await signers(note, witnesses);
    const count = new Set(good.map((key) => key.text)).size;
    if (count >= least) return true;
    if (!this.missed.has(text)) {
      const sentence = `A checkpoint has ${count} of the ${least} cosignatures that you ask for.`;
      this.report.found(null, "quorum_missed", `${sentence} A file that is fetched some seconds later may have more.`);
    }
    this.missed.add(text);
    return false;
  }
}

/** Check all that is signed in a dossier. `noted`: whether the reader has kept checkpoints. */
async function statements(file, notes, whole, blind, noted) {
  const { report, kinds } = file;
  if (!(await canCheckSignatures()))
    report.unchecked.add(UNSIGNED);
  if (file.ending) await fileSigned(file, notes, whole);
  await sideLogged(file, notes);
  await receiptsSigned(file, notes);
  for (const line of kinds.leaf) await leafLogged(file, notes, line, blind);
  leavesDue(file, noted);
}

/** Check that the server has signed the lines of the file. */
async function fileSigned({ report, match, head, ending }, notes, whole) {
  const text = await notes.check(null, "The file", ending.note);
  if (text === null) return;
  const said = readStatement(text);
  const right = said?.kind === "dossier" && said.match === match && said.version === head?.versions && said.viewer === head?.viewer;
  if (!right || said.hash !== hex(whole.finish()))
    report.found(null, "signature_broken", "What the server has signed is not this file.");
}

/** Check that the file has the receipt of its last version. */
async function receiptsSigned(file, notes) {
  const { report, match, last, cut } = file;
  const kept = file.kinds.receipt;
  if (kept.length !== 1 && !cut)
    report.found(last || null, "receipt_differs", "The file has no receipt of its last version, or more than one.");
  for (const { note } of kept) {
    const said = readStatement(readNote(note)?.text ?? "");
    const text = await notes.check(said?.version ?? last, "The receipt", note);
    if (text === null) continue;
    if (said?.kind !== "receipt" || said.match !== match || said.version !== last) {
      report.found(said?.version ?? last, "receipt_differs", "The receipt in the file is not one of its last version.");
    } else {
      receipted(file, said);
      file.promises.push(said);
    }
  }
}

/** Compare a receipt of this match, from wherever it comes, with the entry. Return whether it `agrees`, `differs`, or is `beyond` the file. */
function receipted(file, said) {
  const { report, last, head } = file;
  const entry = file.entries.get(said.version);
  if (entry && said.seat !== undefined) sideLogNamed(file, said);
  if (entry) {
    report.checked.receipts++;
    if (entry.digest === said.digest && entry.at === said.at) return "agrees";
    report.found(said.version, "receipt_differs", `A receipt says that version ${said.version} was another entry.`);
    return "differs";
  }
  if (said.version > last && head && said.at < head.at - MINUTE && !file.behind) {
    report.found(last + 1, "truncated", `There was a version ${said.version} when the file was written: there is a receipt of it.`);
    return "differs";
  }
  report.unchecked.add(`A receipt of version ${said.version}: this file does not have that version.`);
  return "beyond";
}

const FIRST = { count: 0, hash: "0".repeat(64) }; // the running hash of a list without an item

/** The running hash of a list after one more item. */
const after = ({ count, hash }, item) => ({ count: count + 1, hash: hex(sha256(unhex(hash), utf8(item))) });

/** Check the lines of the side log, and keep the running hashes of its lists, before and after each item. */
async function sideLogged(file, notes) {
  const { report, match, kinds } = file;
  const refused = new Map();
  for (const { seat, count, hash } of kinds.refusals_dropped) {
    if (refused.has(seat)) report.found(null, "refusals_differ", `The file says twice how many refused actions of ${seat} are not kept.`);
    refused.set(seat, [{ count, hash }]);
    if (count) report.unchecked.add(`The first ${count} refused actions of ${seat}: the file says that they are no longer kept.`);
  }
  for (const line of kinds.refused) {
    const had = refused.get(line.seat) ?? refused.set(line.seat, [FIRST]).get(line.seat);
    had.push(after(had.at(-1), canonical(line)));
  }
  if (kinds.reads.length > 1) report.found(null, "reads_differ", "The file has more than one list of reads.");
  const { count, hash, newest } = kinds.reads[0] ?? { ...FIRST, newest: [] };
  if (count) report.unchecked.add(`The first ${count} reads of staff: the file says that they are no longer kept.`);
  const texts = newest.map(({ version, reader, what, at }) => `warledger.org/read/v1\n${[match, version, reader, what, at].join("\n")}\n`);
  const reads = [{ count, hash }];
  for (const text of texts) reads.push(after(reads.at(-1), text));
  const counts = new Map();
  const kind = ({ reader, what }) => `${reader} ${what}`;
  for (const seen of newest) counts.set(kind(seen), (counts.get(kind(seen)) ?? 0) + 1);
  for (const line of kinds.read) {
    const said = await readSigned(file, notes, line);
    if (said === null) continue;
    const listed = counts.get(kind(said)) ?? 0;
    counts.delete(kind(said));
    const exactly = count > 0 || (line.count === listed && texts.includes(readNote(line.note).text));
    if (line.count < listed || !exactly)
      report.found(said.version, "reads_differ", `The reads of ${said.what} by ${said.reader} are not those in the list of reads.`);
  }
  const all = kinds.read.reduce((sum, line) => sum + line.count, 0);
  if (all !== reads.at(-1).count)
    report.found(null, "reads_differ", `The file counts ${all} reads by reader and kind, and ${reads.at(-1).count} in their order.`);
  file.sidelog = { refused, reads };
}

/** Check that a recorded read is signed, and is one of this match. Return what it says, or null. */
async function readSigned({ report, match, last }, notes, { note, count }) {
  const said = readStatement(readNote(note)?.text ?? "");
  const version = said?.kind === "read" ? said.version : null;
  if ((await notes.check(version, "A recorded read", note)) === null) return null;
  report.checked.reads++;
  if (version !== null && said.match === match && version >= 1 && version <= last && count >= 1) return said;
  report.found(version, "read_broken", "A recorded read is not one of this match.");
  return null;
}

/** Compare the running hashes that a receipt names with those of the side log in the file. */
function sideLogNamed(file, { version, seat, refused, refusedHash, reads, readsHash }) {
  const { report, head, sidelog, behind } = file;
  if (!sidelog) return;
  const compare = (code, what, had, count, hash) => {
    const place = count - had[0].count;
    if (count === 0) return;
    if (place < 0) {
      report.unchecked.add(`The ${what} that a receipt of version ${version} names: newer ones are no longer kept.`);
      return;
    }
    report.checked["running hashes"]++;
    if (had[place]?.hash === hash) return;
    const sentence = had[place] ? `other ${what} than the file has` : `${count} ${what}, and the file has had ${had.at(-1).count}`;
    report.found(version, code, `A receipt of version ${version} names ${sentence}.`);
  };
  if (["all", seat].includes(head.viewer))
    compare("refusals_differ", `refused actions of ${seat}`, sidelog.refused.get(seat) ?? [FIRST], refused, refusedHash);
  else if (refused) report.unchecked.add(`The refused actions of ${seat} that a receipt names: the viewer may not know them.`);
  if (!behind) compare("reads_differ", "reads of staff", sidelog.reads, reads, readsHash);
  else report.unchecked.add("The reads of staff that a receipt names: the viewer may not know them while the match runs.");
}

/** Check that a leaf fits the entries, and that it is in the log where its proof says. */
async function leafLogged(file, notes, { index, leaf: given, opened, proof: text }, blind) {
  const { report } = file;
  const open = given.kind === "sealed" ? (opened ?? null) : given;
  const version = open?.version ?? null;
  if (given.kind !== "sealed" && opened !== undefined) report.found(version, "line_unknown", "A leaf that is not sealed was opened.");
  if (open) leafCompared(file, given, open, blind);
  else if (!file.behind) report.found(null, "leaf_differs", "A leaf of the log is sealed, though the viewer may know what is in it.");
  else report.unchecked.add("Sealed leaves of the log: while the match is hidden, they can be counted and found in the log, not opened.");
  report.checked.leaves++;
  await leafProven(file, notes, given, index, text, version);
}

/** Check that a leaf is in the log where its proof says. Return the checkpoint if it is signed, else null. */
async function leafProven(file, notes, given, index, text, version) {
  const { report } = file;
  const proof = readProof(text);
  const note = proof && readNote(proof.checkpoint);
  const checkpoint = note && readCheckpoint(note.text);
  const bytes = quietly(() => utf8(canonical(given)));
  const root = checkpoint && bytes && provenRoot(leafHash(bytes), index, checkpoint.size, proof.hashes);
  if (!checkpoint || proof.index !== index || root !== checkpoint.root) {
    report.found(version, "inclusion_broken", `Leaf ${index} is not in the log where its proof says.`);
  }
  const origin = checkpoint?.origin ?? null;
  if (!proof || (await notes.check(version, "A checkpoint", proof.checkpoint, origin)) === null || !checkpoint) return null;
  file.checkpoints.push({ ...checkpoint, note: proof.checkpoint });
  return checkpoint;
}

/** Compare a leaf with the entries. `given` is what is in the log, `open` what it says. */
function leafCompared({ report, match, entries, last, created, ended }, given, open, blind) {
  const { version } = open;
  const entry = entries.get(version);
  if (given !== open && blind) {
    const seal = sha256(blind.text(`log:${version}`), utf8(canonical(open)));
    if (hex(seal) !== given.seal) report.found(version, "leaf_differs", `The sealed leaf of version ${version} is another one.`);
  } else if (given !== open) report.unchecked.add("Whether sealed leaves of the log are what was opened: the file holds no blind key.");
  if (version > last) {
    report.found(last + 1, "truncated", `The log has a leaf of version ${version}.`);
    return;
  }
  const begins = open.kind !== "begin" || (version === 1 && open.commitment === created.commitment);
  const ends = open.kind !== "end" || (ended !== null && version >= ended);
  if (!entry || open.match !== match || open.digest !== entry.digest || open.at !== entry.at || !begins || !ends) {
    report.found(version, "leaf_differs", `The log says that version ${version} was another entry.`);
  }
}

/** Check that what is older than two hours is in the log. */
function leavesDue(file, noted) {
  const { report, head } = file;
  const all = file.kinds.leaf.map(({ leaf: given, opened }) => (given.kind === "sealed" ? (opened ?? null) : given));
  if (!head || (all.includes(null) && file.behind)) return;
  const leaves = all.filter(Boolean);
  if (!leaves.length && !noted) {
    report.unchecked.add("Whether the match is in the log: the file has no leaf.");
    return;
  }
  const isOld = (version) => file.entries.has(version) && file.entries.get(version).at < head.at - TWO_HOURS;
  const due = [...file.entries.keys()].filter(isOld).reduce((most, version) => Math.max(most, version), 0);
  if (due && !leaves.some(({ version }) => version >= due)) {
    report.found(due, "leaf_missing", `The log has no leaf of version ${due} or a later one, and two hours have passed.`);
  }
  for (const [kind, version] of [["begin", 1], ["end", file.opened]]) {
    if (version !== null && isOld(version) && !leaves.some((leaf) => leaf.kind === kind))
      report.found(version, "leaf_missing", `The log has no leaf of the kind ${kind}, and two hours have passed.`);
  }
  if (due < file.last && !leaves.some(({ version }) => version >= file.last))
    report.unchecked.add(
      `Whether the log has version ${file.last}: no leaf of it was due when the file was written, as it says. Get the file again two hours later.`,
    );
}

// ---------------------------------------------------------------------------------------------------------------------
// The keys that signed moves

/** Check that the keys that signed entries were keys of the players who acted. */
async function keysChecked(file, notes, owners) {
  const { report, kinds } = file;
  const lines = new Map(kinds.signing_key.map((line) => [`${line.player} ${line.key}`, line]));
  if (lines.size < kinds.signing_key.length) report.found(null, "key_differs", "A key has two lines.");
  for (const [name, { player, key }] of lines)
    if (!owners.has(name)) report.found(null, "key_differs", `The key ${key} of ${player}, which has a line, has signed nothing.`);
  for (const [name, owner] of owners) {
    const known = await keyRegistered(file, notes, owner, lines.get(name)?.leaves ?? []);
    keyCompared(file, owner, known);
    file.signers.push(...signersOf(owner, known, file.entries.get(file.filled ?? 1)?.at)); // it begins when the last seat is taken
  }
}

const firstOf = ({ actors }) => Math.min(...[...actors.values()].map(([version]) => version));

/** What the leaves of a key say: when it was registered and revoked, and which leaf of which log says the former. */
async function keyRegistered(file, notes, { player, key, ...owner }, leaves) {
  const { report, head } = file;
  const first = firstOf(owner);
  const known = { registered: null, revoked: null, log: null, index: null };
  for (const { index, leaf: given, proof } of leaves) {
    const registers = isRegistered(given);
    const mine = (registers || isRevoked(given)) && given.player === player && given.key === key;
    if (!mine || (registers && !(await isProven(given)))) {
      report.found(first, "key_differs", `A leaf of the key ${key} is not one of this key and ${player}.`);
      continue;
    }
    const checkpoint = await leafProven(file, notes, given, index, proof, first);
    if (!checkpoint) continue;
    if (!registers) known.revoked = Math.min(given.at, known.revoked ?? given.at);
    else if (known.registered === null) Object.assign(known, { registered: given.at, log: checkpoint.origin, index });
  }
  if (known.registered !== null) return known;
  if (file.entries.get(first)?.at < head?.at - TWO_HOURS)
    report.found(first, "key_missing", `The file has no leaf of the log that says that the key ${key} is one of ${player}.`);
  else report.unchecked.add(`Whether the key ${key} is one of ${player}: the log did not say so yet.`);
  return known;
}

/** Whether the signature in a registration is by its key, and names its player. */
async function isProven({ key, player, signature }) {
  const bytes = unbase64(key);
  if (isWeak(bytes)) return false;
  if (!(await canCheckSignatures())) return true;
  return signed({ bytes }, unbase64(signature), utf8(`warledger.org/signing-key/v1\n${player}\n${key}\n`));
}

// The y of the points of small order, and the least that is none.
const WEAK = [
  0n,
  1n,
  2707385501144840649318225287225658788936804267575313519463743609750303402022n,
  55188659117513257062467267217118295137698188065244968500265048394206261417927n,
  2n ** 255n - 20n,
];

/** Whether a public key is a point of small order, with which anybody can sign anything, or none at all. */
function isWeak(key) {
  const y = BigInt(`0x${hex(key.slice().reverse())}`) & (2n ** 255n - 1n);
  return y >= 2n ** 255n - 19n || WEAK.includes(y);
}

/** Compare what the log says of a key with the entries that it signed. The first one that does not fit is found. */
function keyCompared({ report, entries, kinds }, { player, actors }, { registered, revoked, log, index }) {
  if (registered === null) return;
  const versions = [...actors.values()].flat().sort((one, other) => one - other);
  for (const version of versions) {
    const { at } = entries.get(version);
    const early = at < registered - MINUTE;
    if (!early && (revoked === null || at <= revoked + MINUTE)) continue;
    const sentence = `The key that signed version ${version} was ${early ? "registered later" : "revoked before"}, by ${player}.`;
    report.found(version, "key_invalid", sentence);
    break;
  }
  for (const { index: place, leaf: given, opened, proof } of kinds.leaf) {
    const version = (given.kind === "sealed" ? opened : given)?.version;
    if (!(place < index && version >= versions[0])) continue;
    if (readCheckpoint(readNote(readProof(proof)?.checkpoint)?.text ?? "")?.origin !== log) continue;
    report.found(versions[0], "key_invalid", `The log had version ${version} before it had the key that signed version ${versions[0]}.`);
    break;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Whole logs, and what a monitor has found

const MOST_OF_A_FINDING = 8; // leaves
const ALARMS = new Set("begin_twice after_end end_twice digest_twice version_backwards time_backwards".split(" "));

const isMonth = (value) => isText(value) && /^[0-9]{4}-[0-9]{2}$/.test(value);
const BULK_NUMBERS = { at: isWhole, bytes: isWhole, from: isWhole, matches: isWhole, parts: isWhole, to: isWhole };
const isBulk = shape({ ...BULK_NUMBERS, digest: isHash, game: isText, kind: one("bulk"), month: isMonth });

/** A leaf for a monitor: `{kind, subject, version, digest, at, value}`, or null if it is sealed, or none that docs/auditing.md describes. */
function leafOf(value) {
  const { kind, at } = value;
  if (isOpen(value) && isMatch(value.match) && (kind !== "begin" || value.version === 1))
    return { kind, subject: value.match, version: value.version, digest: value.digest, at, value };
  if (isBulk(value)) return { kind, subject: `${value.game}/${value.month}`, version: null, digest: value.digest, at, value };
  if ((isRegistered(value) || isRevoked(value)) && unbase64(value.key)?.length === 32 && /^p[a-z2-7]{16}$/.test(value.player))
    return { kind, subject: value.player, version: null, digest: value.key, at, value };
  return null;
}

/** What two leaves contradict each other in, the earlier one of the log first: a code, or null. */
function conflict(first, second) {
  if (first.subject !== second.subject) return null;
  if (first.kind === "bulk" && second.kind === "bulk") return "bulk_twice";
  if (first.version === null || second.version === null) return null;
  if (first.kind === "begin" && second.kind === "begin") return "begin_twice";
  if (first.kind === "end" && second.kind !== "end") return "after_end";
  const equal = first.version === second.version && first.digest === second.digest && first.at === second.at;
  if (equal && first.kind === second.kind) return "leaf_twice";
  if (first.kind === "end" && second.version <= first.version) return "end_twice";
  if (equal) return second.kind === "end" ? null : "leaf_twice";
  if (second.version === first.version) return "digest_twice";
  if (second.version < first.version) return "version_backwards";
  return second.at < first.at - MINUTE ? "time_backwards" : null;
}

/** What the leaves of one match, `[index, leaf]` in the order of the log, contradict each other in: `{code, version, sentence}`. */
function contradictions(placed) {
  const found = [];
  placed.forEach(([index, leaf], place) => {
    const codes = new Map();
    for (const [before, other] of placed.slice(0, place)) {
      const code = conflict(other, leaf);
      if (code && !codes.has(code)) codes.set(code, before);
    }
    for (const [code, before] of codes) found.push({ code, version: leaf.version, sentence: toldOf(code, leaf, [before, index]) });
  });
  return found;
}

const SAID = {
  begin_twice: "begins a second time",
  after_end: "goes on after its end",
  end_twice: "ends a second time",
  digest_twice: "has two entries of one version",
  version_backwards: "goes back to an earlier version",
  time_backwards: "has a version that is earlier than one before it",
  bulk_twice: "has two bulk files",
  leaf_twice: "has the same leaf twice",
  leaf_late: "has a leaf that came more than two hours after its entry",
  leaf_overdue: "has a version without a leaf, though two hours have passed",
  key_unproven: "has a signing key that did not sign its registration",
  key_shared: "has the signing key of another player",
};

const toldOf = (code, { subject }, indexes) => `In the log, ${subject} ${SAID[code]} (leaves ${indexes.join(", ")}).`;

/** Whether the leaves of a finding, `[index, leaf]` in the order of the log, show what it says. */
async function shows(code, placed) {
  const leaves = placed.map(([, leaf]) => leaf);
  const [first, second, third] = leaves;
  if (code === "leaf_late") {
    if (leaves.length !== 3 || first.subject !== third.subject || first.version === null || third.version === null) return false;
    return third.at + TWO_HOURS < second.at;
  }
  if (code === "key_unproven") {
    return leaves.length === 1 && first.kind === "signing_key" && !(await isProven(first.value));
  }
  if (leaves.length !== 2) return false;
  if (code === "key_shared" && !leaves.every(({ kind }) => kind === "signing_key")) return false;
  if (code === "key_shared") return first.digest === second.digest && first.subject !== second.subject;
  return conflict(first, second) === code;
}

const isFinding = shape({
  checkpoints: listOf(isText),
  code: isText,
  finding: one(1),
  leaves: listOf(shape({ index: isWhole, leaf: isObject, proof: isText })),
  path: listOf(isText),
  receipts: listOf(isText),
  vkeys: listOf(isText),
});

/** Check the file of a monitor. What it shows is a finding with its code; if it shows nothing, that is one with the code `shows_nothing`. */
async function foundByMonitor({ file, notes, finding }, complete) {
  const { report } = file;
  const nothing = (sentence) => report.found(null, "shows_nothing", sentence);
  if (!complete || file.lines !== 1 || !isFinding(finding) || finding.leaves.length > MOST_OF_A_FINDING)
    return nothing("It is not a finding of this format.");
  if (!(await canCheckSignatures())) return nothing("Signatures cannot be checked here.");
  if (!notes.keys.length) {
    notes.keys = finding.vkeys.map(readKey).filter(Boolean);
    report.unchecked.add("Whose keys these are: the file's own keys were taken. Give one that you have noted (--key).");
  }
  const fork = finding.code === "checkpoint_forked";
  if (fork ? finding.leaves.length || finding.receipts.length || finding.checkpoints.length !== 2 : !finding.leaves.length)
    return nothing("It does not have what shows such a finding.");
  if (!fork && (finding.checkpoints.length || finding.path.length)) return nothing("It has more than what shows such a finding.");
  const notesOf = fork ? finding.checkpoints : [...new Set(finding.leaves.map(({ proof }) => readProof(proof)?.checkpoint))];
  const heads = [];
  for (const text of notesOf) {
    const note = readNote(text);
    const head = note && readCheckpoint(note.text);
    const { good, bad } = note ? await signers(note, notes.keys) : { good: [], bad: [] };
    if (!head || bad.length || !good.some(({ kind, name }) => kind === ED25519 && name === head.origin))
      return nothing("A checkpoint in it is not signed by a key that is known.");
    heads.push(head);
  }
  report.checked.signatures += heads.length;
  if (fork) return forkShown(report, heads, finding.path) || nothing("The two checkpoints do not contradict each other.");
  if (heads.length !== 1) return nothing("Its leaves are not proven by one checkpoint.");
  return leavesShown(file, notes, finding, heads[0], nothing);
}

/** Whether two checkpoints contradict each other, the smaller one first. If so, that is a finding. */
function forkShown(report, [first, second], path) {
  if (first.origin !== second.origin || !first.size || first.size > second.size) return false;
  const hashes = path.map(unbase64);
  if (hashes.some((hash) => hash?.length !== 32)) return false;
  if (first.size === second.size ? path.length || first.root === second.root : !forkedPath(first, second, hashes)) return false;
  report.found(null, "checkpoint_forked", `The log ${first.origin} with ${second.size} leaves does not continue that with ${first.size}.`);
  return true;
}

/** Whether a path leads to the root of the second tree, and from another beginning than the first tree. */
function forkedPath(first, second, hashes) {
  const roots = rootsOf(first.size, second.size, hashes);
  return roots !== null && hex(roots[1]) === second.root && hex(roots[0]) !== first.root;
}

async function leavesShown(file, notes, { code, leaves, receipts }, head, nothing) {
  const { report } = file;
  const placed = [];
  for (const { index, leaf: value, proof: text } of leaves) {
    const proof = readProof(text);
    const raw = quietly(() => utf8(canonical(value)));
    if (!raw || proof.index !== index || provenRoot(leafHash(raw), index, head.size, proof.hashes) !== head.root)
      return nothing(`Leaf ${index} is not in the log where its proof says.`);
    placed.push([index, leafOf(value) ?? { kind: "other", subject: "", version: null, digest: "", at: 0, value }]);
  }
  report.checked.leaves += placed.length;
  if (placed.some(([index], place) => place && index <= placed[place - 1][0])) return nothing("Its leaves are not in the order of the log.");
  const [index, last] = placed.at(-1);
  if (code === "leaf_overdue") return overdueShown(file, notes, receipts, head, index, last, nothing);
  if (receipts.length || !(await shows(code, placed))) return nothing(`Its leaves do not show ${code}.`);
  report.found(last.version, code, toldOf(code, last, placed.map(([place]) => place)));
  return true;
}

/** Check that there is a receipt of a version that is more than two hours older than a leaf. */
async function overdueShown(file, notes, receipts, head, index, last, nothing) {
  const note = receipts.length === 1 ? readNote(receipts[0]) : null;
  const said = note && readStatement(note.text);
  const { good, bad } = note ? await signers(note, notes.keys) : { good: [], bad: [] };
  if (said?.kind !== "receipt" || bad.length || !good.some(({ kind }) => kind === ED25519))
    return nothing("It has no receipt by a key that is known.");
  if (said.at + TWO_HOURS >= last.at) return nothing("Its leaf does not show that two hours had passed.");
  file.report.found(said.version, "leaf_overdue", toldOf("leaf_overdue", { subject: said.match }, [index]));
  file.absent = { match: said.match, version: said.version, head };
  return true;
}

/** The root over hashes of whole subtrees, the largest first. */
const rootOf = (subtrees) => subtrees.map(([hash]) => hash).reduceRight((right, left) => node(left, right));

/**
 * Read a whole log: a line with its checkpoint, then the leaves, each after its length in two bytes. Keep the leaves of some matches.
 * Return `{note, head, latest, roots, leaves}`: `roots` by size, for the sizes that are wanted, `leaves` by match as `[index, leaf, text]`.
 */
async function readLog(input, matches, sizes) {
  let rest = new Uint8Array(0);
  let note = null;
  const log = { latest: 0, roots: new Map(), leaves: new Map([...matches].map((match) => [match, []])) };
  const subtrees = []; // the hashes of whole subtrees with their sizes, the largest first
  let size = 0;
  for await (const piece of input instanceof Uint8Array ? [input] : piecesOf(input)) {
    const bytes = rest.length ? joined([rest, piece]) : piece;
    let at = 0;
    if (note === null) {
      const end = bytes.indexOf(0x0a);
      const header = end < 0 ? null : valueOf(bytes.subarray(0, end));
      if (end < 0 && bytes.length < 1_000_000) {
        rest = bytes.slice();
        continue;
      }
      if (header?.log !== 1 || !isText(header.checkpoint)) throw new TypeError("a whole log begins with a line that has its checkpoint");
      note = header.checkpoint;
      at = end + 1;
    }
    while (at + 2 <= bytes.length) {
      const end = at + 2 + 256 * bytes[at] + bytes[at + 1];
      if (end > bytes.length) break;
      const raw = bytes.subarray(at + 2, end);
      grown(subtrees, leafHash(raw));
      keepLeaf(log, raw, size++);
      if (sizes.has(size)) log.roots.set(size, hex(rootOf(subtrees)));
      at = end;
    }
    rest = bytes.slice(at);
  }
  const head = note === null ? null : readCheckpoint(readNote(note)?.text ?? "");
  if (!head || rest.length || head.size !== size || (size && hex(rootOf(subtrees)) !== head.root))
    throw new TypeError("the leaves of a whole log are not those of its checkpoint");
  return { ...log, note, head };
}

/** Add the hash of a leaf to the subtrees of a tree. */
function grown(subtrees, hash) {
  let width = 1;
  while (subtrees.length && subtrees.at(-1)[1] === width) {
    hash = node(subtrees.pop()[0], hash);
    width *= 2;
  }
  subtrees.push([hash, width]);
}

function keepLeaf(log, raw, index) {
  const text = quietly(() => strict.decode(raw));
  const value = text && quietly(() => JSON.parse(text));
  const leaf = value && leafOf(value);
  if (!leaf || canonical(value) !== text) return;
  log.latest = Math.max(log.latest, leaf.at);
  log.leaves.get(leaf.subject)?.push([index, leaf, text]);
}

/** Compare all files with a whole log. */
async function comparedWithLog(readers, input) {
  const heads = readers.flatMap(({ file }) => [...file.checkpoints, ...(file.absent ? [file.absent.head] : [])]);
  const matches = new Set(readers.map(({ file }) => file.absent?.match ?? file.match).filter(isMatch));
  const log = await readLog(input, matches, new Set(heads.map(({ size }) => size)));
  for (const { file, notes, finding } of readers) {
    if (finding) absentInLog(file, log);
    else await fileInLog(file, notes, log);
  }
}

/** Look a version that is said to have no leaf up in a whole log. */
function absentInLog(file, log) {
  if (!file.absent || file.absent.known) return;
  const { match, version, head } = file.absent;
  if (log.head.origin !== head.origin || log.roots.get(head.size) !== head.root) return;
  file.absent.known = true;
  if (log.leaves.get(match).some(([index, leaf]) => index < head.size && leaf.version >= version)) {
    file.report.findings.length = 0;
    file.report.found(null, "shows_nothing", `The log has a leaf of version ${version} of the match, or of a later one.`);
  }
}

/** Compare a dossier or a record with a whole log: the log's leaves of its match are all in it, and contradict nothing. */
async function fileInLog(file, notes, log) {
  const { report, checkpoints, entries, last, head, match } = file;
  const { origin } = log.head;
  const mine = checkpoints.filter((checkpoint) => checkpoint.origin === origin);
  if (checkpoints.length && !mine.length) {
    report.unchecked.add(`The log ${origin} that you gave: the file shows nothing of that log.`);
    return;
  }
  if (!notes.keys.length)
    report.unchecked.add(`Whether the log ${origin} that you gave is that of the server: give a key that you have noted (--key).`);
  else if ((await notes.check(null, "The checkpoint of the log that you gave", log.note, origin)) === null) return;
  report.checked.logs++;
  for (const { size, root } of mine) {
    if (size > log.head.size)
      report.unchecked.add(`Whether the log of ${size} leaves, which the file shows, continues that of ${log.head.size}.`);
    else if (log.roots.get(size) !== root && size)
      report.found(null, "checkpoint_forked", `The first ${size} leaves of the log ${origin} have another root than in the file.`);
  }
  const placed = log.leaves.get(match) ?? [];
  for (const { code, version, sentence } of contradictions(placed)) {
    if (ALARMS.has(code)) report.found(version, code, sentence);
    else report.unchecked.add(`Why the log is so: ${sentence}`);
  }
  const shown = new Set(file.kinds.leaf.map(({ leaf: given }) => canonical(given)));
  const size = mine.length ? Math.min(...mine.map((one) => one.size)) : 0;
  for (const [index, leaf, text] of placed) {
    if (shown.has(text)) continue;
    if (index < size) report.found(leaf.version, "leaf_withheld", `The log has a leaf of version ${leaf.version} that the file lacks.`);
    const entry = entries.get(leaf.version);
    if (entry || leaf.version <= last) {
      if (entry?.digest !== leaf.digest || entry.at !== leaf.at)
        report.found(leaf.version, "leaf_differs", `Leaf ${index} of the log and the entry of version ${leaf.version} disagree.`);
    } else if (head && leaf.at < head.at - MINUTE && !file.behind) {
      report.found(last + 1, "truncated", `The log has a leaf of version ${leaf.version}.`);
    } else report.unchecked.add(`Version ${leaf.version}, of which the log has a leaf: it is later than the file.`);
  }
  coveredByLog(file, log, placed.map(([, leaf]) => leaf));
}

/** Check that a whole log has the leaves that were due when its latest leaf was added. */
function coveredByLog({ report, entries, opened, hidden }, { latest }, leaves) {
  const isOld = (version) => entries.has(version) && entries.get(version).at < latest - TWO_HOURS;
  const due = [...entries.keys()].filter(isOld).reduce((most, version) => Math.max(most, version), 0);
  if (due && !hidden && !leaves.some(({ version }) => version >= due))
    report.found(due, "leaf_missing", `The log has no leaf of version ${due} or a later one, and two hours have passed in it.`);
  for (const [kind, version] of [["begin", 1], ["end", opened]]) {
    if (version !== null && isOld(version) && !leaves.some((leaf) => leaf.kind === kind))
      report.found(version, "leaf_missing", `The log has no leaf of the kind ${kind} of the match, and two hours have passed in it.`);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Files, and what others have kept

const STEP = 2000; // lines between two reports of progress

/**
 * Check one file or several: dossiers and records. `input` is an array of bytes, a stream of them, or a list of either.
 *
 * `keys` are the keys that you have noted, `receipts` and `checkpoints` the notes that you have kept, each as text,
 * `consistency` answers of the log `{from, to, hashes}`, `now` the moment after which no file may be written, in ms. `logs` are whole logs, in the
 * forms of `input`. A checkpoint counts only if `quorum` of the `witnesses`, which are keys, have cosigned it; without `quorum`, all of them.
 * `progress` is called with the number of lines that were read.
 * `signers` of a file are `{actor, player, key, versions, registered, revoked, late}` for each key that signed; `told` makes sentences of them.
 * `unsigned` of a file counts by seat what nobody signed, `byServer` what the system, artificial players and substitutes did.
 * The answer is `{ok, files, findings, checked, unchecked, receipts, checkpoints}`: a finding is `{file, version, code, sentence}` with the place
 * of its file in the list, the first version that fails first; `checked` counts, `unchecked` are sentences. `receipts` says of each receipt
 * `{match, version, state}`: it `agrees` with the files or `differs`, they do not have its version (`beyond`), no file is of its match
 * (`elsewhere`), or no key that is known has signed it (`unsigned`). `checkpoints` are the notes of those that the files show.
 */
export async function verify(
  input,
  { keys = [], receipts = [], checkpoints = [], consistency = [], now = null, logs = [], witnesses = [], quorum = null, progress = null } = {},
) {
  const inputs = Array.isArray(input) ? input : [input];
  const trusted = keys.map(readKey).filter(Boolean);
  const readers = [];
  if (trusted.length !== keys.length) throw new TypeError("a key must have the form <name>+<id>+<base64>");
  const asked = quorumOf(quorum, witnesses);
  for (const source of inputs) {
    const reader = new Reader();
    reader.notes.quorum = asked;
    const complete = await read(source, reader, progress);
    await reader.finish(complete, trusted, checkpoints.length > 0);
    readers.push(reader);
  }
  const held = await compare(readers, receipts, checkpoints, consistency);
  for (const log of logs) await comparedWithLog(readers, log);
  for (const { file } of readers)
    if (file.absent && !file.absent.known)
      file.report.unchecked.add("That no leaf of the log has that version or a later one: give the whole log (--log).");
  for (const { file } of readers)
    if (now !== null && file.head?.at > now) file.report.found(null, "time_backwards", "The file says that it was written later than now.");
  const files = readers.map(({ file, finding }) => ({
    match: file.match,
    game: file.created.game ?? null,
    kind: finding ? "finding" : file.record ? "record" : "dossier",
    viewer: file.head?.viewer ?? null,
    versions: file.last,
    over: file.ended !== null,
    at: file.head?.at ?? null,
    name: file.head?.name ?? null,
    signers: file.signers,
    unsigned: file.unsigned ?? {},
    byServer: file.byServer ?? 0,
  }));
  const reports = readers.map(({ file }) => file.report);
  const findings = reports.flatMap(({ findings: found }, file) => found.map((finding) => ({ file, ...finding })));
  findings.sort((first, second) => first.file - second.file || (first.version ?? Infinity) - (second.version ?? Infinity) || 0);
  const checked = {};
  for (const { checked: counts } of reports)
    for (const [name, count] of Object.entries(counts)) checked[name] = (checked[name] ?? 0) + count;
  const unchecked = [...new Set(reports.flatMap((one) => [...one.unchecked]))];
  const shown = [...new Set(readers.flatMap(({ file }) => file.checkpoints.map(({ note }) => note)))];
  return { ok: !findings.length, files, findings, checked, unchecked, receipts: held, checkpoints: shown };
}

/** How many witnesses must have cosigned a checkpoint, and their keys. */
function quorumOf(least, witnesses) {
  const keys = [...new Set(witnesses)].map(readKey);
  if (!keys.every((key) => key?.kind === COSIGNATURE))
    throw new TypeError("a witness has a key of the kind 4, in the form <name>+<id>+<base64>");
  if (least !== null && !(isWhole(least) && least >= 1 && least <= keys.length))
    throw new TypeError("a quorum is at least 1, and at most the number of witnesses that are named");
  return { least: least ?? keys.length, witnesses: keys };
}

/** Feed all lines of a file. Return whether it ends with a line feed. */
async function read(input, reader, progress) {
  let rest = []; // pieces of a line whose end has not come yet
  for await (const piece of input instanceof Uint8Array ? [input] : piecesOf(input)) {
    let from = 0;
    for (let to; (to = piece.indexOf(0x0a, from)) >= 0; from = to + 1) {
      const line = piece.subarray(from, to);
      reader.feed(rest.length ? joined([...rest, line]) : line);
      rest = [];
      if (progress && reader.file.lines % STEP === 0) {
        progress(reader.file.lines);
        await new Promise((resolve) => setTimeout(resolve));
      }
    }
    if (from < piece.length) rest.push(piece.slice(from));
  }
  if (rest.length) reader.feed(joined(rest));
  return rest.length === 0;
}

/** The pieces of a stream, also where a stream of the web cannot be gone through by itself (Safari). */
function piecesOf(input) {
  return input[Symbol.asyncIterator] || !input.getReader ? input : pieces();

  async function* pieces() {
    const reader = input.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  }
}

function joined(pieces) {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Compare files with one another, and with what others have kept. Return what came of each receipt. */
async function compare(readers, receipts, checkpoints, consistency) {
  const files = readers.map(({ file }) => file);
  for (const file of files) {
    for (const other of files) if (other !== file && other.match === file.match) sameMatch(file, other);
    begun(file, files);
  }
  const held = [];
  for (const text of receipts) held.push(await keptReceipt(readers, text));
  const shown = files.flatMap((file) => file.checkpoints.map((checkpoint) => ({ file, ...checkpoint })));
  const kept = await keptCheckpoints(readers, checkpoints);
  forks([...shown, ...kept], consistency);
  return held;
}

/** Compare a file with another one of its match. */
function sameMatch(file, other) {
  for (const said of other.promises) receipted(file, said);
  const differs = [...file.entries].find(([version, { digest }]) => (other.entries.get(version)?.digest ?? digest) !== digest);
  if (differs) file.report.found(differs[0], "files_differ", `Version ${differs[0]} has another digest in another file of this match.`);
}

/** Compare a match that began from a position of another one with that one, if it is at hand. */
function begun({ created: { origin }, report }, files) {
  if (!isObject(origin)) return;
  const { match, version, digest } = origin;
  const there = files.find((other) => other.match === match)?.entries.get(version);
  if (!there)
    report.unchecked.add("Whether the position from which the match began is that of its origin: give the file of that match, too.");
  else if (there.digest !== digest) report.found(1, "origin_differs", `The match from which this one began has another version ${version}.`);
}

/** Compare a receipt that somebody has kept with the files of its match. Return {match, version, state}. */
async function keptReceipt(readers, text) {
  const said = readStatement(readNote(text)?.text ?? "");
  const right = said?.kind === "receipt";
  const concerned = right ? readers.filter(({ file }) => file.match === said.match) : readers.slice(0, 1);
  if (!concerned.length) readers[0].file.report.unchecked.add(`A receipt of the match ${said.match}: no file of it was given.`);
  const states = [];
  for (const { file, notes } of concerned) {
    if ((await notes.check(said?.version ?? null, "A receipt that you gave", text)) === null) states.push("unsigned");
    else if (right) states.push(receipted(file, said));
    else file.report.found(null, "signature_broken", "A receipt that you gave is not one.");
  }
  const state = ["differs", "unsigned", "agrees", "beyond"].find((one) => states.includes(one)) ?? (right ? "elsewhere" : "unsigned");
  return { match: said?.match ?? null, version: said?.version ?? null, state };
}

/** Read the checkpoints that somebody has kept. Return those that are signed, with the file among whose findings they count. */
async function keptCheckpoints(readers, checkpoints) {
  const dossiers = readers.filter(({ file }) => file.head);
  const { file, notes } = dossiers[0] ?? readers[0] ?? {};
  const kept = [];
  for (const text of checkpoints) {
    const checkpoint = readCheckpoint(readNote(text)?.text ?? "");
    const good = (await notes.check(null, "A checkpoint that you gave", text, checkpoint?.origin)) !== null;
    if (checkpoint && good) kept.push({ file, kept: true, ...checkpoint });
  }
  for (const { file: dossier } of dossiers) {
    const shown = new Set(dossier.checkpoints.map(({ origin }) => origin));
    for (const { origin } of kept.filter((head) => !shown.has(head.origin)))
      dossier.report.unchecked.add(`The checkpoint of the log ${origin} that you gave: the file shows nothing of that log.`);
  }
  return kept;
}

/** Look for two checkpoints of one log that cannot both be true. `heads` are those of the files and those that were kept. */
function forks(heads, consistency) {
  const logs = new Map();
  const told = new Set();
  const tell = ({ file }, code, sentence) => told.has(code) || (told.add(code), file.report.found(null, code, sentence));
  for (const head of heads) {
    const sizes = logs.get(head.origin) ?? logs.set(head.origin, new Map()).get(head.origin);
    const before = sizes.get(head.size);
    if (!before) sizes.set(head.size, head);
    else if (before.root !== head.root) tell(before, "checkpoint_forked", `The log ${head.origin} shows two trees of ${head.size} leaves.`);
  }
  if (logs.size > 1) heads[0].file.report.unchecked.add("Whether the logs agree: their checkpoints are of logs with different names.");
  for (const [origin, sizes] of logs) {
    const proven = consistency.filter(({ from, to }) => from < to && sizes.has(from) && sizes.has(to));
    for (const { from, to, hashes } of proven) {
      if (continues(sizes.get(from), sizes.get(to), hashes)) continue;
      tell(sizes.get(from), "checkpoint_forked", `The log ${origin} of ${to} leaves does not continue that of ${from}.`);
    }
    if (sizes.size > proven.length + 1) {
      heads[0].file.report.unchecked.add(
        "Whether checkpoints of different sizes are of one log: give the proof of consistency (--consistency).",
      );
    }
  }
}

/** Whether a proof shows that the larger of two trees continues the smaller one (RFC 9162, 2.1.4.2). `hashes` are base64. */
export function continues(small, large, hashes) {
  const path = Array.isArray(hashes) ? hashes.map((hash) => (isText(hash) ? unbase64(hash) : null)) : [null];
  if (path.some((hash) => hash?.length !== 32) || small.size > large.size) return false;
  if (small.size === 0) return path.length === 0;
  if (small.size === large.size) return path.length === 0 && small.root === large.root;
  const whole = Number.isInteger(Math.log2(small.size)) ? [unhex(small.root)] : [];
  const roots = rootsOf(small.size, large.size, [...whole, ...path]);
  return roots !== null && hex(roots[0]) === small.root && hex(roots[1]) === large.root;
}

/**
 * The roots of two trees that begin alike, as a path gives them, or null if it is none of these sizes. If the first tree is one whole subtree,
 * its root comes before the path.
 */
function rootsOf(small, large, [first, ...path]) {
  let place = small - 1;
  let last = large - 1;
  while (place % 2) {
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  let before = first;
  let after = first;
  if (!first) return null;
  const left = (hash) => ([before, after] = [node(hash, before), node(hash, after)]);
  const right = (hash) => (after = node(after, hash));
  return climb(place, last, path, left, right) ? [before, after] : null;
}

// ---------------------------------------------------------------------------------------------------------------------
// The command

const USAGE = `usage: node verify.mjs FILE... [options]

Check dossiers and records of matches, and what a monitor has found, without a server and without the rules.

  --key VKEY           a key of the server that you have noted
  --receipt FILE       a receipt that you keep: the note, or a JSON object with the member "receipt"
  --checkpoint FILE    a checkpoint of the log that you keep
  --consistency FILE   the answer of GET /log/consistency?from=&to=
  --log FILE           a whole log, as ./run witness export writes it
  --witness VKEY       a witness that you trust
  --quorum N           how many of these must have cosigned a checkpoint (all)
  --now TIME           what time it is, such as 2026-01-31T12:00:00Z: no file may be later
  --json               print what was found as JSON

It ends with 0 if everything that was checked holds, with 1 if something was found, with 2 if a file cannot be read, or
shows nothing. All options but --quorum, --now and --json may be given several times.`;

/** Run as a command. Return the exit code. */
async function main(words) {
  const [{ createReadStream, readFileSync }, { parseArgs }] = await Promise.all([import("node:fs"), import("node:util")]);
  const texts = { type: "string", multiple: true, default: [] };
  const flag = { type: "boolean" };
  const text = { type: "string" };
  const several = { key: texts, receipt: texts, checkpoint: texts, consistency: texts, log: texts, witness: texts };
  const options = { ...several, quorum: text, now: text, json: flag, help: { ...flag, short: "h" } };
  const { values, positionals: files } = quietly(() => parseArgs({ args: words, options, allowPositionals: true })) ?? { positionals: [] };
  if (values?.help) {
    console.log(USAGE);
    return 0;
  }
  if (!files.length) {
    console.error(USAGE);
    return 2;
  }
  try {
    const contents = (file) => readFileSync(file, "utf8");
    const now = values.now === undefined ? null : momentOf(values.now);
    const result = await verify(
      files.map((file) => createReadStream(file)),
      {
        keys: values.key,
        receipts: values.receipt.map(contents).map(receiptIn),
        checkpoints: values.checkpoint.map(contents),
        consistency: values.consistency.map(contents).map(JSON.parse),
        logs: values.log.map((file) => opened(file, createReadStream)),
        witnesses: values.witness,
        quorum: values.quorum === undefined ? null : Number(values.quorum),
        now,
      },
    );
    console.log(values.json ? JSON.stringify(result) : report(files, result, now ?? Date.now()));
    return result.ok ? 0 : result.findings.some(({ code }) => code === "shows_nothing") ? 2 : 1;
  } catch (error) {
    console.error(error.message);
    return 2;
  }
}

/** The pieces of a file, which is opened when they are asked for. */
async function* opened(file, createReadStream) {
  yield* createReadStream(file);
}

/** The note of a receipt that was kept, alone or in an answer of the service. */
const receiptIn = (text) => quietly(() => JSON.parse(text))?.receipt ?? text;

/** The words for one of what was checked. */
const ONE = {
  entries: "entry",
  digests: "digest",
  salts: "salt",
  rolls: "roll",
  moves: "move",
  signatures: "signature",
  receipts: "receipt",
  reads: "read",
  leaves: "leaf",
  "running hashes": "running hash",
  logs: "log",
};

/** The moment that a text names, in ms. */
function momentOf(text) {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) throw new TypeError("--now must have the form 2026-01-31T12:00:00Z");
  return at;
}

/** The day (UTC) of a moment in ms since 1970. */
function day(at) {
  const text = quietly(() => new Date(at).toISOString());
  return /^\d{4}-/.test(text) ? text.slice(0, 10) : `${at} ms after 1970`;
}

/** Sentences for people about who signed the entries of a file of `verify`, and about those that nobody signed, without full stops. */
export const told = (file) => [...toldOfSigners(file), ...toldOfOthers(file)];

function toldOfSigners({ signers }) {
  const before = new Set();
  return signers.map(({ actor, player, versions, registered, revoked, late }) => {
    const who = `${actor} ${player}`;
    const again = before.has(who);
    before.add(who);
    const moves = `${versions.length} move${versions.length === 1 ? "" : "s"} of ${actor}${actor === player ? "" : ` (${player})`}`;
    const key = again ? "another key, registered on" : "the key that this player registered on";
    const unknown = again ? "another key, whose owner is not checked" : "a key whose owner is not checked";
    const signedBy = registered === null ? unknown : `${key} ${day(registered)}${late ? ", after the match began" : ""}`;
    return `${moves}${again ? ` from version ${versions[0]} on` : ""}, signed by ${signedBy}${revoked === null ? "" : `; it was revoked on ${day(revoked)}`}`;
  });
}

function toldOfOthers({ kind, versions, unsigned, byServer }) {
  const actions = (count) => `${count} action${count === 1 ? "" : "s"}`;
  const sentences = Object.entries(unsigned).map(([actor, count]) => `${actions(count)} of ${actor}, not signed`);
  const covers = `signed by the server: its signature on version ${versions} covers them`;
  const bare = "not signed: a record has no signature of the server";
  if (byServer) sentences.push(`${actions(byServer)} of the system and of artificial players, ${kind === "dossier" ? covers : bare}`);
  return sentences;
}

const UNITS = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
];

/** When a file was written, as it says, and how long ago that is. */
function written(at, now) {
  const moment = quietly(() => new Date(at).toISOString().replace(/\.\d+/, "")) ?? `${at} ms after 1970`;
  if (at > now) return `${moment}, which is yet to come`;
  const [unit, one] = UNITS.find(([length]) => now - at >= 2 * length) ?? UNITS.at(-1);
  const count = Math.floor((now - at) / unit);
  return `${moment}, ${count} ${one}${count === 1 ? "" : "s"} ago`;
}

function report(names, { files, findings, checked, unchecked }, now) {
  const lines = [];
  files.forEach((each, place) => {
    const { kind, match, versions, viewer, at } = each;
    const mine = findings.filter(({ file }) => file === place);
    const seen = viewer === null ? "" : viewer === "all" ? " in full" : ` as ${viewer} sees it`;
    const what = kind === "finding" ? "what a monitor has found" : `${kind} of ${match ?? "no match"}${seen}, ${versions} versions`;
    lines.push(`${names[place]}: ${what}`);
    if (at !== null) lines.push(`  Written, as the file says, ${written(at, now)}.`);
    lines.push(...told(each).map((sentence) => `  ${sentence}.`));
    lines.push(
      ...(mine.length ? mine : [null]).map((finding) =>
        finding ? `  version ${finding.version ?? "-"}: ${finding.code}: ${finding.sentence}` : "  Everything that was checked holds.",
      ),
    );
  });
  lines.push(
    `Checked: ${Object.entries(checked)
      .map(([name, count]) => `${count} ${count === 1 ? ONE[name] : name}`)
      .join(", ")}.`,
  );
  if (unchecked.length) lines.push("Not checked:", ...unchecked.map((sentence) => `  ${sentence}`));
  return lines.join("\n");
}

if (globalThis.process?.versions?.node && process.argv[1]) {
  const [{ realpathSync }, { fileURLToPath }] = await Promise.all([import("node:fs"), import("node:url")]);
  if (quietly(() => realpathSync(process.argv[1]) === realpathSync(fileURLToPath(import.meta.url))))
    process.exitCode = await main(process.argv.slice(2));
}
