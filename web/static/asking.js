// Asking the API: the key goes into a header, and every failure is a Problem with a sentence.

import { Keeping } from "./keeping.js";
import { language, t } from "./language.js";

function storage() {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

export const keeping = new Keeping(storage());

/** A failure: `code` and `detail` as the API tells them; `code` is "away" if there was no answer. */
export class Problem extends Error {
  constructor(body, status = 0) {
    super(body.detail ?? t("The server did not answer. Try again."));
    Object.assign(this, body);
    this.code = body.code ?? "away";
    this.status = status;
  }
}

/** Ask for something with the key, if there is one, and return the response. Raise Problem. */
export async function ask(path, { method = "GET", body, headers = {}, signal, accept = "application/json" } = {}) {
  const all = { Accept: accept, "Accept-Language": language, ...keeping.headers, ...headers };
  if (body !== undefined) all["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers: all, body: body === undefined ? undefined : JSON.stringify(body), signal, cache: "no-cache" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({});
  }
  if (response.ok || response.status === 304) return response;
  let told = {};
  try {
    told = await response.json();
  } catch {
    // no problem of ours
  }
  throw new Problem(told, response.status);
}

export const json = async (path, options) => (await ask(path, options)).json();

/** What is done with the receipt of an answer, before whoever has asked gets the answer. It raises nothing. */
export const receipts = { keep: async () => {} };

/** Register the key of this browser, so that it is in the log before a match begins. What goes wrong is told when a move is to be signed. */
export const registered = () => import("./acting.js").then(({ unsigned }) => unsigned()).catch(() => null);

/** Send something once, however often the network fails on the way: the same id makes a repeated request harmless. */
export async function send(path, body, headers = {}) {
  const answer = await sent(path, body, { "Idempotency-Key": random(12), ...headers });
  if (typeof answer.receipt === "string") await receipts.keep(answer.receipt);
  return answer;
}

async function sent(path, body, headers) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await json(path, { method: "POST", body, headers });
    } catch (problem) {
      const again = problem.code === "away" || problem.code === "store_away" || problem.code === "busy";
      if (!again || tries === 3) throw problem;
      await new Promise((resolve) => setTimeout(resolve, 400 * 2 ** tries));
    }
  }
}

/** Return random bytes in hex. */
export const random = (bytes) => Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");
