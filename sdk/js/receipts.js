// Where receipts are kept, and who has signed them. A store keeps lines of text under names: `lines(name)` returns them, `append(name, line)`
// adds one. folder.js has a store for Node and Deno. All have the same content as the folders of the Python package.

import { decoded } from "./canonical.js";
import { readReceipt } from "./evidence.js";
import { BadReceipt, TwoHistories } from "./problems.js";

const KEYS = "server-keys.txt";

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

/** A store in an IndexedDB of the browser. */
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

  async #asked(mode, ask) {
    this.#opened ??= answered(indexedDB.open(this.name, 1), ({ result }) =>
      result.createObjectStore("lines", { autoIncrement: true }).createIndex("name", "name"),
    );
    return answered(ask((await this.#opened).transaction("lines", mode).objectStore("lines")));
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
    const good = await Promise.all(signatures(note, await this.keys()).map(verifies));
    const sentence = "no key of the server that is trusted has signed the receipt";
    if (!good.includes(true)) throw new BadReceipt(match, version, sentence, { receipt: note });
    await this.store.append(`${match}.jsonl`, JSON.stringify(note));
  }
}

const SPKI = [48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0]; // what stands before the bytes of an Ed25519 key in its DER form

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

/** Return whether an Ed25519 signature is right. */
async function verifies({ key, signature, text }) {
  let imported;
  try {
    imported = await crypto.subtle.importKey("spki", new Uint8Array([...SPKI, ...key]), { name: "Ed25519" }, false, ["verify"]);
  } catch (reason) {
    return reason.name === "NotSupportedError" || reason instanceof TypeError; // no Ed25519, or no WebCrypto at all
  }
  return crypto.subtle.verify({ name: "Ed25519" }, imported, signature, new TextEncoder().encode(text));
}
