// Calls to one server. warledger.d.ts says what each method takes and returns.

import { Match } from "./matches.js";
import { Patience, sleep } from "./patience.js";
import { Problem, Unreachable, problemOf } from "./problems.js";
import { Receipts } from "./receipts.js";
import { eventsOf } from "./streams.js";

const AGAIN = 1; // seconds until a stream that the server has ended is asked for again
const SILENCE = 45; // seconds without a byte after which a stream is taken as cut; the server sends a comment every 15

/** Return a query without what is null or undefined. */
function queryOf(values = {}) {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/** Return an id for a request. `crypto.randomUUID` is missing on plain http beyond localhost. */
const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

export class Client {
  constructor(url, { key = null, patience = 120, timeout = 60, receipts = null, fetch = globalThis.fetch } = {}) {
    this.url = String(url).replace(/\/+$/, "");
    this.key = key;
    this.patience = patience;
    this.timeout = timeout;
    this.receipts = receipts === null || receipts instanceof Receipts ? receipts : new Receipts(receipts);
    this.fetcher = (...given) => fetch(...given);
  }

  // Players and games

  async register(name) {
    const made = await this.post("/v1/players", { name });
    this.key = made.key;
    return made;
  }

  me() {
    return this.get("/v1/players/me");
  }

  player(player) {
    return this.get(`/v1/players/${player}`);
  }

  async games() {
    return (await this.get("/v1/games")).games;
  }

  game(game) {
    return this.get(`/v1/games/${game}`);
  }

  rule(game, rule) {
    return this.get(`/v1/games/${game}/rules/${rule}`);
  }

  async *news({ after, created, signal } = {}) {
    const headers = after === undefined ? {} : { "Last-Event-ID": after };
    for await (const { event, id, data } of this.events("/v1/players/me/stream", { query: { created }, headers, signal })) {
      yield { kind: event, id, data: JSON.parse(data) };
    }
  }

  // Matches

  match(match) {
    return new Match(this, match);
  }

  matches(query = {}) {
    return this.pages("/v1/matches", "matches", query);
  }

  create(game, seats, settings = {}) {
    return this.#created({ game, seats, ...settings });
  }

  practise(match, version, settings = {}) {
    return this.#created({ fork_of: match, at: version, ...settings });
  }

  async #created(body) {
    const made = await this.post("/v1/matches", body);
    const match = new Match(this, made.id);
    await match.note(made);
    return match;
  }

  // Whatever else there is

  async get(path, query, { signal } = {}) {
    return (await this.request("GET", path, { query, signal })).json();
  }

  async text(path, accept, query) {
    return (await this.request("GET", path, { query, headers: { Accept: accept } })).text();
  }

  async post(path, body, { headers, ...more } = {}) {
    return (await this.request("POST", path, { body, headers: { "Idempotency-Key": newId(), ...headers }, ...more })).json();
  }

  async *pages(path, items, query = {}) {
    for (let cursor; cursor !== null; ) {
      const page = await this.get(path, { ...query, cursor });
      yield* page[items];
      cursor = page.next ?? null;
    }
  }

  async request(method, path, { query, body, headers = {}, repeatable, signal } = {}) {
    const given = { Accept: "application/json", ...headers };
    if (body !== undefined) given["Content-Type"] = "application/json";
    const patience = new Patience(this.patience, repeatable ?? (method === "GET" || "Idempotency-Key" in given));
    const sent = { method, body: body === undefined ? undefined : JSON.stringify(body) };
    for (;;) {
      const send = this.#sending(path, query, given);
      const limit = new Limit(this.timeout, signal);
      let ended;
      try {
        const answer = await whole(await send({ ...sent, signal: limit.signal }));
        if (answer.ok) return answer;
        ended = await problemOf(answer);
      } catch (reason) {
        signal?.throwIfAborted();
        ended = reason;
      } finally {
        limit.end();
      }
      await this.#rest(patience, ended, signal);
    }
  }

  /** Yield the events of a stream, {id, event, data}, and connect again where it ends, until the answer is 204. */
  async *events(path, { query, headers = {}, signal } = {}) {
    const given = { Accept: "text/event-stream", ...headers };
    const patience = new Patience(this.patience, true);
    for (;;) {
      const send = this.#sending(path, query, given);
      const limit = new Limit(SILENCE, signal);
      const heard = () => {
        limit.begin();
        patience.progress();
      };
      let ended = null;
      try {
        const answer = await send({ signal: limit.signal, cache: "no-store" });
        if (answer.status === 204) return;
        if (!answer.ok) ended = await problemOf(answer);
        else
          for await (const event of eventsOf(answer.body, heard)) {
            if (event.id !== undefined) given["Last-Event-ID"] = event.id;
            yield event;
          }
      } catch (reason) {
        signal?.throwIfAborted();
        ended = reason;
      } finally {
        limit.end();
      }
      if (ended === null) await sleep(AGAIN * (0.5 + Math.random() / 2), signal);
      else await this.#rest(patience, ended, signal);
    }
  }

  /** Return a function that sends a request. Throw a TypeError for one that can never be sent. */
  #sending(path, query, given) {
    const address = new URL(this.url + path + queryOf(query));
    const headers = new Headers(this.key === null ? given : { Authorization: `Bearer ${this.key}`, ...given });
    return (more) => this.fetcher(address.href, { headers, ...more });
  }

  /** Wait until a request may be sent again after a Problem, or after silence. Throw that if it may not. */
  async #rest(patience, ended, signal) {
    const problem = ended instanceof Problem ? ended : null;
    const pause = problem === null ? patience.afterSilence() : patience.after(problem);
    if (pause === null) throw problem ?? new Unreachable(`${this.url} does not answer: ${ended.message}`, { cause: ended });
    await sleep(pause, signal);
  }
}

/** Read a response to its end: an answer that is cut counts as none. */
const whole = async (response) => (response.status === 204 ? response : new Response(await response.arrayBuffer(), response));

/** A signal that aborts when some seconds have passed, counted from the last `begin`, or when another signal does. */
class Limit {
  #stop = new AbortController();
  #follow = () => this.#stop.abort(this.outer.reason);
  #timer;

  constructor(seconds, outer) {
    this.seconds = seconds;
    this.outer = outer;
    this.signal = this.#stop.signal;
    if (outer?.aborted) this.#follow();
    outer?.addEventListener("abort", this.#follow);
    this.begin();
  }

  begin() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop.abort(new Error("nothing came in time")), this.seconds * 1000);
  }

  end() {
    clearTimeout(this.#timer);
    this.outer?.removeEventListener("abort", this.#follow);
    this.#stop.abort();
  }
}
