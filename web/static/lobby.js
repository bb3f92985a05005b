// The lobby: lists that the server writes, new matches, and seats to take.

import { ask, keeping, Problem, random, registered, send } from "./asking.js";
import { askCode } from "./dialogs.js";
import { follow } from "./following.js";
import { t } from "./language.js";
import { $, introduced, player, tell } from "./site.js";

/** Put a list that the server has written into the page. */
async function load(into, query) {
  const response = await ask(`/?part=list&${query}`, { accept: "text/html" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  into.replaceChildren(...page.body.childNodes);
  seated();
  return into.querySelectorAll(".match").length;
}

/** Offer no seat of a match in which the player sits already. The server writes the first list without knowing who reads it. */
function seated() {
  for (const link of document.querySelectorAll(`.match a[href="/p/${keeping.player}"]`)) {
    for (const button of link.closest(".match").querySelectorAll("[data-join]")) button.replaceWith(t("a free seat"));
  }
}

async function yours() {
  await Promise.all([own("yours", "mine=true"), own("invitations", "invited=true")]);
  const turns = $("yours").querySelectorAll(".match.yours").length;
  if ("setAppBadge" in navigator && navigator.onLine) navigator.setAppBadge(turns).catch(() => {});
  document.title = (turns ? `(${turns}) ` : "") + t("Warledger: matches to watch and to play");
}

/** Show a section with matches of the player, if there are any. */
async function own(name, query) {
  const section = $(name);
  if (keeping.key === null) {
    section.hidden = true;
    $(`${name}-list`).replaceChildren();
    return;
  }
  try {
    section.hidden = (await load($(`${name}-list`), query)) === 0;
  } catch {
    section.hidden = true;
  }
}

let following = null;

/** Follow all matches of the player, to show whose turn it is without a reload. */
function watch() {
  following?.abort();
  if (keeping.key === null) return;
  following = new AbortController();
  let soon = 0;
  follow({
    open: (last) => ask("/v1/players/me/stream", { accept: "text/event-stream", signal: following.signal, headers: last ? { "Last-Event-ID": last } : {} }),
    onEvent: ({ event }) => {
      if (event === "ready") return;
      clearTimeout(soon);
      soon = setTimeout(yours, 400);
    },
    signal: following.signal,
  });
}

const query = new URLSearchParams(location.search);

async function arrive() {
  await introduced;
  seated();
  await yours();
  watch();
  if (query.has("new") || query.has("invite")) show(query.get("new"), query.get("invite"));
}

document.addEventListener("player", arrive);
addEventListener("pagehide", () => following?.abort());
arrive();

document.addEventListener("click", async (event) => {
  const { target } = event;
  const asked = target.closest("[data-create]");
  if (asked) show(asked.dataset.create);
  const join = target.closest("[data-join]");
  if (join) await sit(join);
  const decline = target.closest("[data-decline]");
  if (decline) await refuse(decline);
  const older = target.closest("a[rel=next]");
  if (older && !event.metaKey && !event.ctrlKey) {
    event.preventDefault();
    const more = document.createElement("div");
    await load(more, `${new URL(older.href).searchParams}`);
    older.closest("p").replaceWith(...more.childNodes);
  }
});

async function sit(button) {
  if (!(await player())) return;
  const body = { contribution: random(16) };
  if (button.dataset.code) {
    body.code = await askCode();
    if (!body.code) return;
  }
  await tried(button, async () => {
    await registered();
    await send(`/v1/matches/${button.dataset.join}/seats/${button.dataset.seat}`, body);
    location.assign(`/m/${button.dataset.join}`);
  });
}

/** Decline a seat that is kept for the player. */
const refuse = (button) =>
  tried(button, async () => {
    await send(`/v1/matches/${button.dataset.decline}/actions`, { type: "decline_seat", seat: button.dataset.seat });
    await yours();
  });

/** Do what a button asks for, and tell what is wrong. */
async function tried(button, action) {
  button.disabled = true;
  try {
    await action();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    tell(problem.message, true);
    button.disabled = false;
  }
}

/** Open the form of a new match. `invited`: the id of a player to invite, if any. */
async function show(game, invited) {
  try {
    if (await player()) await (await import("./creating.js")).create(game, invited);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    tell(problem.message, true);
  }
}
