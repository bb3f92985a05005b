// Comparing what this browser has kept with what the server says now: the receipts of a match, and the newest checkpoint of the log. It knows
// no page: what it needs is given to it. `sdk`: evidence.js, problems.js and receipts.js of sdk/js. `ask`: a function that asks for an address
// and returns the Response, or throws a Problem with its `status`.

import { t } from "./language.js";

const PAGE = 500; // entries to ask for at once
const WALK = 2_000; // entries that are checked at most before the newest one
const LOG = "log";
const DAY = 86_400_000; // milliseconds for which the log may be missing before that is said aloud

/** What the server says now is not what it said before. `proof`: all that shows it to others, in the form that /check takes. */
export class Disagreement extends Error {
  /**
   * `proof`: what the server has signed. A fork that shows itself is a file of a monitor (docs/auditing.md, "What a monitor finds").
   * `title`: what it is, if it is less than a contradiction.
   */
  constructor(sentence, proof, title = null) {
    super(sentence);
    this.title = title;
    this.proof = proof.finding ? proof : { sentence, ...proof };
  }
}

const json = async (ask, path) => (await ask(path)).json();

export class Comparing {
  constructor({ storage, kept, sdk, ask }) {
    Object.assign(this, { storage, sdk, ask });
    this.receipts = new sdk.Receipts(kept);
    this.kept = kept;
    this.followed = null; // the Evidence of the match that was compared last
    this.comparing = null; // a promise that it is compared
  }

  /** Keep a receipt that has just come. Throw Disagreement if it contradicts one that was kept. */
  keep(note) {
    const said = this.sdk.readReceipt(note);
    return said === null ? undefined : this.#heard(said.match, async (evidence) => this.#take(evidence, note));
  }

  /**
   * Compare the receipts of a match with the entries that the server shows now, and keep one of the newest version. Return {agree, chained,
   * foreign}: how many receipts were found to agree, whether digests were computed, and what is said of moves of the player's seats that this
   * browser has not sent, if there are any, as `judged` of foreign.js returns it. Throw Disagreement.
   *
   * `standing`: the match as the server tells of it. Of a hidden match it may show less to one who has kept more. `player`: who looks.
   */
  match(standing, player = null) {
    return (this.comparing = this.#compared(standing, player));
  }

  async #compared(standing, player) {
    const { id: match, version: newest, status, spectators } = standing;
    const hidden = spectators !== "all" && status !== "over";
    await this.kept.sift(match, (note) => this.receipts.isSigned(note));
    this.followed = new this.sdk.Evidence(match, this.receipts);
    return this.#heard(match, async (evidence) => {
      const notes = await this.receipts.of(match);
      const versions = [...notes.keys()].sort((one, other) => one - other);
      const beyond = versions.findLast((version) => version > newest);
      if (beyond !== undefined && !hidden) await this.#reaches(match, beyond, notes.get(beyond));
      const within = versions.filter((version) => version <= newest);
      const first = within.find((version) => version >= newest - WALK) ?? within.at(-1);
      const chained = this.sdk.canCheck();
      const walked = [];
      if (first !== undefined && chained) {
        evidence.begin(notes.get(first));
        await this.#walk(evidence, newest, walked);
      }
      // Without hashes only what the server has signed is compared: the last version of which a receipt was kept, and the newest one.
      else if (first !== undefined) await evidence.receipt(await this.#receiptOf(match, within.at(-1)));
      const last = await this.#receiptOf(match, Math.max(newest, evidence.version));
      await this.#take(evidence, last);
      if (first === undefined) evidence.begin(last);
      await this.kept.used(match, status === "over" || status === "closed");
      const compared = chained ? within.filter((version) => version >= first) : within.slice(-1);
      const foreign = player && (await this.#foreign(standing, player, walked.filter(({ version }) => version <= newest)));
      return { agree: compared.length, chained, ...(foreign && { foreign }) };
    });
  }

  /** Look for moves of the player's seats that this browser has not sent. Most often there is none, and no more is loaded. */
  async #foreign(standing, player, walked) {
    const sent = await this.kept.sent(standing.id);
    const isOdd = ({ actor, action, version, signed }) => (standing.seats[actor]?.player === player ? sent.get(version) !== (signed?.key ?? "") : action?.type === "take_over");
    return walked.some(isOdd) ? (await import("./foreign.js")).judged({ here: this, standing, player, walked, sent }) : null;
  }

  /** Check that a match has a version that was signed: the standing may be older than the receipt. Throw Disagreement. */
  async #reaches(match, beyond, note) {
    const { version: newest } = await json(this.ask, `/v1/matches/${match}`);
    if (newest >= beyond) return;
    const sentence = t("The match has {newest} versions now, but the server has signed its version {version}.", { newest, version: beyond });
    const keys = await this.receipts.keys();
    throw new Disagreement(sentence, { match, version: beyond, keys, receipts: [note, await this.#receiptOf(match, newest)] });
  }

  /**
   * Return the digest of a version of a match, to which the chain was followed here from what was kept; undefined for a version before that,
   * or if digests cannot be computed. Throw Disagreement.
   */
  async digest(match, version) {
    if (!this.sdk.canCheck()) return undefined;
    await this.comparing?.catch(() => {});
    if (this.followed?.match !== match) await this.match(await json(this.ask, `/v1/matches/${match}`));
    return this.#heard(match, async (evidence) => {
      if (evidence.version) await this.#walk(evidence, version);
      return evidence.digestAt(version);
    });
  }

  /** Return the Disagreement with a server that takes a version for another one than that whose digest it has shown. */
  async differing(match, version, shown) {
    const notes = [(await this.receipts.of(match)).get(version), await this.#receiptOf(match, version).catch(() => undefined)];
    const sentence = t("The server takes version {version} of this match for another one than it has shown here.", { version });
    return new Disagreement(sentence, { match, version, shown, keys: await this.receipts.keys(), receipts: notes.filter(Boolean) });
  }

  /** Check that each entry follows from the one before, up to a version. Put them into `walked`. */
  async #walk(evidence, newest, walked = []) {
    while (evidence.version < newest) {
      const query = new URLSearchParams({ after: evidence.version, limit: PAGE, proof: true });
      const { entries } = await json(this.ask, `/v1/matches/${evidence.match}/entries?${query}`);
      if (!entries.length) return;
      for (const entry of entries) await evidence.entry(entry);
      walked.push(...entries);
    }
  }

  async #receiptOf(match, version) {
    return (await json(this.ask, `/v1/matches/${match}/receipts/${version}`)).receipt;
  }

  async #take(evidence, note) {
    await this.#trust(note);
    await evidence.receipt(note);
  }

  /** Note the keys of the server when it signs for the first time, or with a new one. Throw Disagreement if it has dropped a key. */
  async #trust(note) {
    if (await this.receipts.knows(note)) return;
    const before = await this.receipts.keys();
    const published = (await json(this.ask, "/.well-known/warledger-keys")).keys.map(({ vkey }) => vkey);
    if (before.some((key) => !published.includes(key))) {
      const sentence = t("The server signs with another key, and no longer publishes the one by which it signed what this browser has kept.");
      throw new Disagreement(sentence, { keys: before, published, receipts: [note] });
    }
    await this.receipts.note(published);
  }

  /** Let `work` use the evidence of a match. Turn an Alarm into a Disagreement. */
  async #heard(match, work) {
    try {
      return await work(this.followed?.match === match ? this.followed : new this.sdk.Evidence(match, this.receipts));
    } catch (alarm) {
      if (!(alarm instanceof this.sdk.Alarm)) throw alarm;
      throw await this.#disagreement(alarm);
    }
  }

  /** Return an alarm in plain words, with what the server signs now of the versions in question. */
  async #disagreement(alarm) {
    const { match, version, kept, received, receipt, entry, expected } = alarm;
    const before = await this.receipts.of(match).catch(() => new Map());
    const last = [...before.keys()].filter((one) => one < version).sort((one, other) => one - other).at(-1);
    const signedNow = (one) => (one === undefined ? null : this.#receiptOf(match, one).catch(() => null));
    const known = [kept, received, receipt, before.get(version), before.get(last)].filter((note) => note?.includes("\n"));
    const receipts = [...new Set([...known, ...(await Promise.all([signedNow(version), signedNow(last)]))].filter(Boolean))];
    const changed = this.#contradicted(receipts) ?? (alarm instanceof this.sdk.TwoHistories ? version : null);
    const sentence =
      changed !== null
        ? t("The server has changed the history of this match: it signed another version {version} before.", { version: changed })
        : entry && expected === entry.digest
          ? t("The server shows version {version} of this match after another history than the one after which {actor} has signed it.", { version, actor: entry.actor })
          : entry
            ? t("Version {version} of this match, as the server shows it now, does not follow from what this browser has kept of it.", { version })
            : t("The server gives a receipt of version {version} that is not good: {reason}.", { version, reason: alarm.message.replace(/^[^:]*: /, "") });
    const keys = await this.receipts.keys();
    return new Disagreement(sentence, { match, version: changed ?? version, keys, receipts, ...(entry && { entry, expected }) });
  }

  /** Return the first version of which there are two receipts that differ, or null. */
  #contradicted(notes) {
    const said = notes.map(this.sdk.readReceipt).filter(Boolean);
    const found = said.filter((one) => said.some(({ version, digest, at }) => version === one.version && (digest !== one.digest || at !== one.at)));
    return found.length ? Math.min(...found.map(({ version }) => version)) : null;
  }

  /**
   * Compare the newest checkpoint of the log with the one that was kept, and keep the larger one. Return {since}: when the one before was
   * seen, in ms, or null if there was none; {renamed} if the log had another name before; {begun}: false if the server has none yet, and
   * has shown none here; {missed}: when the one that is kept was seen, if the server gives none now; {late}: a Disagreement if it has given
   * none for a day. Throw Disagreement.
   */
  async log(now = Date.now()) {
    const { last: noted, missing = now } = (await this.storage.get("logs", LOG)) ?? {};
    try {
      const head = await this.#checkpoint(await (await this.ask("/log/checkpoint")).text());
      const last = noted && (await this.receipts.isSigned(noted.note)) ? noted : null;
      const before = last?.origin === head.origin ? last : null;
      const holds = before && (await this.#continued(before, head));
      const newer = !before || head.size >= before.size;
      await this.storage.change("logs", LOG, (kept) => (newer ? { last: { ...head, seen: now } } : kept && { last: kept.last }));
      return { since: holds ? before.seen : null, renamed: last && !before ? last.origin : null };
    } catch (problem) {
      if (problem.status === undefined || (!noted && problem.status !== 404)) throw problem;
      if (!noted) return { since: null, renamed: null, begun: false };
      await this.storage.change("logs", LOG, (kept) => ({ ...kept, missing }));
      return { since: null, renamed: null, missed: noted.seen, late: now - missing < DAY ? null : await this.#late(noted, missing) };
    }
  }

  async #late({ note, size, seen }, missing) {
    const fields = { since: dayOf(missing), day: dayOf(seen), leaves: size };
    const sentence = t("The log could not be asked for since {since}. On {day} it had {leaves} leaves. A server that keeps its log back can tell others another history. Look from another network, and ask whoever runs the server.", fields);
    return new Disagreement(sentence, { checkpoints: [note], keys: await this.receipts.keys() }, t("The log of this server is missing"));
  }

  /** Compare a checkpoint that a file shows with the one that was kept. Return as `log` does. Throw Disagreement. */
  async shown(note) {
    const head = { ...this.sdk.readCheckpoint(note), note };
    const { last } = (await this.storage.get("logs", LOG)) ?? {};
    if (last?.origin !== head.origin || !(await this.receipts.isSigned(last.note))) return { since: null };
    return { since: (await this.#continued(last, head)) ? last.seen : null };
  }

  /** Return everything that is kept, in the form that /check takes. */
  async all() {
    const matches = await this.kept.matches();
    const { last } = (await this.storage.get("logs", LOG)) ?? {};
    return { receipts: matches.flatMap(({ notes }) => notes), checkpoints: last ? [last.note] : [], keys: await this.receipts.keys() };
  }

  /** Forget everything that is kept. */
  async forget() {
    this.followed = null;
    await this.kept.forget();
    await this.storage.change("logs", LOG, () => undefined);
  }

  /** Return a checkpoint, {origin, size, root, note}. Throw Disagreement if the server has not signed it. */
  async #checkpoint(note) {
    const head = this.sdk.readCheckpoint(note);
    if (head) await this.#trust(note);
    if (!head || !(await this.receipts.isSigned(note)))
      throw new Disagreement(t("What the server gives as the newest checkpoint of its log is not signed by its key."), { checkpoints: [note] });
    return { ...head, note };
  }

  /** Return whether of two checkpoints the larger one continues the other; false if hashes cannot be computed here. Throw Disagreement. */
  async #continued(before, head) {
    const [small, large] = before.size <= head.size ? [before, head] : [head, before];
    const checkpoints = [before.note, head.note];
    const day = dayOf(before.seen);
    if (small.size === large.size) {
      if (small.root === large.root) return true;
      throw new Disagreement(t("The server shows another log of {leaves} leaves than on {day}.", { leaves: small.size, day }), await this.#fork(small, large, []));
    }
    if (!this.sdk.canCheck()) return false;
    const proof = await json(this.ask, `/log/consistency?${new URLSearchParams({ from: small.size, to: large.size })}`).catch((problem) => {
      if (problem.status !== 404 && problem.status !== 400) throw problem; // it may answer later
      return { from: small.size, to: large.size, hashes: null };
    });
    if (proof.hashes === null && large === before) {
      const sentence = t("The log of the server has only {leaves} leaves now, and had {before} on {day}.", { leaves: head.size, before: before.size, day });
      throw new Disagreement(sentence, { checkpoints });
    }
    if (Array.isArray(proof.hashes) && (await this.sdk.continues(small, large, proof.hashes))) return true;
    const sentence = t("The log of the server does not continue the one that this browser saw on {day}. So the server has told two histories.", { day });
    const [old, now] = Array.isArray(proof.hashes) && small.size ? await this.sdk.rootsOf(small, large, proof.hashes) : [];
    const shows = now === large.root && old !== small.root;
    throw new Disagreement(sentence, shows ? await this.#fork(small, large, proof.hashes) : { checkpoints, consistency: [proof] });
  }

  /** Return what shows that two checkpoints contradict each other, the smaller one first, as a monitor writes it. */
  async #fork(small, large, path) {
    const checkpoints = [small.note, large.note];
    return { checkpoints, code: "checkpoint_forked", finding: 1, leaves: [], path, receipts: [], vkeys: await this.receipts.keys() };
  }
}

/** Return a moment as a day in words. */
export const dayOf = (moment) => t.date(moment, { dateStyle: "long" });

/** Say what came of comparing the log. `log`: the answer of `Comparing.log`, or null if the log was not to be had. */
export function toldLog(log) {
  if (log === null) return t("The server's log could not be asked for.");
  if (log.missed) return t("The server's log could not be asked for. This browser last saw it on {day}.", { day: dayOf(log.missed) });
  if (log.begun === false) return t("The server's log has not begun yet.");
  if (log.renamed) return t("The server's log has another name than before, when it was {name}.", { name: log.renamed });
  return log.since ? t("The log continues what you saw on {day}.", { day: dayOf(log.since) }) : "";
}

/** Say quietly what came of comparing. `log`: as for `toldLog`. */
export function told({ agree, chained }, log, lasting) {
  const history = agree
    ? chained
      ? t.n("{count} receipt agrees with this match's history.", "{count} receipts agree with this match's history.", agree)
      : t.n("{count} receipt agrees with what the server signs now.", "{count} receipts agree with what the server signs now.", agree)
    : lasting
      ? t("From now on this browser keeps receipts of this match, and compares them when you come back.")
      : "";
  const fades = lasting ? "" : t("This browser keeps nothing, so receipts are compared only while this page is open.");
  const plain = chained || !agree ? "" : t("Without https it cannot compute digests.");
  return [history, toldLog(log), plain, fades].filter(Boolean).join(" ");
}
