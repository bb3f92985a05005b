// What the server has said of a match, held against what it says now: the chain of digests, and receipts. It is written from
// docs/auditing.md. WebCrypto computes the hashes: browsers have it on pages that came over https, and on localhost.

import { base64, canonical, decoded } from "./canonical.js";
import { isSigned } from "./signing.js";
import { BadReceipt, BrokenChain, TwoHistories } from "./problems.js";

const START = "0".repeat(64);
const RECEIPT = "warledger.org/receipt/v1";
const OTHER = "what the server says now is not what it has signed before";

/** Whether digests can be computed here. */
export const canCheck = () => globalThis.crypto?.subtle !== undefined;

async function hashed(prefix, text) {
  const head = Uint8Array.from(prefix.match(/../g), (byte) => parseInt(byte, 16));
  const tail = new TextEncoder().encode(text);
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the hash of a part of an entry: from its salt if the part is shown whole, else from the proof. */
const partHash = (part, proof) => proof.leaf ?? hashed(proof.salt, canonical(part));

/** Return the digest of an entry with its proof, after the digest of the entry before; that of version 1 follows 64 zeros. */
export async function digestOf(previous, match, entry) {
  const { proof, actor, at, revision, version, secret } = entry;
  if (entry.events.length !== proof.events.length) throw new RangeError("a proof for each event");
  const events = entry.events.map((event, place) => [event, proof.events[place]]);
  const parts = [[entry.action, proof.action], [null, proof.request], [entry.signed ?? null, proof.signed], ...events];
  const leaves = await Promise.all(parts.map(([part, one]) => partHash(part, one)));
  const digested = { actor, at, format: proof.format, leaves, match, revision, rules: proof.rules, version };
  return hashed(previous, canonical(secret === undefined ? digested : { ...digested, secret }));
}

/** Return what a checkpoint of the server's log says, {origin, size, root}, without a look at its signatures; or null if it is none. */
export function readCheckpoint(note) {
  const [origin, size, root] = note.split("\n\n", 1)[0].split("\n");
  return root !== undefined && /^(0|[1-9]\d*)$/.test(size) ? { origin, size: Number(size), root } : null;
}

/** Return whether hashes in base64 prove that the first log is the beginning of the second one (RFC 9162, 2.1.4.2). */
export async function continues(first, second, hashes) {
  if (first.size === second.size) return first.root === second.root;
  if (first.size === 0) return true;
  const [old, now] = await rootsOf(first, second, hashes);
  return old === first.root && now === second.root;
}

/** Return the roots of a log and of a larger one as hashes give them. */
export async function rootsOf(first, second, hashes) {
  const [start, ...path] = Number.isInteger(Math.log2(first.size)) ? [first.root, ...hashes] : hashes;
  let [number, last] = [first.size - 1, second.size - 1];
  const up = () => ([number, last] = [Math.floor(number / 2), Math.floor(last / 2)]);
  while (number % 2) up();
  let [old, now] = [start, start];
  for (const each of path) {
    if (last === 0) return [];
    if (number % 2 || number === last) {
      [old, now] = [await node(each, old), await node(each, now)];
      while (number % 2 === 0 && number) up();
    } else now = await node(now, each);
    up();
  }
  return last === 0 ? [old, now] : [];
}

async function node(left, right) {
  return base64(await crypto.subtle.digest("SHA-256", new Uint8Array([1, ...decoded(left), ...decoded(right)])));
}

/** Return what a receipt says, {match, version, digest, at}, without a look at its signature; or null if it is none. */
export function readReceipt(note) {
  const [first, match, version, digest, at] = note.split("\n\n", 1)[0].split("\n");
  return first === RECEIPT && at !== undefined ? { match, version: Number(version), digest, at: Number(at) } : null;
}

const same = (one, other) => one.digest === other.digest && one.at === other.at;

/** The chain of a match as far as it was checked, and its receipts. `version` and `digest`: the last entry that was checked. */
export class Evidence {
  constructor(match, receipts = null) {
    this.match = match;
    this.receipts = receipts;
    this.notes = null; // by version
    this.first = 1; // the version from which on entries are checked
    this.checked = []; // digest and time of version 1, 2, 3, …
    this.before = Promise.resolve(); // what is being checked: one after the other, whoever reads
  }

  get version() {
    return this.checked.length;
  }

  get digest() {
    return this.checked.at(-1)?.digest ?? START;
  }

  /** Return the digest of a version that was checked, or undefined. */
  digestAt(version) {
    return this.checked[version - 1]?.digest;
  }

  /** Return the receipts that were kept, by version. */
  async kept() {
    return [...(await this.#kept())].sort(([one], [other]) => one - other).map(([, note]) => note);
  }

  /** Return the receipt that was kept of a version, or undefined. */
  async receiptAt(version) {
    return (await this.#kept()).get(version);
  }

  /** Begin with the version of a receipt: entries before it are not checked, nor signatures of who saw only those. */
  begin(note) {
    const { version, digest, at } = readReceipt(note);
    this.first = version;
    this.checked = [];
    this.checked[version - 1] = { digest, at };
  }

  /**
   * Check the next entry, or one that comes again. It has its proof. Throw BrokenChain or TwoHistories.
   *
   * A signature of its actor is checked, too. Its actor was shown the same history, or the signature is not right here.
   */
  entry(entry) {
    return this.#next(async () => {
      const { digest, at, version } = entry;
      const broken = (sentence, expected = null) => new BrokenChain(this.match, version, sentence, { entry, expected });
      if (version > this.version + 1) throw broken(`the entry after version ${this.version} should come next`);
      const expected = await digestOf(this.checked[version - 2]?.digest ?? START, this.match, entry).catch(() => null);
      if (expected === null) throw broken("the proof does not fit the entry");
      if (expected !== digest) throw broken("the digest does not follow from the entry before and what is shown of this one", expected);
      if (entry.signed !== undefined && !(await this.#isSigned(entry))) {
        throw broken(`${entry.actor} has not signed this action after the history that is shown here`, expected);
      }
      if (version <= this.version) {
        if (!same(this.checked[version - 1], { digest, at })) throw broken("the entry was another one before", this.checked[version - 1].digest);
        return;
      }
      this.checked.push({ digest, at });
      this.#compare((await this.#kept()).get(version));
    });
  }

  /** Keep a receipt that the server has just given. Throw TwoHistories or BadReceipt. */
  receipt(note) {
    return this.#next(async () => {
      const receipt = readReceipt(note);
      const bad = (sentence) => new BadReceipt(this.match, receipt?.version ?? this.version, sentence, { receipt: note });
      if (receipt === null) throw bad("this is no receipt");
      if (receipt.match !== this.match) throw bad(`the receipt is for the match ${receipt.match}`);
      const notes = await this.#kept();
      const kept = notes.get(receipt.version);
      const differs = kept !== undefined && !same(readReceipt(kept), receipt);
      if (kept === undefined || differs) await this.receipts?.keep(note); // the second one, too, if it differs
      if (differs) throw new TwoHistories(this.match, receipt.version, OTHER, { kept, received: note });
      notes.set(receipt.version, note);
      this.#compare(note);
    });
  }

  /** Return whether the actor of an entry has signed its action, at a version before it and with the digest that this has here. */
  async #isSigned({ actor, action, version, signed }) {
    if (1 <= signed?.seen && signed.seen < this.first) return true;
    const digest = this.digestAt(signed?.seen);
    return digest !== undefined && signed.seen <= version - signed.place && isSigned({ ...signed, match: this.match, actor, digest }, action, signed);
  }

  #next(check) {
    const done = this.before.then(check);
    this.before = done.catch(() => {});
    return done;
  }

  async #kept() {
    this.notes ??= this.receipts === null ? new Map() : await this.receipts.of(this.match);
    return this.notes;
  }

  /** Hold a receipt against the entry of its version, if that has come. */
  #compare(note) {
    const receipt = note === undefined ? null : readReceipt(note);
    const entry = receipt === null ? undefined : this.checked[receipt.version - 1];
    if (entry === undefined || same(entry, receipt)) return;
    throw new TwoHistories(this.match, receipt.version, OTHER, { kept: note, received: entry.digest });
  }
}
