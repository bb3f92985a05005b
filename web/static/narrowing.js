// Choices are narrowed by what is picked, field by field. No game is known here: a choice is an action with named fields, and an open one
// has ranges (`choose`).

const listed = (value) => (Array.isArray(value) ? value : [value]);
export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Return whether an action agrees with a pick: {field, value} for a whole value, or {field, id} for one that is or holds an id. */
export function agrees(action, pick) {
  if (!(pick.field in action)) return false;
  const value = action[pick.field];
  return "id" in pick ? listed(value).includes(pick.id) : same(value, pick.value);
}

/** Return what of an action has not been picked yet, field by field; {} if the picks lead to another one. */
export function rest(action, picks) {
  if (!action || !picks.every((pick) => agrees(action, pick))) return {};
  const left = { ...action };
  for (const { field, id } of picks) {
    if (id !== undefined && Array.isArray(left[field])) left[field] = left[field].filter((one) => one !== id);
    else delete left[field];
  }
  return left;
}

/** Return the fixed fields of a choice by name: those whose value is not open. */
const fixed = (choice) => Object.entries(choice.action).filter(([field]) => !(field in (choice.choose ?? {})));

export class Narrowing {
  /** `choices`: as the API lists them. `picks`: what has been picked so far. */
  constructor(choices, picks = []) {
    this.choices = choices;
    this.picks = picks;
    this.left = choices.filter((choice) => picks.every((pick) => agrees(choice.action, pick)));
  }

  with(pick) {
    return new Narrowing(this.choices, [...this.picks, pick]);
  }

  /** Return the narrowing without its last pick. */
  back() {
    return new Narrowing(this.choices, this.picks.slice(0, -1));
  }

  start() {
    return new Narrowing(this.choices);
  }

  /** The choice that is left, or null if there are none or several. */
  get only() {
    return this.left.length === 1 ? this.left[0] : null;
  }

  /** The choice that could be sent now although more could be picked: the one whose lists hold nothing but what is picked. */
  get enough() {
    if (this.left.length === 1) return this.left[0];
    const picked = (field) => this.picks.filter((pick) => pick.field === field && "id" in pick).map((pick) => pick.id);
    const whole = this.left.filter((choice) =>
      fixed(choice).every(([field, value]) =>
        Array.isArray(value) ? same([...value].sort(), picked(field).sort()) : this.left.every((other) => same(other.action[field], value)),
      ),
    );
    return this.picks.length > 0 && whole.length === 1 ? whole[0] : null;
  }

  /** Return each id that would narrow the choices further if it were clicked, with the pick that it stands for. */
  ids() {
    const found = new Map();
    const picked = (field, id) => this.picks.some((pick) => pick.field === field && (pick.id === id || pick.value === id));
    for (const field of this._fields()) {
      for (const choice of this.left) {
        if (field in (choice.choose ?? {})) continue;
        for (const id of listed(choice.action[field] ?? [])) {
          if (typeof id === "string" && field !== "type" && !found.has(id) && !picked(field, id)) found.set(id, { field, id });
        }
      }
    }
    return found;
  }

  /** The field that the next buttons decide, or null: `type` first, then one that every choice left has, by name. */
  get field() {
    return this._fields().find((field) => this._values(field).length > 1) ?? null;
  }

  /** Return the fields of what is left: `type`, then those that all have, then the others. */
  _fields() {
    const counts = new Map();
    for (const choice of this.left) for (const [field] of fixed(choice)) counts.set(field, (counts.get(field) ?? 0) + 1);
    const rank = (field) => (field === "type" ? 0 : counts.get(field) === this.left.length ? 1 : 2);
    return [...counts.keys()].sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
  }

  _values(field) {
    const found = [];
    const seen = new Set();
    for (const choice of this.left) {
      const key = JSON.stringify(choice.action[field]);
      if (!seen.has(key)) {
        seen.add(key);
        found.push(choice.action[field]);
      }
    }
    return found;
  }

  /** Return the next buttons: {pick, value, left}, where `left` is how many choices remain after it. */
  buttons() {
    const { field } = this;
    if (field === null) return [];
    return this._values(field).map((value) => {
      const pick = { field, value };
      return { pick, value, left: this.left.filter((choice) => same(choice.action[field], value)).length };
    });
  }
}

/** The counts of an open choice, each within its range. */
export class Counts {
  constructor(choice) {
    this.choice = choice;
    this.ranges = choice.choose ?? {};
    this.counts = {};
    for (const [field, range] of Object.entries(this.ranges)) {
      this.counts[field] = Array.isArray(range) ? choice.action[field] ?? range[0] : { ...choice.action[field] };
    }
  }

  /** Return every count that can be changed: {field, key, value, low, high}. `key` is null for a single number. */
  rows() {
    return Object.entries(this.ranges).flatMap(([field, range]) =>
      Array.isArray(range)
        ? [{ field, key: null, value: this.counts[field], low: range[0], high: range[1] }]
        : Object.entries(range.each).map(([key, [low, high]]) => ({ field, key, value: this.counts[field][key] ?? 0, low, high })),
    );
  }

  sum(field) {
    return Object.values(this.counts[field]).reduce((sum, count) => sum + count, 0);
  }

  /** Return whether a count can be changed by a number. */
  can(field, key, by) {
    const range = this.ranges[field];
    if (key === null) return this.counts[field] + by >= range[0] && this.counts[field] + by <= range[1];
    const [low, high] = range.each[key];
    const count = (this.counts[field][key] ?? 0) + by;
    return count >= low && count <= high && (by < 0 || this.sum(field) + by <= range.total[1]);
  }

  step(field, key, by) {
    if (!this.can(field, key, by)) return false;
    if (key === null) this.counts[field] += by;
    else this.counts[field][key] = (this.counts[field][key] ?? 0) + by;
    return true;
  }

  /** Add one of what is clicked. If there is no room, and one other count can give one up, that one goes here; else it starts again. */
  add(field, key) {
    if (this.step(field, key, 1)) return true;
    const [low, high] = this.ranges[field].each[key];
    const here = this.counts[field][key] ?? 0;
    if (here >= high && here > low) {
      this.counts[field][key] = low;
      return true;
    }
    const others = Object.entries(this.counts[field]).filter(([name, count]) => name !== key && count > this.ranges[field].each[name][0]);
    if (here >= high || others.length !== 1) return false;
    this.counts[field][others[0][0]] -= 1;
    this.counts[field][key] = here + 1;
    return true;
  }

  /** Return the ids of counts, with their fields. */
  ids() {
    const found = new Map();
    for (const { field, key } of this.rows()) if (key !== null) found.set(key, field);
    return found;
  }

  /** What is missing or too much: null if the action can be sent. {field, low, high, sum} */
  get lack() {
    for (const [field, range] of Object.entries(this.ranges)) {
      if (Array.isArray(range)) continue;
      const sum = this.sum(field);
      const [low, high] = range.total;
      if (sum < low || sum > high) return { field, low, high, sum };
    }
    return null;
  }

  get action() {
    const counts = {};
    for (const [field, value] of Object.entries(this.counts)) {
      counts[field] = typeof value === "number" ? value : Object.fromEntries(Object.entries(value).filter(([, count]) => count !== 0));
    }
    return { ...this.choice.action, ...counts };
  }
}
