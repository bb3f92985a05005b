// The key of a player, kept in this browser alone: never in an address, never in the HTML of a page.

const KEY = "warledger.key";
const FORM = /^wl_p[a-z2-7]{16}_k[a-z2-7]{16}_[\w-]{43}$/;

export class Keeping {
  constructor(storage) {
    this.storage = storage;
    this.memory = null; // where nothing can be kept, such as in a private window, the key lasts as long as the page
  }

  get key() {
    try {
      return this.storage.getItem(KEY) ?? this.memory;
    } catch {
      return this.memory;
    }
  }

  /** Keep a key. Return whether it will be there after the page is closed. */
  keep(key) {
    try {
      this.storage.setItem(KEY, key);
      this.memory = null; // so that a key that another tab forgets is forgotten here, too
      return true;
    } catch {
      this.memory = key;
      return false;
    }
  }

  forget() {
    this.memory = null;
    try {
      this.storage.removeItem(KEY);
    } catch {
      // nothing was kept
    }
  }

  /** Return the id of the player of the key, or null. */
  get player() {
    return this.key === null ? null : (this.key.split("_")[1] ?? null);
  }

  get headers() {
    return this.key === null ? {} : { Authorization: `Bearer ${this.key}` };
  }
}

/** Return a text as a key, or null if it has not the form of one. */
export function keyIn(text) {
  const key = text.trim();
  return FORM.test(key) ? key : null;
}
