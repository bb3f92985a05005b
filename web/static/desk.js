// The referees' desk: the disputes that wait for a ruling, the earliest deadline first.

import { json, keeping } from "./asking.js";
import { dueIn, stateOf, title, when } from "./disputing.js";
import { t } from "./language.js";
import { $, crest, introduced, make, me } from "./site.js";

const games = JSON.parse($("main").dataset.games);
const all = new URLSearchParams(location.search).get("all") === "true";
const SOON = 2 * 86_400_000; // milliseconds

document.querySelectorAll(".filters a")[all ? 1 : 0].setAttribute("aria-current", "true");

/** Return the row of a dispute. */
function row(one, players) {
  const game = games[one.game] ?? { short: one.game, seats: {} };
  const whose = one.taken === me?.id ? t("Taken by you.") : t("Taken by {name}.", { name: players[one.taken]?.name ?? t("a referee who has left") });
  const taken = one.taken === null ? "" : whose;
  const due = one.until === null ? null : make("p", { class: `due meta${one.until - Date.now() < SOON ? " short" : ""}` }, make("time", { title: when(one.until) }, dueIn(one.until)));
  return make(
    "li",
    {},
    crest(`c-${one.game}-${one.seat}`),
    make("h2", {}, make("a", { href: `/m/${one.match}/disputes/${one.number}` }, `${game.short}: ${title(one, game.seats[one.seat] ?? one.seat)}`)),
    make("p", { class: "meta" }, `${stateOf(one)} ${taken}`),
    due,
  );
}

let cursor = null;

async function load() {
  try {
    const page = await json(`/v1/disputes?${new URLSearchParams({ open: String(!all), ...(cursor ? { cursor } : {}) })}`);
    if (cursor === null) $("list").replaceChildren();
    cursor = page.next;
    $("list").append(...page.disputes.map((one) => row(one, page.players)));
    if (!$("list").children.length && cursor === null) $("list").replaceChildren(make("li", {}, "", make("p", {}, all ? t("There are no disputes.") : t("No dispute waits."))));
  } catch (problem) {
    $("list").replaceChildren(make("li", {}, "", make("p", {}, keeping.key === null ? t("This page is for referees. Bring your key, with the button above.") : problem.message)));
    cursor = null;
  }
  $("more").hidden = cursor === null;
}

$("more").onclick = load;
document.addEventListener("player", () => {
  cursor = null;
  load();
});
await introduced;
load();
