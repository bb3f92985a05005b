// What a level of play thinks: of every decision of a match that is over, and of the choices of a seat in a practice match.
// A worker of the server thinks. The page asks until the answer is there.

import { ask, keeping, Problem } from "./asking.js";
import { t } from "./language.js";
import { crest, make, player, tell } from "./site.js";
import { HIGH, percent, points, turn, WIDE } from "./turning.js";
import { sentence, word } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const TOLD = 5; // actions of a hint

/** Ask until there is an answer other than 202. `waiting` gets each of those. `again`: how to ask after the first time. */
export async function answered(path, waiting, method = "GET", again = "GET", body = undefined) {
  for (;;) {
    const response = await ask(path, { method, body });
    const found = await response.json();
    if (response.status !== 202) return found;
    waiting(found);
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("Retry-After") ?? 1)));
    method = again;
  }
}

/** Put the analysis of a match that is over into an element. `show` shows a version. */
export function mount(element, { match, words, seats, last, show }) {
  const said = make("p", { class: "note", role: "status" });
  const path = `/v1/matches/${match}/analysis`;
  const name = (seat) => seats.find(({ id }) => id === seat)?.name ?? seat;
  const told = (action) => sentence(words, action);
  const waiting = ({ version, versions }) => (said.textContent = t("Analysing … version {version} of {versions}", { version, versions }));

  async function work() {
    button.disabled = true;
    said.textContent = t("Analysing …");
    try {
      const found = await begun();
      if (found) draw(found);
    } catch (problem) {
      said.textContent = problem.message;
    }
    button.disabled = false;
  }

  /** Ask for the analysis. Whoever has no key may read it, but not ask for one that is not there. */
  async function begun() {
    if (keeping.key === null) {
      try {
        return await answered(path, waiting);
      } catch (problem) {
        if (!(problem instanceof Problem) || problem.code !== "no_analysis") throw problem;
        if (!(await player())) return (said.textContent = "");
      }
    }
    return answered(path, waiting, "POST");
  }

  function draw(found) {
    const decided = new Map(found.decisions.map((decision) => [decision.version, decision]));
    const at = (version) => make("button", { type: "button", class: "small", onclick: () => show(version) }, t("Version {version}", { version }));
    const puzzle = (version) => make("button", { type: "button", class: "small", onclick: ({ target }) => puzzled(target, version) }, t("Make a puzzle"));
    const turns = found.turning_points.map((point) => make("li", {}, at(point.version), make("span", {}, turn(point, decided.get(point.version), told, name)), puzzle(point.version)));
    const figures = Object.entries(found.seats).map(([seat, { decisions, agreed, lost }]) =>
      make("li", {}, crest(`b-${seat}`), make("span", {}, t("{seat}: decisions {decisions}, as good as any {agreed}, victories lost in all {lost}.", { seat: name(seat), decisions, agreed, lost: t.number(lost, { maximumFractionDigits: 2, minimumFractionDigits: 2 }) }))),
    );
    said.textContent = t("Judged by {level}, by what each seat knew when it decided. Luck is no error.", { level: word(words, `ai_${found.by.level}`) });
    result.replaceChildren(picture(found), make("p", { class: "note" }, t("The higher the line of a seat, the better its chance to win, from 0 to 100 %. A click goes to that version.")), make("ul", {}, ...figures), make("ol", { "aria-label": t("Turning points") }, ...turns));
    result.hidden = false;
    button.hidden = true;
  }

  /** Let a worker make a puzzle of a decision, and go there. */
  async function puzzled(pressed, version) {
    if (!(await player())) return;
    pressed.disabled = true;
    try {
      const { id } = await answered(`/v1/matches/${match}/puzzles?version=${version}`, () => tell(t("The best move is looked for …")), "POST", "POST");
      location.assign(`/puzzles/${id}`);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      tell(problem.message, true);
      pressed.disabled = false;
    }
  }

  function picture({ decisions }) {
    const svg = document.createElementNS(SVG, "svg");
    const label = t("What each seat could expect, from version 1 to {last}: at last {shares}", { last: last(), shares: seats.map(({ id, name: own }) => `${own} ${percent(decisions.at(-1)?.expected[id] ?? 0)}`).join(", ") });
    for (const [key, value] of Object.entries({ viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": label })) svg.setAttribute(key, value);
    for (const { id, ground } of seats) {
      const [group, line] = [document.createElementNS(SVG, "g"), document.createElementNS(SVG, "polyline")];
      group.setAttribute("class", `a-${ground}`);
      line.setAttribute("points", points(decisions, id, last()));
      group.append(line);
      svg.append(group);
    }
    svg.onclick = ({ clientX }) => {
      const { left, width } = svg.getBoundingClientRect();
      show(1 + Math.round(((clientX - left) / width) * (last() - 1)));
    };
    return svg;
  }

  const result = make("div", { hidden: true });
  const button = make("button", { type: "button", class: "first", onclick: work }, t("Analyse this match"));
  element.classList.add("analysis");
  element.replaceChildren(
    make("link", { rel: "stylesheet", href: new URL("./analysing.css", import.meta.url).pathname }),
    make("h2", {}, t("Where it turned")),
    make("p", { class: "row" }, button),
    said,
    result,
  );
}

/** Show what a level would do for the seat that plays, and what it thinks of the best choices. `play` is the Playing of the page. */
export async function hint(play) {
  tell(t("Thinking …"));
  try {
    const { action, options, level } = await answered(`${play.api}/hint?seat=${play.seat}`, () => tell(t("Thinking …")));
    const listed = options.slice(0, TOLD).map((option) => make("li", {}, `${percent(option.worth)}: ${sentence(play.words, option.action)}`));
    const close = make("button", { type: "button" }, t("Close"));
    const dialog = make(
      "dialog",
      { class: "wide", "aria-labelledby": "hint-title", onclose: () => dialog.remove() },
      make("h2", { id: "hint-title", tabindex: -1, autofocus: true }, sentence(play.words, action)),
      make("p", { class: "note" }, t("{level}, would do this. It knows what your seat sees. Percentages are shares of a victory.", { level: word(play.words, `ai_${level}`) })),
      make("ol", {}, ...listed),
      make("p", { class: "row end" }, close),
    );
    close.onclick = () => dialog.close();
    document.body.append(dialog);
    dialog.showModal();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    tell(problem.message, true);
  }
}
