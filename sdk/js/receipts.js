// Where receipts are kept, and who has signed them. A store keeps lines of text under names: `lines(name)` returns them, `append(name, line)`
// adds one. One that can keep secrets also has `signingKey(player, revoked)`: the key with which the player signs, which it makes if there is
// none, or if it is one of those that are revoked. folder.js has a store for Node and Deno. All have the content of the folders in Python.

import { decoded } from "./canonical.js";
import { readCheckpoint, readReceipt } from "./evidence.js";
import { BadReceipt, TwoHistories } from "./problems.js";
import { newKey, verifies } from "./signing.js";

const KEYS = "server-keys.txt";
const LOG = "log.jsonl";
const FOLDER = "./folder.js"; // which bundlers for browsers must not follow

/** A store that lasts as long as the program. */
export class Memory {
  #lines = new Map();

  async lines(name) {
    return this.#lines.get(name) ?? [];
  }

  async append(name, line) {
    this.#lines.set(name, [...(this.#lines.get(name) ?? []), line]);
  }
}

/** A store in a `localStorage` or `sessionStorage`, for a few matches: browsers keep about five megabytes. */
export class WebStorage {
  constructor(storage = localStorage, prefix = "warledger/") {
    this.storage = storage;
    this.prefix = prefix;
  }

  async lines(name) {
    return JSON.parse(this.storage.getItem(this.prefix + name) ?? "[]");
  }

  async append(name, line) {
    this.storage.setItem(this.prefix + name, JSON.stringify([...(await this.lines(name)), line]));
  }
}

/** A store in an IndexedDB of the browser. No program can read the signing keys in it. */
export class Database {
  #opened = null;

  constructor(name = "warledger") {
    this.name = name;
  }

  async lines(name) {
    const found = await this.#asked("readonly", (lines) => lines.index("name").getAll(name));
    return found.map(({ line }) => line);
  }

  async append(name, line) {
    await this.#asked("readwrite", (lines) => lines.add({ name, line }));
  }

  async signingKey(player, revoked = []) {
    const kept = await this.#asked("readonly", (keys) => keys.get(player), "keys");
    if (kept !== undefined && !revoked.includes(kept.publicKey)) return kept;
    const made = await newKey();
    if (made !== null) await this.#asked("readwrite", (keys) => keys.put(made, player), "keys");
    return made;
  }

  async #asked(mode, ask, store = "lines") {
    this.#opened ??= answered(indexedDB.open(this.name, 1), ({ result }) => {
      result.createObjectStore("lines", { autoIncrement: true }).createIndex("name", "name");
      result.createObjectStore("keys");
    });
    return answered(ask((await this.#opened).transaction(store, mode).objectStore(store)));
  }
}

/** The store for those who name none: a folder under Node and Deno, a database of a browser. Where nothing can be kept it is a Memory. */
export class Usual {
  #opened = null;

  constructor(url, tell) {
    this.url = url;
    this.tell = tell;
  }

  async lines(name) {
    return (await this.#store()).lines(name);
  }

  async append(name, line) {
    return (await this.#store()).append(name, line);
  }

  async signingKey(player, revoked) {
    return (await this.#store()).signingKey?.(player, revoked) ?? null;
  }

  async where(name) {
    return (await this.#store()).where?.(name) ?? name;
  }

  #store() {
    this.#opened ??= this.#open().catch((reason) => {
      this.tell(`No receipts are kept, and no moves are signed: ${reason.message}. Name a store with \`receipts\`.`);
      return new Memory();
    });
    return this.#opened;
  }

  async #open() {
    if (globalThis.Deno ?? globalThis.process?.versions?.node) return (await import(FOLDER)).Folder.usual(this.url);
    return globalThis.indexedDB === undefined ? new Memory() : new Database();
  }
}

function answered(request, make) {
  return new Promise((resolve, reject) => {
    request.onupgradeneeded = () => make(request);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * The receipts in a store, and the keys of the server.
 *
 * `keys`: keys of the server that you have noted (vkeys). Without them the store notes the keys that the server publishes when it gives its
 * first receipt, and later ones as they come. Where WebCrypto has no Ed25519, signatures are taken as right.
 */
export class Receipts {
  constructor(store = new Memory(), keys = []) {
    this.store = store;
    this.given = keys;
  }

  /** Return the keys that are trusted. */
  async keys() {
    return this.given.length ? this.given : this.store.lines(KEYS);
  }

  /** Note keys that the server publishes, unless keys were given. */
  async note(published) {
    const known = await this.keys();
    if (!this.given.length) for (const key of published) if (!known.includes(key)) await this.store.append(KEYS, key);
  }

  /** Return whether a line of a note names a key that is trusted. */
  async knows(note) {
    return signatures(note, await this.keys()).length > 0;
  }

  /** Return the receipts of a match by version. Throw TwoHistories if two of them differ. */
  async of(match) {
    const found = new Map();
    for (const line of await this.store.lines(`${match}.jsonl`)) {
      const received = JSON.parse(line);
      const { version, digest, at } = readReceipt(received);
      const kept = found.get(version) ?? received;
      const before = readReceipt(kept);
      if (before.digest !== digest || before.at !== at) throw new TwoHistories(match, version, "there are two receipts", { kept, received });
      found.set(version, kept);
    }
    return found;
  }

  /** Check the signature of a receipt, and append it to those of its match. Throw BadReceipt. */
  async keep(note) {
    const { match, version } = readReceipt(note);
    const sentence = "no key of the server that is trusted has signed the receipt";
    if (!(await this.isSigned(note))) throw new BadReceipt(match, version, sentence, { receipt: note });
    await this.store.append(`${match}.jsonl`, JSON.stringify(note));
  }

  /** Return whether a key of the server that is trusted has signed a note. */
  async isSigned(note) {
    const good = signatures(note, await this.keys()).map(({ key, text, signature }) => verifies(key, text, signature));
    return (await Promise.all(good)).includes(true);
  }

  /** Return the newest checkpoint that was kept of a log, by default of any, or undefined. */
  async checkpoint(origin) {
    const notes = (await this.store.lines(LOG)).map((line) => JSON.parse(line));
    return notes.filter((note) => origin === undefined || readCheckpoint(note).origin === origin).at(-1);
  }

  /** Keep a checkpoint as the newest one. */
  async keepCheckpoint(note) {
    await this.store.append(LOG, JSON.stringify(note));
  }

  /** Return the key with which a player signs, or null if the store has none. A key that is `revoked` makes way for a new one. */
  async signingKey(player, revoked = []) {
    return (await this.store.signingKey?.(player, revoked)) ?? null;
  }

  /** Keep what an alarm has, with the keys of the server, under a name of its own. Its message then says where. */
  async save(alarm, more = {}) {
    const content = JSON.stringify({ alarm: alarm.name, ...alarm, ...more, server_keys: await this.keys() });
    const name = `alarm-${alarm.match || "log"}-${mark(content)}.json`;
    if (!(await this.store.lines(name)).length) await this.store.append(name, content);
    alarm.file = (await this.store.where?.(name)) ?? name;
    alarm.message += `. What proves it is in ${alarm.file}`;
  }
}

/** Return a short mark of a text. */
function mark(text) {
  let sum = 0;
  for (const letter of text) sum = (Math.imul(sum, 31) + letter.codePointAt(0)) >>> 0;
  return sum.toString(16).padStart(8, "0");
}

/** Return what there is to verify for each line of a note that names one of the keys. */
function signatures(note, vkeys) {
  const middle = note.lastIndexOf("\n\n");
  return note
    .slice(middle + 2)
    .split("\n")
    .flatMap((line) => {
      const [mark, name, encoded = ""] = line.split(" ");
      const bytes = decoded(encoded);
      const id = Array.from(bytes.slice(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("");
      const named = vkeys.filter((vkey) => mark === "—" && vkey.startsWith(`${name}+${id}+`));
      return named.map((vkey) => ({
        key: decoded(vkey.slice(name.length + id.length + 2)).slice(1),
        signature: bytes.slice(4),
        text: note.slice(0, middle + 1),
      }));
    });
}
