// Evidence on the pages: receipts are kept of what is played and looked at here, and compared with what the server says later.

import { ask, keeping, Problem } from "./asking.js";
import { Comparing, Disagreement, told, toldLog } from "./comparing.js";
import { t } from "./language.js";
import { Kept } from "./receipts.js";
import { make } from "./site.js";
import { storage } from "./storing.js";

const SDK = ["evidence.js", "problems.js", "receipts.js", "signing.js"];

let loaded = null;

/** Return the Comparing of this page. What it needs is loaded when it is asked for first. */
export const comparing = () =>
  (loaded ??= (async () => {
    const [tables, ...sdk] = await Promise.all([storage(), ...SDK.map((name) => import(`/sdk/${name}`))]);
    return new Comparing({ storage: tables, kept: new Kept(tables), sdk: Object.assign({}, ...sdk), ask });
  })().catch((problem) => {
    loaded = null; // it may be had later
    throw problem;
  }));

/** What is being sent, so that nothing is taken for foreign before its answer was noted. */
export const sending = { done: null };

let line = null; // where the page tells of receipts

/** Keep a receipt that has come with an answer. */
export async function keep(note) {
  try {
    await (await comparing()).keep(note);
  } catch (problem) {
    failed(problem);
  }
}

/**
 * Compare what was kept of a match, and of the log, with what the server says now. Tell in an element what comes of it. Return false if the
 * log should be asked for again.
 */
export async function compare(standing, element) {
  line = element;
  try {
    const here = await comparing();
    await sending.done;
    const found = await here.match(standing, keeping.player);
    const log = await here.log().catch((problem) => {
      if (problem instanceof Problem) return null;
      throw problem;
    });
    const offered = found.agree ? [" ", make("a", { href: "/check" }, t("Check receipts"))] : [];
    line.replaceChildren(told(found, log, here.storage.lasting), ...offered, ...foreign(found.foreign));
    if (log?.late) alarm(log.late);
    return log !== null && log.begun !== false;
  } catch (problem) {
    failed(problem);
    return true;
  }
}

/** Tell of moves that this browser has not sent. Whose they are is for the player to say. */
function foreign(found) {
  if (!found) return [];
  const deny = make("button", { type: "button", class: "small", onclick: async () => alarm(await found.accused()) }, t("I did not make them"));
  return [" ", found.sentence, " ", deny];
}

/** Compare everything that is kept with what this server says now. Return a sentence; `say` gets one for the progress. */
export async function compareAll(say) {
  const here = await comparing();
  const matches = (await here.kept.matches()).filter(({ notes }) => notes.length);
  let [agree, unknown] = [0, 0];
  try {
    for (const [place, { match }] of matches.entries()) {
      say(t("Comparing … {number} of {count} matches", { number: place + 1, count: matches.length }));
      try {
        agree += (await here.match(await (await ask(`/v1/matches/${match}`)).json())).agree;
      } catch (problem) {
        if (problem.status !== 404 && problem.status !== 403) throw problem;
        unknown += 1;
      }
    }
    const log = await here.log();
    if (log.late) alarm(log.late);
    const told = [
      t.n("{count} receipt agrees with what this server shows now.", "{count} receipts agree with what this server shows now.", agree),
      toldLog(log),
      unknown && t("Matches that are not on this server, or that it does not show: {unknown} of {count}.", { unknown, count: matches.length }),
    ];
    return told.filter(Boolean).join(" ");
  } catch (problem) {
    if (problem instanceof Disagreement) alarm(problem);
    return problem.message;
  }
}

/** Raise the alarm if the server has contradicted itself, else say that nothing could be compared. */
export function failed(problem) {
  if (problem instanceof Disagreement) alarm(problem);
  else if (line) line.textContent = t("Receipts could not be compared now: {reason}", { reason: problem.message });
}

async function alarm(problem) {
  if (line && !problem.title) line.textContent = t("What this browser has kept disagrees with the server.");
  (await import("./alarming.js")).alarm(problem);
}

/** Return a value as a file of JSON. */
export const asFile = (value) => new Blob([`${JSON.stringify(value, null, 1)}\n`], { type: "application/json" });
