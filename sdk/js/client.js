// Calls to one server. warledger.d.ts says what each method takes and returns.

import { canCheck, continues, readCheckpoint } from "./evidence.js";
import { Match } from "./matches.js";
import { Patience, sleep } from "./patience.js";
import { BadReceipt, Problem, TwoLogs, Unavailable, Unreachable, problemOf } from "./problems.js";
import { Receipts, Usual } from "./receipts.js";
import { registrationText, signText } from "./signing.js";
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

const LISTED = "/v1/players/me/signing-keys";

export class Client {
  #signer = null; // {api, signer}: an API key, and a promise of who signs with it
  #told = new Set();

  constructor(url, { key = null, patience = 120, timeout = 60, receipts, sign = true, tell = console.warn, fetch = globalThis.fetch } = {}) {
    this.url = String(url).replace(/\/+$/, "");
    this.key = key;
    this.patience = patience;
    this.timeout = timeout;
    this.sign = sign;
    this.tell = tell;
    const store = receipts === undefined ? new Usual(this.url, tell) : receipts;
    this.receipts = store === null || store instanceof Receipts ? store : new Receipts(store);
    this.fetcher = (...given) => fetch(...given);
  }

  // What is kept

  /** Return who signs moves, {player, key}; null if they are not signed. A key is made, kept and registered at first. */
  signer() {
    if (this.key === null || !this.sign || this.receipts === null) return Promise.resolve(null);
    if (this.#signer?.api !== this.key) this.#signer = { api: this.key, signer: this.#registered().catch((reason) => this.#unsigned(reason)) };
    return this.#signer.signer;
  }

  async #registered() {
    const { id: player } = await this.me();
    const { keys } = await this.get(LISTED);
    const revoked = keys.filter((one) => one.revoked !== null).map((one) => one.key);
    for (;;) {
      const key = await this.receipts.signingKey(player, revoked);
      if (key === null) return null;
      try {
        if (!keys.some((one) => one.key === key.publicKey)) await this.#register(player, key);
        this.#holdKeys(keys, key);
        return { player, key };
      } catch (reason) {
        if (reason.code !== "signing_key_revoked" || revoked.includes(key.publicKey)) throw reason;
        revoked.push(key.publicKey); // so long ago that the list has forgotten it
      }
    }
  }

  #unsigned(reason) {
    if (!(reason instanceof Problem) || reason instanceof Unavailable) {
      this.#signer = null; // the next one may be luckier
      throw reason;
    }
    this.#say(`Moves are not signed: ${reason.detail}`);
    return null;
  }

  async #register(player, key) {
    const signature = await signText(key, registrationText(player, key.publicKey));
    await this.post(LISTED, { key: key.publicKey, name: "warledger-client", signature });
  }

  /** Tell of each key that the server lists as the player's, and that was not made here. */
  #holdKeys(listed, mine) {
    for (const { key, revoked } of listed) {
      if (revoked !== null || key === mine.publicKey) continue;
      this.#say(`The server lists a signing key that you did not make here: ${key}. If it is not yours, revoke it.`);
    }
  }

  #say(sentence) {
    if (!this.#told.has(sentence)) this.tell(sentence);
    this.#told.add(sentence);
  }

  async compare() {
    if (this.receipts === null || !canCheck()) return;
    const signer = await this.#signer?.signer; // who only watches needs no key
    try {
      if (signer) this.#holdKeys((await this.get(LISTED)).keys, signer.key);
      await this.#holdLog(await this.text("/log/checkpoint", "text/plain"));
    } catch (reason) {
      if (!(reason instanceof Problem)) throw reason;
      if (reason.status === 404 && (await this.receipts.checkpoint()) === undefined) return; // the log has no checkpoint yet
      this.#say(`The server's log cannot be compared: ${reason.detail}`);
    }
  }

  /** Compare a checkpoint with the one kept, and keep it if it is newer. Throw BadReceipt, TwoLogs. */
  async #holdLog(note) {
    const { receipts } = this;
    const saved = async (Kind, sentence, found) => {
      const alarm = new Kind("", 0, `the server's log of all matches: ${sentence}`, found);
      await receipts.save(alarm);
      return alarm;
    };
    await this.know(note);
    const now = readCheckpoint(note);
    if (now === null || !(await receipts.isSigned(note))) throw await saved(BadReceipt, "no key of the server that is trusted has signed it", { receipt: note });
    const kept = await receipts.checkpoint(now.origin);
    if (kept === undefined) return receipts.keepCheckpoint(note);
    const old = readCheckpoint(kept);
    const [first, second] = old.size <= now.size ? [old, now] : [now, old];
    let hashes = [];
    if (first.size > 0 && first.size < second.size) {
      try {
        ({ hashes } = await this.get("/log/consistency", { from: first.size, to: second.size }));
      } catch (reason) {
        if (reason.status !== 404) throw reason;
        throw await saved(TwoLogs, `it had ${old.size} leaves and now has ${now.size}`, { kept, received: note, hashes });
      }
    }
    if (!(await continues(first, second, hashes))) {
      throw await saved(TwoLogs, "it does not continue what it has signed before", { kept, received: note, hashes });
    }
    if (now.size > old.size) await receipts.keepCheckpoint(note);
  }

  /** Note the keys that the server publishes if none is known that a note names. */
  async know(note) {
    if (await this.receipts.knows(note)) return;
    const { keys } = await this.get("/.well-known/warledger-keys");
    const known = await this.receipts.keys();
    await this.receipts.note(keys.map(({ vkey }) => vkey));
    const found = (await this.receipts.keys()).filter((vkey) => !known.includes(vkey));
    if (!known.length || !found.length) return;
    this.#say(`The server has new keys: ${found.sort().join(", ")}. Ask its operator elsewhere whether they are right.`);
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
    await this.signer();
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
