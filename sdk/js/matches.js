// One match, as the player of a client sees it. warledger.d.ts says what each method takes and returns.

import { Evidence, canCheck } from "./evidence.js";
import { Conflict, Stale, TwoHistories, WarledgerError } from "./problems.js";
import { actorOf, recorded, signed } from "./signing.js";

const PAGE = 500; // entries to ask for at once
const WAIT = 25; // seconds that the server may hold a request until there is news; it may end the wait earlier
const AGAIN = 1; // seconds until a turn comes again whose action was refused, although the match has not moved on
const TRIES = 10; // how often an action is signed anew because the match has moved on, where the caller names no version
const ENDED = ["match_ended", "match_closed"];

/** Return the choices of the game, without those of the table, such as resigning. */
export const inTheGame = (choices) => choices.filter((choice) => !choice.at_table);

/** Return the action of a choice, an action, or a list of them, in the form that is sent. */
function acted(given) {
  if (Array.isArray(given)) return given.map(acted);
  return recorded("type" in given ? given : given.action);
}

const at = (version) => (version === undefined ? {} : { "If-Match": `"${version}"` });

export class Match {
  constructor(client, id) {
    this.client = client;
    this.id = id;
    this.path = `/v1/matches/${id}`;
    this.evidence = new Evidence(id, client.receipts);
    this.last = null;
  }

  get outcome() {
    return this.last?.outcome ?? null;
  }

  async standing() {
    await this.note(await this.client.get(this.path));
    return this.last;
  }

  /** Keep a standing as the last one, and its receipt. */
  async note(standing) {
    this.last = standing;
    if (standing.receipt !== undefined) await this.keep(standing.receipt);
  }

  async join(seat, { code, contribution } = {}) {
    await this.client.signer();
    await this.note(await this.client.post(`${this.path}/seats/${seat}`, { code, contribution }));
    return this.last;
  }

  // Looking

  state({ version, viewer } = {}) {
    return this.client.get(`${this.path}/state`, { at: version, viewer });
  }

  board({ version, viewer } = {}) {
    return this.client.text(`${this.path}/state`, "text/plain", { at: version, viewer });
  }

  picture({ version, viewer, shape, theme } = {}) {
    return this.client.text(`${this.path}/state.svg`, "image/svg+xml", { at: version, viewer, shape, theme });
  }

  choices({ seat, signal } = {}) {
    return this.client.get(`${this.path}/choices`, { seat }, { signal });
  }

  async *entries({ after = 0, viewer, proof } = {}) {
    for (let page; (page = await this.#page(after, { viewer, proof })).entries.length; after = page.version) yield* page.entries;
  }

  async *frames({ after = 0, viewer, shape, key } = {}) {
    for (;;) {
      const page = await this.client.get(`${this.path}/frames`, { after, viewer, shape, key });
      if (!page.frames.length) return;
      yield* page.frames;
      after = page.frames.at(-1).version;
      key = false;
    }
  }

  async *stream({ after = 0, viewer, check = canCheck(), signal } = {}) {
    await this.client.compare();
    if (check) await this.#checkUpTo(after, viewer);
    const query = { after, viewer, proof: check || undefined };
    for await (const { event, data } of this.client.events(`${this.path}/stream`, { query, signal })) {
      if (event === "over") return this.client.compare();
      if (event !== "entry") continue;
      const entry = JSON.parse(data);
      if (entry.version <= after) continue; // it comes again
      after = entry.version;
      if (check) await this.#check(entry);
      yield entry;
    }
  }

  async *fold(step, state, options) {
    for await (const entry of this.stream(options)) {
      for (const event of entry.events) state = step(state, event, entry);
      yield [state, entry];
    }
  }

  async receipt(version) {
    const { receipt } = await this.client.get(`${this.path}/receipts/${version}`);
    await this.keep(receipt);
    return receipt;
  }

  /** Keep a receipt, and compare it with what the server has said before. Throw an Alarm. */
  async keep(note) {
    if (this.client.receipts !== null) await this.client.know(note);
    await this.evidence.receipt(note).catch((alarm) => this.#alarmed(alarm));
  }

  /** Check the next entry. Throw an Alarm, and save it with the receipts that were kept and the one that the server signs now. */
  #check(entry) {
    return this.evidence.entry(entry).catch(async (alarm) => {
      const digest_before = this.evidence.digestAt(alarm.version - 1);
      return this.#alarmed(alarm, { digest_before, receipts: await this.evidence.kept(), receipt_now: await this.#signedNow(alarm.version) });
    });
  }

  async #alarmed(alarm, more) {
    if (alarm instanceof WarledgerError) await this.client.receipts?.save(alarm, more);
    throw alarm;
  }

  /** Return the receipt of a version as the server signs it now, without a look at it; nothing if it gives none. */
  async #signedNow(version) {
    try {
      return (await this.client.get(`${this.path}/receipts/${version}`)).receipt;
    } catch {
      return "";
    }
  }

  dossier({ viewer } = {}) {
    return this.client.text(`${this.path}/dossier`, "application/x-ndjson", { viewer });
  }

  // Playing

  async act(action, { version, seat, request } = {}) {
    const body = acted(action);
    const headers = { ...at(version), ...(request === undefined ? {} : { "Idempotency-Key": request }) };
    for (let tries = 1; ; tries++) {
      const signature = await this.#signature([body].flat(), version, seat);
      const given = { query: { seat: signature.seat, proof: signature.move && true }, headers: { ...headers, ...signature.headers } };
      try {
        const played = await this.client.post(`${this.path}/actions`, body, given);
        // What follows at once is checked at once: the next action is signed with its digest.
        for (const entry of signature.move ? played.entries : []) if (entry.version === this.evidence.version + 1) await this.#check(entry);
        await this.keep(played.receipt);
        return played;
      } catch (reason) {
        if (reason.code === "history_differs") await this.#differs(signature.move, reason);
        // The caller may act at any version, and a signature is good for one.
        if (!(reason instanceof Stale) || version !== undefined || signature.move === undefined || tries === TRIES) throw reason;
      }
    }
  }

  /** Return {seat, headers, move}: the seat that acts, the header with the signatures over actions, and what was signed, if they are. */
  async #signature(actions, version, seat) {
    const signer = await this.client.signer();
    const kind = actions[0]?.type;
    if (signer === null || actorOf(kind, seat, signer.player) === null) return { seat };
    if (actorOf(kind, seat, signer.player) === undefined) seat = (await this.choices()).seat ?? undefined;
    const actor = actorOf(kind, seat, signer.player);
    if (version === undefined || version > this.evidence.version) await this.#checkUpTo(version ?? Infinity);
    const seen = version ?? this.evidence.version;
    const digest = this.evidence.digestAt(seen);
    if (actor === undefined || digest === undefined) return { seat };
    const move = { match: this.id, actor, seen, digest };
    return { seat, move, headers: { "Warledger-Signature": await signed(signer.key, move, actions) } };
  }

  /** Throw the alarm for a server that says that a version which it has shown is another one. */
  async #differs({ seen, digest }, { detail }) {
    const kept = (await this.evidence.receiptAt(seen)) ?? digest;
    const found = { kept, received: await this.#signedNow(seen), shown: digest, receipts: await this.evidence.kept() };
    await this.#alarmed(new TwoHistories(this.id, seen, `the server has shown another one before. ${detail}`, found));
  }

  plan(action, { version, seat } = {}) {
    return this.client.post(`${this.path}/tries`, acted(action), { query: { seat }, headers: at(version) });
  }

  async rematch() {
    const made = await this.client.post(`${this.path}/actions`, { type: "rematch" });
    const match = new Match(this.client, made.id);
    await match.note(made);
    return match;
  }

  async *turns({ seat, check = canCheck(), signal } = {}) {
    await this.client.compare();
    for (;;) {
      const found = await this.choices({ seat, signal });
      let { version, seat: mine } = found;
      let playing = inTheGame(found.choices);
      let refused = null;
      if (!playing.length && (await this.#cameBack(found, seat))) continue;
      while (playing.length) {
        const turn = new Turn(this, version, mine, playing, seat);
        yield turn;
        ({ refused } = turn);
        if (turn.played === null) break;
        ({ version, seat: mine } = turn.played);
        playing = inTheGame(turn.played.choices);
      }
      if (!(await this.#movedOn(version, check, signal, refused instanceof Conflict ? AGAIN : WAIT))) return this.finish({ check });
    }
  }

  async play(decide, options) {
    for await (const turn of this.turns(options)) {
      const action = await decide(turn);
      if (action) await turn.act(action);
    }
    return this.last;
  }

  async finish({ check = canCheck() } = {}) {
    const { version } = await this.standing();
    if (check) await this.#checkUpTo(version);
    if (this.client.receipts === null) return;
    await this.receipt(version);
    await this.client.compare();
  }

  /** Take the seat back from a substitute, if that is possible. Return whether it was done. */
  async #cameBack({ choices }, seat) {
    if (!choices.some(({ action }) => action.type === "return")) return false;
    try {
      await this.act({ type: "return" }, { seat });
    } catch (reason) {
      if (reason instanceof Conflict) return false;
      throw reason;
    }
    return true;
  }

  /** Wait until the match is beyond a version, or for a moment if the last action was refused. Return false if the match is over. */
  async #movedOn(version, check, signal, wait) {
    for (;;) {
      const page = await this.#page(check ? this.evidence.version : version, { proof: check || undefined, wait, signal });
      if (check) for (const entry of page.entries) await this.#check(entry);
      const over = !page.entries.length || page.entries.some(({ events }) => events.some(({ type }) => ENDED.includes(type)));
      if (over && ["over", "closed"].includes((await this.standing()).status)) return false;
      if (page.version > version || wait === AGAIN) return true;
    }
  }

  async #checkUpTo(version, viewer) {
    while (this.evidence.version < version) {
      const page = await this.#page(this.evidence.version, { viewer, proof: true });
      for (const entry of page.entries) await this.#check(entry);
      if (page.entries.length < PAGE) return;
    }
  }

  #page(after, { viewer, proof, wait, signal }) {
    return this.client.get(`${this.path}/entries`, { after, limit: PAGE, viewer, proof, wait }, { signal });
  }
}

export class Turn {
  #asked;

  constructor(match, version, seat, choices, asked) {
    this.match = match;
    this.version = version;
    this.seat = seat;
    this.choices = choices;
    this.played = null;
    this.refused = null;
    this.#asked = asked;
  }

  async act(action) {
    try {
      this.refused = null;
      this.played = await this.match.act(action, { version: this.version, seat: this.#asked ?? this.seat ?? undefined });
    } catch (reason) {
      if (!(reason instanceof Stale || reason instanceof Conflict)) throw reason;
      this.played = null;
      this.refused = reason;
    }
    return this.played;
  }

  state() {
    return this.match.state({ version: this.version, viewer: this.seat ?? undefined });
  }
}
