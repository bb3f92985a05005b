// The audit in the tab: a match that is over, or files that somebody drops, are checked by verify.mjs, and compared with the receipts that the
// browser keeps. No file is sent anywhere. For receipts without a file, the server is asked what it signs of their versions now. Where the
// server has Pyodide, the rules of the games decide every action again, too, in a worker.
//
// Two events tell the page of it: `seek` with {version} when a finding is chosen, `findings` with {versions} of the match of the page.

import { ask, json } from "./asking.js";
import { alone, aloneTold, checked, decided, failing, forked, receiptsTold, ruling, sorted, verdict, withKept } from "./checking.js";
import { dayOf, Disagreement } from "./comparing.js";
import { askText } from "./dialogs.js";
import { comparing } from "./evidence.js";
import { t } from "./language.js";
import { make } from "./site.js";

const ABOUT_AGAIN = t("To decide every action again, your browser loads Python and the rules of this server, 7 MB the first time. It sends nothing.");
const CHECKED = {
  entries: t("Entries"),
  digests: t("Digests"),
  salts: t("Salts"),
  rolls: t("Rolls of dice"),
  moves: t("Moves"),
  signatures: t("Signatures"),
  receipts: t("Receipts"),
  reads: t("Reads of staff"),
  leaves: t("Leaves of the log"),
  "running hashes": t("Running hashes"),
  logs: t("Logs"),
};

/** Put the audit into an element. `match`: the match of the page, if there is one; it is over. */
export function mount(element, { match = null } = {}) {
  const said = make("p", { class: "verdict", role: "status" });
  const list = make("ol", { "aria-label": t("Findings"), hidden: true });
  const held = make("ul", { "aria-label": t("Receipts"), class: "held", hidden: true });
  const more = make("details", { hidden: true }, make("summary", {}, t("What was checked, and what was not")));
  const input = make("input", { type: "file", multiple: true });
  const button = match && make("button", { type: "button", class: "first" }, t("Check this match"));
  const { pyodide } = element.dataset;
  const again = pyodide && make("button", { type: "button", hidden: !match, onclick: decide }, t("Decide every action again"));
  let last = match && (() => dossier(match)); // yields what is to be decided again
  let turn = 0;
  let working = new AbortController();

  function say(text, kind = "") {
    said.textContent = text;
    said.className = `verdict ${kind}`;
  }

  /** Do some work and show what comes of it, unless other work was asked for meanwhile. `say` is given to it for its progress. */
  async function work(begun, job, show) {
    const mine = ++turn;
    const current = () => mine === turn;
    working.abort();
    working = new AbortController();
    list.hidden = held.hidden = more.hidden = true;
    say(begun);
    try {
      const result = await job((text) => current() && say(text), working.signal);
      if (current()) show(result);
    } catch (problem) {
      if (current()) say(problem.message, "fails");
    }
  }

  /** Check what `given` yields. */
  function check(given) {
    last = given;
    if (again) again.hidden = false;
    const job = async (told) => {
      const here = await comparing();
      const all = await withKept(await given(), await here.all(), here.sdk.readReceipt);
      if (!all.keys.length && all.receipts.length && !(await isDossier(all.files))) all.keys = await published();
      const { told: signedBy, verify } = await import("./verify.mjs");
      const result = await checked(verify, all, (lines) => told(t.n("Checking … {count} line", "Checking … {count} lines", lines)));
      return { ...result, own: all.own, signers: result.files.flatMap(signedBy), log: await continued(here, result.checkpoints) };
    };
    return work(t("Checking …"), job, show);
  }

  /** Check receipts and checkpoints without a file. */
  function hold({ receipts, checkpoints, keys, consistency }) {
    const job = async () => {
      const here = await comparing();
      const known = [...keys, ...(await here.all()).keys];
      const trusted = new here.sdk.Receipts(undefined, known.length ? known : await published());
      const states = await alone(receipts, here.sdk.readReceipt, (note) => trusted.isSigned(note), ask);
      return { states, log: await logged(here, checkpoints, consistency, trusted) };
    };
    return work(t("Comparing …"), job, ({ states, log }) => {
      const { ok, text } = states.length ? aloneTold(states) : { ok: true, text: "" };
      say([text, log.text].filter(Boolean).join(" "), ok && !log.bad ? "holds" : "fails");
      showHeld(receiptsTold(states));
    });
  }

  /** Let the rules decide again what was checked last, or the match of the page. */
  function decide() {
    const job = async (told, signal) => {
      const progress = ({ entries, of }) => told(t("Deciding again … {number} of {count} entries", { number: t.number(entries), count: t.number(of) }));
      return decided(`${pyodide}/deciding.js`, (await last()).files, progress, signal);
    };
    return work(t("Loading Python …"), job, (result) => {
      showFindings(result, ruling(result));
      showMore(make("ul", {}, ...result.reports.flatMap(aboutRules).map((sentence) => make("li", {}, sentence))));
    });
  }

  /** Show a sentence, and the findings, which the page pins to their versions. */
  function showFindings(result, sentence) {
    const versions = failing(result, match);
    say(sentence, result.ok ? "holds" : "fails");
    list.replaceChildren(...result.findings.map((finding) => line(finding, versions)));
    list.hidden = result.ok;
    element.dispatchEvent(new CustomEvent("findings", { bubbles: true, detail: { versions } }));
  }

  function showMore(...parts) {
    more.replaceChildren(more.firstChild, ...parts);
    more.hidden = false;
  }

  function showHeld(told) {
    held.replaceChildren(...told.map(({ text, bad }) => make("li", { class: bad ? "fails" : null }, text)));
    held.hidden = !told.length;
  }

  function show(result) {
    showFindings(result, verdict(result));
    showHeld([...receiptsTold(result.receipts, result.own), ...(result.log.text ? [result.log] : [])]);
    const done = Object.entries(result.checked).filter(([, number]) => number);
    showMore(
      make("ul", {}, ...result.files.map((file) => make("li", {}, about(file)))),
      make("ul", {}, ...result.signers.map((sentence) => make("li", {}, `${sentence}.`)), ...done.map(([name, number]) => make("li", {}, `${CHECKED[name] ?? name}: ${t.number(number)}`))),
      make("p", {}, t("Not checked:")),
      make("ul", {}, ...result.unchecked.map((sentence) => make("li", {}, t(sentence)))),
    );
  }

  function line({ version, code, sentence }, versions) {
    const seek = () => element.dispatchEvent(new CustomEvent("seek", { bubbles: true, detail: { version } }));
    const name = version === null ? t("File") : t("Version {version}", { version });
    const place = versions.includes(version)
      ? make("button", { type: "button", class: "small", onclick: seek }, name)
      : make("b", {}, name);
    return make("li", {}, place, make("span", {}, sentence, " ", make("code", {}, code)));
  }

  /** Take files from the reader. */
  async function dropped(files) {
    const given = await sorted(files);
    const [other] = given.others;
    if (other) say(t("{file} is not the file of a match. Give a dossier or a record, as text that begins with “{brace}”.", { file: other.name, brace: "{" }), "fails");
    else if (given.files.length) check(async () => given);
    else if (given.receipts.length || given.checkpoints.length) hold(given);
    else say(t("Give the file of a match as well: a dossier or a record. Drop it together with what you have kept."), "fails");
  }

  const pasted = (text) => dropped([new File([text], t("What was pasted"))]);

  const holds = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragover", (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    element.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && element.classList.remove("dropping"));
  addEventListener("drop", (event) => {
    element.classList.remove("dropping");
    if (!holds(event)) return;
    event.preventDefault();
    dropped([...event.dataTransfer.files]);
  });
  addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain");
    if (!text || event.target.closest?.("input, textarea, dialog")) return;
    event.preventDefault();
    pasted(text);
  });
  const paste = make("button", { type: "button", onclick: async () => {
    const text = await askText(t("Paste it here"), { about: t("A receipt, a checkpoint, or the text of a whole file"), long: true, send: t("Check it") });
    if (text) pasted(text);
  } }, t("Paste …"));
  input.onchange = () => {
    dropped([...input.files]);
    input.value = "";
  };
  if (button) button.onclick = () => check(() => dossier(match));

  element.classList.add("audit");
  element.replaceChildren(
    ...[
      make("link", { rel: "stylesheet", href: new URL("./auditing.css", import.meta.url).pathname }),
      make("h2", {}, t("Check it yourself")),
    ],
    make(
      "p",
      { class: "note" },
      t("Your browser checks the chain of digests, the secret, every roll of dice, signatures and the log. It needs no trust in this server, and sends no file."),
    ),
    make("p", { class: "row" }, ...[button].filter(Boolean), make("label", { class: "button" }, t("Check files …"), input), paste, again),
    make(
      "p",
      { class: "note" },
      t("Or drop files anywhere on this page: dossiers or records, with keys, receipts and checkpoints that you have kept. Receipts may also come alone. What this browser keeps is compared by itself."),
    ),
    ...[again && make("p", { class: "note" }, ABOUT_AGAIN), said, held, list, more].filter(Boolean),
  );
}

/** Ask for the dossier of a match, and for the keys of the server that it should be signed with. */
async function dossier(match) {
  const response = await ask(`/v1/matches/${match}/dossier`, { accept: "application/x-ndjson" });
  const none = { receipts: [], checkpoints: [], consistency: [] };
  return { ...none, files: [{ match, name: null, stream: () => response.body }], keys: await published() };
}

/** Return the keys that this server publishes. */
const published = async () => (await json("/.well-known/warledger-keys")).keys.map(({ vkey }) => vkey);

/** Whether one of the files has keys of its own. */
async function isDossier(files) {
  const begins = await Promise.all(files.map((file) => file.slice?.(0, 2_000).text() ?? '"line":"dossier"'));
  return begins.some((text) => text.includes('"line":"dossier"'));
}

/** Compare checkpoints without a file with one another, and as `continued` does. Return {text, bad}. */
async function logged(here, notes, consistency, trusted) {
  for (const note of notes) {
    if (!(await trusted.isSigned(note))) return { text: t("A checkpoint is not signed by a key that is known."), bad: true };
  }
  const contradiction = await forked(notes, consistency, here.sdk);
  if (contradiction) return { text: contradiction, bad: true };
  return continued(here, notes);
}

/** Compare checkpoints with the newest one of this server, and with the one that the browser keeps. Return {text, bad}; no text if there is nothing to compare. */
async function continued(here, notes) {
  try {
    const moments = [];
    if (notes.length) await here.log();
    for (const note of notes) moments.push((await here.shown(note)).since);
    const since = moments.find(Boolean);
    return { text: since === undefined ? "" : t("The log is the one that this browser saw on {day}.", { day: dayOf(since) }), bad: false };
  } catch (problem) {
    if (problem instanceof Disagreement) return { text: problem.message, bad: true };
    return { text: t("The log could not be compared with what this browser saw of it: {reason}", { reason: problem.message }), bad: false };
  }
}

function about({ kind, match, versions, viewer, name }) {
  if (kind === "finding") return t("What a monitor has found in the log of a server.");
  const told = { match: match ?? t("no match"), versions, name, viewer };
  if (kind !== "dossier") return t("The record of {match}: {versions} versions.", told);
  if (viewer === "all") return t("The dossier of {match}: {versions} versions, signed by {name}, as everybody may see it now.", told);
  return t("The dossier of {match}: {versions} versions, signed by {name}, as {viewer} may see it.", told);
}

/** Say what deciding a file again rests on. */
function aboutRules({ match, rules, rules_here: here, replayed_only: replayed, dice, commitment, origin }) {
  const same = rules.length === 1 && rules[0] === here;
  const told = { match, rules: rules.join(", ") || t("unknown"), here };
  return [
    same ? t("The match {match} was decided by rules with the content hash {rules}; so it was here.", told) : t("The match {match} was decided by rules with the content hash {rules}; here by those with {here}.", told),
    dice === "undisclosed" ? t("The dice are not known, so what drew any was only replayed.") : "",
    dice === "partly" ? t("This server does not have the rules of all entries, so these were only replayed.") : "",
    commitment === "broken" ? t("The secret is not the one that was published.") : "",
    origin === "trusted" ? t("The position from which the match begins was taken on trust.") : "",
    replayed ? t.n("Only replayed: {count} entry.", "Only replayed: {count} entries.", replayed) : "",
  ].filter(Boolean);
}
