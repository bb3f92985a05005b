// The frames of a match as a reader has loaded them, in pages, so that any version can be shown at once.
//
// A page holds the versions after number * PAGE. For each fragment it has only the versions at which it changed, so a version is found by a
// search in each fragment's history, however long the match is. Pages far from the reader are forgotten when there are too many letters;
// what is said of their versions stays.

export const PAGE = 100;
const MOST = 10_000_000; // letters of fragments that are kept

export const pageOf = (version) => Math.floor((version - 1) / PAGE);

export class Frames {
  constructor(most = MOST) {
    this.most = most;
    this.clear();
  }

  clear() {
    this.pages = new Map();
    this.lines = []; // what is said of each version: {version, at, actor, action, text, rules, now}
    this.letters = 0;
    this.shared = new Map();
  }

  /** Add frames in order. Those before the first keyframe of a page that is not there are left out. */
  add(frames) {
    for (const frame of frames) {
      const number = pageOf(frame.version);
      let page = this.pages.get(number);
      if (!page) {
        if (!frame.key) continue;
        page = { first: frame.version, last: frame.version - 1, viewer: frame.viewer, titles: newHistory(), sheets: newHistory(), history: new Map(), now: {} };
        this.pages.set(number, page);
      }
      if (frame.version !== page.last + 1) continue;
      page.last = frame.version;
      this._keep(page, frame);
    }
  }

  _keep(page, frame) {
    const { version, fragments = {}, gone = [], sheets = [], order, title, key, now, ...said } = frame;
    page.now = now ? { ...page.now, ...now } : page.now;
    this.lines[version] = { version, ...said, now: page.now };
    if (title !== undefined) put(page.titles, version, title);
    if (order || sheets.length) put(page.sheets, version, merged(key ? [] : page.sheets.values.at(-1), sheets, order));
    for (const [name, text] of Object.entries(fragments)) {
      const history = page.history.get(name) ?? page.history.set(name, newHistory()).get(name);
      put(history, version, this._share(typeof text === "string" ? text : edited(history.values.at(-1), text)));
    }
    const lost = key ? [...page.history.keys()].filter((name) => !(name in fragments)) : gone;
    for (const name of lost) put(page.history.get(name), version, null);
  }

  _share(text) {
    const kept = this.shared.get(text);
    if (kept !== undefined) return kept;
    this.shared.set(text, text);
    this.letters += text.length;
    return text;
  }

  /** Return whether a version can be shown without asking for it. */
  has(version) {
    const page = this.pages.get(pageOf(version));
    return page !== undefined && page.first <= version && version <= page.last;
  }

  /** Return the picture of a version, {title, sheets, fragments}, or undefined if it is not there. */
  at(version) {
    if (!this.has(version)) return undefined;
    const page = this.pages.get(pageOf(version));
    const fragments = new Map();
    for (const [name, history] of page.history) {
      const text = valueAt(history, version);
      if (text !== null) fragments.set(name, text);
    }
    return { viewer: page.viewer, title: valueAt(page.titles, version), sheets: valueAt(page.sheets, version), fragments };
  }

  /** Return the last version up to which a page is there without a gap from its first version on. */
  lastOf(number) {
    return this.pages.get(number)?.last ?? number * PAGE;
  }

  /** Return the numbers of the pages up to a version that are missing or not full, the nearest to another version first. */
  missing(newest, near) {
    const middle = pageOf(near);
    const wanted = [];
    for (let number = 0; number <= pageOf(newest); number += 1) {
      const page = this.pages.get(number);
      if (!page || page.first > number * PAGE + 1 || page.last < Math.min(newest, (number + 1) * PAGE)) wanted.push(number);
    }
    return wanted.sort((one, other) => Math.abs(one - middle) - Math.abs(other - middle));
  }

  /** Drop a page, to load it anew. */
  drop(number) {
    this.pages.delete(number);
  }

  get roomy() {
    return this.letters < this.most;
  }

  /** Forget the half of the pages that is farthest from a version, if there are too many letters. */
  forget(near) {
    if (this.roomy) return;
    const middle = pageOf(near);
    const far = [...this.pages.keys()].sort((one, other) => Math.abs(other - middle) - Math.abs(one - middle));
    for (const number of far.slice(0, Math.floor(far.length / 2))) this.pages.delete(number);
    this.shared.clear();
    this.letters = 0;
    for (const page of this.pages.values()) {
      for (const { values } of page.history.values()) for (const text of values) if (text !== null) this._share(text);
    }
  }
}

const newHistory = () => ({ versions: [], values: [] });

function put(history, version, value) {
  if (!history || history.values.at(-1) === value) return;
  history.versions.push(version);
  history.values.push(value);
}

function valueAt(history, version) {
  const place = lastUpTo(history.versions, version);
  return place < 0 ? null : history.values[place];
}

/** Return the picture that a frame makes of another one, as the answer to a try has it. */
export function applied(picture, { key, title = picture.title, sheets = [], order, fragments = {}, gone = [] }) {
  const found = key ? new Map() : new Map(picture.fragments);
  for (const name of gone) found.delete(name);
  for (const [name, text] of Object.entries(fragments)) found.set(name, typeof text === "string" ? text : edited(picture.fragments.get(name), text));
  return { viewer: picture.viewer, title, sheets: merged(key ? [] : picture.sheets, sheets, order), fragments: found };
}

/** Return a text with edits, [stay, go, text, ...]: so many words stay, so many go, the text comes in their place. The rest stays. */
function edited(before, edits) {
  const words = before.match(/[^][^<" ]*/g) ?? []; // a word ends before the next of < " and blank
  let place = 0;
  let text = "";
  for (let index = 0; index < edits.length; index += 3) {
    const [stay, go, put] = edits.slice(index, index + 3);
    text += words.slice(place, place + stay).join("") + put;
    place += stay + go;
  }
  return text + words.slice(place).join("");
}

/** Return sheets of which some have changed in part, or come, in the order that is given, or in the one from before. */
function merged(before, changed, order) {
  const found = new Map(before.map((sheet) => [sheet.id, sheet]));
  for (const sheet of changed) found.set(sheet.id, { ...found.get(sheet.id), ...sheet });
  return (order ?? [...found.keys()]).map((id) => found.get(id));
}

/** Return the place of the last number that is not larger than a limit, or -1. */
export function lastUpTo(numbers, limit) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export const turnOf = ({ now }) => `${now.round} ${(now.to_act ?? []).join(" ")}`;
export const roundOf = ({ now }) => `${now.round}`;

/** Return where the next stretch of versions with the same mark begins, or, backwards, where this one or the one before does. */
export function leap(lines, from, direction, newest, markOf) {
  const mark = (version) => (lines[version] ? markOf(lines[version]) : undefined);
  if (direction > 0) {
    for (let version = from + 1; version <= newest; version += 1) if (mark(version) !== mark(from)) return version;
    return newest;
  }
  let version = from - 1;
  while (version > 1 && mark(version - 1) === mark(version)) version -= 1;
  return Math.max(version, 1);
}

/** Yield the values of newline-delimited JSON from a stream of bytes. */
export async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
  if (rest) yield JSON.parse(rest);
}
