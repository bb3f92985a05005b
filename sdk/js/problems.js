// What can go wrong, as classes of errors. Programs act on the class or on `code`; people read the sentence.

const PROBLEM_TEXT = 200; // characters that are kept of an error page

/** Whatever this package throws. */
export class WarledgerError extends Error {
  get name() {
    return this.constructor.name;
  }
}

/** The server did not answer in time. A request that creates something may have been carried out. */
export class Unreachable extends WarledgerError {}

/** The server answered with an error. `message` is the status, the code, and a sentence for people. */
export class Problem extends WarledgerError {
  constructor(status, problem, headers = new Headers()) {
    super(`${status} ${problem.code ?? ""}: ${problem.detail ?? ""}`);
    this.status = status;
    this.problem = problem; // the whole problem+json (RFC 9457)
    this.headers = headers;
    this.code = String(problem.code ?? "");
    this.detail = String(problem.detail ?? "");
    this.rule = problem.rule ?? null;
    this.facts = problem.facts ?? {};
    this.game = problem.game ?? null;
    this.place = problem.place ?? null;
  }

  /** How many seconds the server asks to wait, or null. */
  get retryAfter() {
    const given = this.headers.get("Retry-After");
    return given !== null && /^[0-9]+$/.test(given) ? Number(given) : null;
  }
}

/** 400, 413 to 415, 431: the request has the wrong form. `errors` says where. */
export class Malformed extends Problem {
  get errors() {
    return this.problem.errors ?? [];
  }
}

/** 401: there is no key, or no player has it. */
export class Unauthorized extends Problem {}

/** 403: this player, or this key, may not do that. */
export class Forbidden extends Problem {}

/** 404: there is no such thing. */
export class NotFound extends Problem {}

/** 409: this is not possible now. */
export class Conflict extends Problem {}

/** 412: the match has moved on. `version` is the present one. */
export class Stale extends Problem {
  get version() {
    return this.problem.version ?? 0;
  }
}

/** 422: the rules do not allow it. `rule` is the id of the rule, `detail` the sentence. */
export class Refused extends Problem {}

/** 429: a limit is used up, and waiting for it would take longer than the client's patience. Nothing was carried out. */
export class Limited extends Problem {
  get limit() {
    return this.problem.limit ?? "";
  }
}

/** 5xx: the server could not answer, for longer than the client's patience. It may have carried the request out. */
export class Unavailable extends Problem {}

/** The server has contradicted itself. What the error has is evidence: where receipts are kept, it is saved under the name `file`. */
export class Alarm extends WarledgerError {
  constructor(match, version, sentence, evidence) {
    super(match ? `match ${match}, version ${version}: ${sentence}` : sentence);
    Object.assign(this, { match, version, sentence, file: null, ...evidence });
  }
}

/** An entry does not follow from those before it. `entry` is what the server has sent, `expected` the digest that follows, or null. */
export class BrokenChain extends Alarm {}

/** The server has said one thing about a version and now says another. `kept` is the older receipt, `received` the other, or a digest. */
export class TwoHistories extends Alarm {}

/** The server's log of all matches does not continue the log that it was: `kept` and `received` are checkpoints, `hashes` the proof. */
export class TwoLogs extends Alarm {}

/** A receipt is for something else, or no key of the server has signed it. `receipt` is its text. */
export class BadReceipt extends Alarm {}

const CLASSES = {
  400: Malformed, 401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 412: Stale, 413: Malformed, 414: Malformed, 415: Malformed,
  422: Refused, 429: Limited, 431: Malformed,
};

/** Return the error for an answer. If its body is no JSON object, the text becomes the `detail`. */
export async function problemOf(response) {
  const text = await response.text().catch(() => "");
  let problem = null;
  try {
    problem = JSON.parse(text);
  } catch {
    // it comes from a proxy
  }
  if (problem === null || typeof problem !== "object" || Array.isArray(problem)) problem = { detail: text.slice(0, PROBLEM_TEXT) };
  const found = CLASSES[response.status] ?? (response.status >= 500 ? Unavailable : Problem);
  return new found(response.status, problem, response.headers);
}
