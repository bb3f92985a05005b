// The receipts that this browser keeps, and which go when there are too many: a store for the Receipts of sdk/js, on the tables of storing.js.

const TABLE = "receipts";
const KEYS = "server-keys.txt"; // where Receipts notes the keys of the server
const MOST = { matches: 200, letters: 1_000_000, receipts: 64, note: 4_000, keys: 50, sent: 2_000 };

const matchOf = (name) => name.replace(/\.jsonl$/, "");

export class Kept {
  /** `most`: the matches, the letters of all receipts, the receipts of a match, the letters of a receipt, the keys, and the moves that are kept. */
  constructor(storage, most = {}) {
    this.storage = storage;
    this.most = { ...MOST, ...most };
  }

  async lines(name) {
    return (await this.storage.get(TABLE, matchOf(name)))?.lines ?? [];
  }

  /** Keep a receipt of a match, or a key of the server. Of a match the first receipt and the newest ones stay. */
  async append(name, line) {
    if (line.length > this.most.note) return;
    await this.#change(name, (kept) => {
      const lines = [...kept.lines, line];
      const most = name === KEYS ? this.most.keys : this.most.receipts;
      return { ...kept, lines: lines.length > most ? [lines[0], ...lines.slice(lines.length - most + 1)] : lines };
    });
    await this.#bound(matchOf(name));
  }

  /** Take notice that a match is looked at now, and whether it is over. */
  async used(match, over) {
    if ((await this.lines(match)).length) await this.#change(match, (kept) => ({ ...kept, over }));
  }

  /** Note which versions of a match are moves that this browser has sent, and the key with which it signed them, or "". */
  noteSent(match, versions, key) {
    return this.#change(match, (kept) => ({ ...kept, sent: [...kept.sent, ...versions.map((version) => [version, key])].slice(-this.most.sent) }));
  }

  /** Return the keys of the moves that this browser has sent, by version. */
  async sent(match) {
    return new Map((await this.storage.get(TABLE, match))?.sent);
  }

  /** Drop the receipts of a match that are not good any more, as where somebody has changed what the browser keeps. */
  async sift(match, isGood) {
    const lines = await this.lines(match);
    const good = await Promise.all(lines.map((line) => isGood(JSON.parse(line))));
    const bad = lines.filter((_, place) => !good[place]);
    if (bad.length) await this.#change(match, (kept) => ({ ...kept, lines: kept.lines.filter((line) => !bad.includes(line)) }));
  }

  /** Return what is kept of each match: {match, notes, over, used}. */
  async matches() {
    const all = [...(await this.storage.all(TABLE))].filter(([match]) => match !== KEYS);
    return all.map(([match, { lines, over, used }]) => ({ match, notes: lines.map((line) => JSON.parse(line)), over, used }));
  }

  /** Forget all receipts, and the keys of the server. */
  async forget() {
    for (const match of (await this.storage.all(TABLE)).keys()) await this.storage.change(TABLE, match, () => undefined);
  }

  #change(name, step) {
    const fresh = { lines: [], over: false, sent: [] };
    return this.storage.change(TABLE, matchOf(name), (kept) => ({ ...step({ ...fresh, ...kept }), used: Date.now() }));
  }

  /** Remove matches until there is room: those that are over first, and of them the one that was not looked at for longest. */
  async #bound(present) {
    const found = await this.matches();
    const size = ({ notes }) => notes.reduce((letters, note) => letters + note.length, 0);
    const order = found.filter(({ match }) => match !== present).sort((one, other) => other.over - one.over || one.used - other.used);
    let letters = found.reduce((sum, one) => sum + size(one), 0);
    let count = found.length;
    for (const one of order) {
      if (count <= this.most.matches && letters <= this.most.letters) return;
      await this.storage.change(TABLE, one.match, () => undefined);
      letters -= size(one);
      count -= 1;
    }
  }
}
