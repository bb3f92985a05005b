// The audit in the tab: a match that is over, or a file that somebody drops, is checked by verify.mjs. Nothing is sent anywhere.
// Where the server has Pyodide, the rules of the games decide every action again, too, in a worker.
//
// Two events tell the page of it: `seek` with {version} when a finding is chosen, `findings` with {versions} of the match of the page.

import { ask, json } from "./asking.js";
import { checked, decided, failing, ruling, sorted, verdict } from "./checking.js";
import { make } from "./site.js";

const ABOUT_AGAIN = "To decide every action again, your browser loads Python and the rules of this server, 7 MB the first time. It sends nothing.";

/** Put the audit into an element. `match`: the match of the page, if there is one; it is over. */
export function mount(element, { match = null } = {}) {
  const said = make("p", { class: "verdict", role: "status" });
  const list = make("ol", { "aria-label": "Findings", hidden: true });
  const more = make("details", { hidden: true }, make("summary", {}, "What was checked, and what was not"));
  const input = make("input", { type: "file", multiple: true });
  const button = match && make("button", { type: "button", class: "first" }, "Check this match");
  const { pyodide } = element.dataset;
  const again = pyodide && make("button", { type: "button", hidden: !match, onclick: decide }, "Decide every action again");
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
    list.hidden = more.hidden = true;
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
      const { verify } = await import("./verify.mjs");
      return checked(verify, await given(), (lines) => told(`Checking … ${lines.toLocaleString("en")} lines`));
    };
    return work("Checking …", job, show);
  }

  /** Let the rules decide again what was checked last, or the match of the page. */
  function decide() {
    const job = async (told, signal) => {
      const progress = ({ entries, of }) => told(`Deciding again … ${entries.toLocaleString("en")} of ${of.toLocaleString("en")} entries`);
      return decided(`${pyodide}/deciding.js`, (await last()).files, progress, signal);
    };
    return work("Loading Python …", job, (result) => {
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

  function show(result) {
    showFindings(result, verdict(result));
    const done = Object.entries(result.checked).filter(([, number]) => number);
    showMore(
      make("ul", {}, ...result.files.map((file) => make("li", {}, about(file)))),
      make("ul", {}, ...done.map(([name, number]) => make("li", {}, `${number.toLocaleString("en")} ${name}`))),
      make("p", {}, "Not checked:"),
      make("ul", {}, ...result.unchecked.map((sentence) => make("li", {}, sentence))),
    );
  }

  function line({ version, code, sentence }, versions) {
    const seek = () => element.dispatchEvent(new CustomEvent("seek", { bubbles: true, detail: { version } }));
    const name = version === null ? "File" : `Version ${version}`;
    const place = versions.includes(version)
      ? make("button", { type: "button", class: "small", onclick: seek }, name)
      : make("b", {}, name);
    return make("li", {}, place, make("span", {}, sentence, " ", make("code", {}, code)));
  }

  /** Take files from the reader. */
  async function dropped(files) {
    const given = await sorted(files);
    const [other] = given.others;
    if (other) say(`${other.name} is not the file of a match. Give a dossier or a record, as text that begins with “{”.`, "fails");
    else if (given.files.length) check(async () => given);
    else say("Give the file of a match as well: a dossier or a record. Drop it together with what you have kept.", "fails");
  }

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
  input.onchange = () => {
    dropped([...input.files]);
    input.value = "";
  };
  if (button) button.onclick = () => check(() => dossier(match));

  element.classList.add("audit");
  element.replaceChildren(
    ...[
      make("link", { rel: "stylesheet", href: new URL("./auditing.css", import.meta.url).pathname }),
      make("h2", {}, "Check it yourself"),
    ],
    make(
      "p",
      { class: "note" },
      "Your browser checks the chain of digests, the secret, every roll of dice, signatures and the log. It needs no trust in this server, and sends nothing.",
    ),
    make("p", { class: "row" }, ...[button].filter(Boolean), make("label", { class: "button" }, "Check a file …", input), again),
    make(
      "p",
      { class: "note" },
      "Or drop files anywhere on this page: dossiers or records, with keys, receipts and checkpoints that you have kept.",
    ),
    ...[again && make("p", { class: "note" }, ABOUT_AGAIN), said, list, more].filter(Boolean),
  );
}

/** Ask for the dossier of a match, and for the keys of the server that it should be signed with. */
async function dossier(match) {
  const response = await ask(`/v1/matches/${match}/dossier`, { accept: "application/x-ndjson" });
  const { keys } = await json("/.well-known/warledger-keys");
  return { files: [{ stream: () => response.body }], keys: keys.map(({ vkey }) => vkey) };
}

function about({ kind, match, versions, viewer, name }) {
  const who = kind === "dossier" ? `, signed by ${name}, as ${viewer === "all" ? "everybody may see it now" : `${viewer} may see it`}` : "";
  return `The ${kind} of ${match ?? "no match"}: ${versions} versions${who}.`;
}

/** Say what deciding a file again rests on. */
function aboutRules({ match, rules, rules_here: here, replayed_only: replayed, dice, commitment, origin }) {
  const same = rules.length === 1 && rules[0] === here;
  return [
    `The match ${match} was decided by rules with the content hash ${rules.join(", ") || "unknown"}; ${same ? "so it was here" : `here by those with ${here}`}.`,
    dice === "undisclosed" ? "The dice are not known, so what drew any was only replayed." : "",
    dice === "partly" ? "This server does not have the rules of all entries, so these were only replayed." : "",
    commitment === "broken" ? "The secret is not the one that was published." : "",
    origin === "trusted" ? "The position from which the match begins was taken on trust." : "",
    replayed ? `Only replayed: ${replayed.toLocaleString("en")} entries.` : "",
  ].filter(Boolean);
}
