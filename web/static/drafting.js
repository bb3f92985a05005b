// A turn that is drafted: actions in a row that were tried but not sent. It can be undone step by step, and is sent as one list.

export const LONGEST = 50;

export class Draft {
  constructor(version, steps = []) {
    this.version = version; // the match was at this version when the draft began
    this.steps = steps; // {action, tried: the answer to it, or null if it ends the draft}
  }

  get actions() {
    return this.steps.map((step) => step.action);
  }

  get empty() {
    return this.steps.length === 0;
  }

  /** Whether nothing can follow: the last step draws chance or shows something hidden, or the list is full. */
  get closed() {
    return this.steps.length >= LONGEST || (!this.empty && this.tried === null);
  }

  /** What was answered to the last step: the state, the choices and the fragments after it. */
  get tried() {
    return this.steps.at(-1)?.tried ?? null;
  }

  with(action, tried) {
    return new Draft(this.version, [...this.steps, { action, tried }]);
  }

  back() {
    return new Draft(this.version, this.steps.slice(0, -1));
  }

  /** Return what is sent: one action, or a list. */
  get body() {
    return this.steps.length === 1 ? this.steps[0].action : this.actions;
  }
}

const KEPT = "warledger.draft";

/** The newest draft of this browser. It is kept in a `storage` until it is sent or dropped, or the match moves on. `open` yields the storage. */
export class Drafts {
  constructor(open, match) {
    this.open = open; // it may raise, for instance in a private window: then nothing is kept
    this.match = match;
  }

  /** Keep a draft. An empty one deletes what was kept of the match. */
  keep({ version, actions, empty }, seat) {
    try {
      if (!empty) this.open().setItem(KEPT, JSON.stringify({ match: this.match, version, seat, actions }));
      else if (this.read()?.match === this.match) this.open().removeItem(KEPT);
    } catch {
      // a reload loses the draft
    }
  }

  /** Return the actions that were kept of a seat at a version of the match. */
  kept(version, seat) {
    const found = this.read();
    const same = found?.match === this.match && found.version === version && found.seat === seat;
    return same && Array.isArray(found.actions) ? found.actions.slice(0, LONGEST) : [];
  }

  read() {
    try {
      return JSON.parse(this.open().getItem(KEPT));
    } catch {
      return null;
    }
  }
}
