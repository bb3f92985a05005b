// The page of a puzzle: the board as a seat saw it, its choices, and what a try is worth. A worker may have to judge it first.

import { answered } from "./analysing.js";
import { ask, json, keeping, Problem } from "./asking.js";
import { Board } from "./board.js";
import { isSure } from "./dialogs.js";
import { Frames, linesOf } from "./frames.js";
import { steered } from "./keys.js";
import { t } from "./language.js";
import { Playing } from "./playing.js";
import { $, copy, crest, introduced, make, nextTheme, player, tell } from "./site.js";
import { percent } from "./turning.js";
import { explained, sentence, word } from "./words.js";

const page = $("main");
const { puzzle: id, match, game, seat, at } = page.dataset;
const api = `/v1/puzzles/${id}`;
const words = JSON.parse(page.dataset.words);
const seats = JSON.parse(page.dataset.seats);

const board = new Board({ heading: $("the-heading"), board: $("the-board"), fight: $("the-fight"), panels: $("the-panels"), onPick: (place) => play.pick(place), wheel: matchMedia("(min-width: 56rem)").matches });
board.onLook = (place) => tell(word(words, place));
board.onZoom = (zoomed) => ($("whole").hidden = !zoomed);

/** Choices as in a match. What is sent is judged, and nothing is played. */
class Solving extends Playing {
  learn() {} // the page has the words for everything

  async submit(action) {
    this.busy = true;
    this.mark();
    this.write();
    try {
      verdict(await judged(action));
      this.take(seat, this.offered);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.refusal = problem;
    }
    this.busy = false;
    this.mark();
    this.write();
  }
}

const play = new Solving({ root: $("play"), api, match, game, words, board, plans: false, seats: [] });

const patient = () => tell(t("The expert thinks …"));

/** Return the judgement on an action, or on the best one without one. Some need a worker, and so a player to work for. */
async function judged(action) {
  const asked = () => answered(`${api}/tries`, patient, "POST", "POST", action);
  try {
    return await asked();
  } catch (problem) {
    if (problem.code !== "no_key" || !(await player())) throw problem;
    return asked();
  }
}

/** Say what an action is worth, what it costs, and what may follow. `shown`: the answer was asked for. */
function verdict({ action, solved, cost, worth, best, line }, shown = false) {
  const told = sentence(words, action);
  const facts = { deed: told, cost: percent(cost), worth: percent(worth), best: percent(worth + cost) };
  const head = shown ? t("The best: {deed}", facts) : solved ? t("Solved: {deed}", facts) : t("Not the best: {deed}", facts);
  const about = solved ? t("You can then expect {worth} of a victory.", facts) : t("It costs {cost} of a victory: you can then expect {worth}, and {best} after the best one.", facts);
  const other = solved && cost > 0 ? make("p", {}, t("As good, for the expert: {deed}", { deed: sentence(words, best) })) : null;
  const replies = line.map(({ actor, text }, place) =>
    make("li", { class: place ? null : "tried" }, actor in seats ? crest(`b-${actor}`) : make("span"), make("span", {}, text.join(" "))),
  );
  const panel = $("verdict");
  panel.classList.toggle("solved", solved);
  panel.hidden = false;
  panel.replaceChildren(
    make("h2", {}, head),
    make("p", {}, about),
    ...[other].filter(Boolean),
    make("h3", {}, t("How it may go on")),
    make("ol", { class: "line", tabindex: 0, "aria-label": t("How it may go on") }, ...replies),
    make("p", { class: "note" }, t("A guess at what the seat does not know, if everybody then does what looks best at once.")),
    ...(solved ? [make("p", { class: "row" }, make("a", { class: "button first", href: $("next").href }, t("Next puzzle")))] : []),
  );
  panel.scrollIntoView({ block: "nearest" });
}

/** Show the board so that it can be picked from, and the choices of the seat. */
async function begin() {
  const frames = new Frames();
  const query = new URLSearchParams({ after: at - 1, limit: 1, shape: "page", viewer: seat });
  const drawn = ask(`/v1/matches/${match}/frames?${query}`, { accept: "application/x-ndjson" });
  const puzzle = await json(api);
  for await (const line of linesOf((await drawn).body)) frames.add([line]);
  board.show(frames.at(Number(at)));
  play.offered = puzzle.choices;
  play.take(seat, puzzle.choices);
  const { puzzles } = await json(`/v1/puzzles?limit=1&cursor=${puzzle.made}.${id}`);
  const found = puzzles[0] ?? (await json("/v1/puzzles?limit=1")).puzzles[0];
  if (found && found.id !== id) $("next").href = `/puzzles/${found.id}`;
  const mine = () => ($("remove").hidden = keeping.player !== puzzle.by);
  mine();
  document.addEventListener("player", mine);
}

/** Carry out what may fail, and tell why it has failed. */
const trying = (action) => async () => {
  try {
    await action();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    tell(problem.message, true);
  }
};

$("answer").onclick = trying(async () => verdict(await judged(), true));
$("remove").onclick = trying(async () => {
  if (!(await isSure(t("Nobody can then try it any more."), t("Remove this puzzle")))) return;
  await ask(api, { method: "DELETE" });
  location.assign("/puzzles");
});

const moves = {
  closer: () => board.step(1),
  farther: () => board.step(-1),
  zoom: () => (board.view ? board.whole() : board.land(seat) || board.step(1)),
  board: () => board.focus(),
  theme: nextTheme,
  link: () => copy(`${location.origin}/puzzles/${id}`, t("A link to the puzzle is copied.")),
  close: () => (board.view ? board.whole() : play.startAgain()),
  button: (pressed) => play.press(Number(pressed.key)),
  undo: () => play.undo(),
  send: () => play.send(),
  actions: () => $("play").querySelector("button, input, select")?.focus(),
};

steered(moves);
explained(words);

await introduced;
await trying(begin)();
