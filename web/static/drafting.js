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
