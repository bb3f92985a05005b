// When to send a request again, and how long to wait before.

const FIRST = 0.25; // seconds to wait after silence, the first time
const LONGEST = 8; // and at most
const BROKEN_TRIES = 3; // how often a request is sent to a server that fails at it
const AWAY = [502, 503, 504];

/**
 * How long one request, or one reconnection, is tried: `seconds` from now on, or from the last progress.
 *
 * `repeatable`: whether a second time does no harm: the request only reads, or the server knows it again by its id.
 */
export class Patience {
  constructor(seconds, repeatable, now = () => performance.now() / 1000) {
    this.seconds = seconds;
    this.repeatable = repeatable;
    this.now = now;
    this.progress();
  }

  /** Begin anew: something has come. */
  progress() {
    this.end = this.now() + this.seconds;
    this.silences = 0;
    this.broken = 0;
  }

  /** Return how many seconds to wait before the request is sent again, or null if it is not. */
  after(problem) {
    if (problem.status === 429 || (AWAY.includes(problem.status) && this.repeatable)) {
      const asked = problem.retryAfter;
      return asked === null ? this.afterSilence(problem.status === 429) : this.within(asked + Math.random());
    }
    if (problem.status === 500 && this.repeatable) return ++this.broken < BROKEN_TRIES ? this.afterSilence() : null;
    return null;
  }

  /** The same, after no answer came. `nothingDone`: the server cannot have carried the request out. */
  afterSilence(nothingDone = false) {
    if (!this.repeatable && !nothingDone) return null;
    const pause = Math.min(LONGEST, FIRST * 2 ** this.silences++);
    return this.within(pause * (0.5 + Math.random() / 2));
  }

  within(pause) {
    return this.now() + pause <= this.end ? pause : null;
  }
}

/** Wait, in seconds. Throw the reason of `signal` when it aborts. */
export function sleep(seconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
