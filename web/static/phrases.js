// Set phrases at the table: what one's seat says, what others say, and whom one hears. Strangers are not heard until the reader chooses to.

import { ask, json, keeping, Problem } from "./asking.js";
import { t } from "./language.js";
import { make, tell } from "./site.js";
import { word } from "./words.js";

const KEPT = "warledger.heard"; // by player: whether the reader hears what the player says
const MOST = 5; // phrases that are shown
const SAYS = "say_";

let friends = null; // players of other matches of the reader
const said = []; // the newest first: {seat, phrase}
const hinted = new Set();

/** Return what the reader has chosen, by player. */
function chosen() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

function choose(player, heard) {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...chosen(), [player]: heard }));
  } catch {
    // for this page alone
  }
}

/** Return true if the reader hears a player: as the reader has chosen, or because they have sat at another table together. */
async function hears(play, player) {
  const kept = chosen()[player];
  if (kept !== undefined) return kept;
  friends ??= json("/v1/matches?player=me&limit=50").then(
    ({ matches }) => new Set(matches.filter(({ id }) => id !== play.match).flatMap(({ seats }) => Object.values(seats).map((seat) => seat.player))),
    () => new Set(),
  );
  return player !== undefined && (await friends).has(player); // a seat of the AI has none, nor one of a table that is not known yet
}

const playerOf = (play, seat) => play.standing?.seats[seat]?.player;
const nameOf = (play, seat) => play.standing?.players[playerOf(play, seat)]?.name ?? word(play.words, seat);

/** Take notice of what a seat says. */
export async function heard(play, { seat, phrase }) {
  const player = playerOf(play, seat);
  const own = player === keeping.player;
  const name = nameOf(play, seat);
  if (!own && !(await hears(play, player))) {
    if (!hinted.has(player)) tell(t("{name} says something. You hear strangers only if you choose to, below your choices.", { name }));
    hinted.add(player);
    return;
  }
  said.unshift({ seat, phrase });
  said.splice(MOST);
  if (!own) tell(`${name}: ${word(play.words, SAYS + phrase)}`);
  play.write();
}

async function say(play, phrase) {
  try {
    await ask(`${play.api}/phrases?seat=${play.seat ?? play.seats[0]}`, { method: "POST", body: { phrase } });
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    tell(problem.message, true);
  }
}

/** Return what is shown below the choices: what was said, the phrases, and whom the reader hears. */
export function rows(play) {
  const phrases = Object.keys(play.words.names).filter((id) => id.startsWith(SAYS));
  const buttons = phrases.map((id) => make("button", { type: "button", class: "small", "data-keep": id, onclick: () => say(play, id.slice(SAYS.length)) }, word(play.words, id)));
  const others = Object.keys(play.standing.seats).filter((seat) => ![undefined, keeping.player].includes(playerOf(play, seat)));
  const boxes = others.map((seat) => {
    const player = playerOf(play, seat);
    const box = make("input", { type: "checkbox", "data-keep": `hear ${player}`, onchange: () => choose(player, box.checked) });
    hears(play, player).then((now) => (box.checked = now));
    return make("label", { class: "hear" }, box, " ", t("Hear {name}", { name: nameOf(play, seat) }));
  });
  if (!others.length) return [];
  const details = make("details", { class: "say" }, make("summary", { "data-keep": "say" }, t("Say something")), make("div", { class: "row" }, ...buttons), make("div", { class: "row" }, ...boxes));
  details.open = rows.open ?? false;
  details.ontoggle = () => (rows.open = details.open);
  const list = make("ul", { class: "said", "aria-label": t("What was said") }, ...said.map((one) => make("li", {}, make("b", {}, nameOf(play, one.seat)), ` ${word(play.words, SAYS + one.phrase)}`)));
  return [said.length ? list : null, details];
}
