// What this browser keeps of matches and logs: tables of an IndexedDB. Where nothing can be kept, such as in some private windows, they
// last as long as the page.

const NAME = "warledger.pages";
const TABLES = ["receipts", "logs", "signing"];

/** Tables in memory. `lasting`: whether what is kept is there after the page is closed. */
export class Memory {
  lasting = false;
  #tables = new Map(TABLES.map((table) => [table, new Map()]));

  async get(table, id) {
    return this.#tables.get(table).get(id);
  }

  /** Return all values of a table by their ids. */
  async all(table) {
    return new Map(this.#tables.get(table));
  }

  /** Replace a value by what `step` makes of it, at once; undefined removes it. Return the new value. */
  async change(table, id, step) {
    const made = step(this.#tables.get(table).get(id));
    if (made === undefined) this.#tables.get(table).delete(id);
    else this.#tables.get(table).set(id, made);
    return made;
  }
}

/** The same in an IndexedDB. A change is one transaction, so that two tabs do not lose what the other one keeps. */
class Database {
  lasting = true;

  constructor(opened) {
    this.opened = opened;
  }

  get(table, id) {
    return this.#done(table, "readonly", (store, give) => (store.get(id).onsuccess = ({ target }) => give(target.result)));
  }

  all(table) {
    return this.#done(table, "readonly", (store, give) => {
      const found = new Map();
      give(found);
      store.openCursor().onsuccess = ({ target: { result } }) => {
        if (!result) return;
        found.set(result.key, result.value);
        result.continue();
      };
    });
  }

  change(table, id, step) {
    return this.#done(table, "readwrite", (store, give) => {
      store.get(id).onsuccess = ({ target }) => {
        const made = step(target.result);
        give(made);
        if (made === undefined) store.delete(id);
        else store.put(made, id);
      };
    });
  }

  #done(table, mode, work) {
    return new Promise((resolve, reject) => {
      const transaction = this.opened.transaction(table, mode);
      let given;
      transaction.oncomplete = () => resolve(given);
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
      work(transaction.objectStore(table), (value) => (given = value));
    });
  }
}

function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => TABLES.forEach((table) => request.result.createObjectStore(table));
    request.onsuccess = () => resolve(new Database(request.result));
    request.onerror = request.onblocked = () => reject(request.error);
  });
}

const PATIENCE = 3_000; // milliseconds: some browsers never answer
const late = () => new Promise((_, reject) => setTimeout(reject, PATIENCE));

let opened = null;

/** Return the tables of this browser, or of this page if the browser keeps nothing. */
export const storage = () => (opened ??= Promise.race([Promise.resolve().then(open), late()]).catch(() => new Memory()));
