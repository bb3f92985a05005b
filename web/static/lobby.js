// The lobby: lists that the server writes, new matches, and seats to take.

import { ask, keeping, Problem, random, send } from "./asking.js";
import { askCode } from "./dialogs.js";
import { follow } from "./following.js";
import { $, introduced, onSubmit, player, tell } from "./site.js";

const create = $("create");
const form = create.querySelector("form");

/** Put a list that the server has written into the page. */
async function load(into, query) {
  const response = await ask(`/?part=list&${query}`, { accept: "text/html" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  into.replaceChildren(...page.body.childNodes);
  return into.querySelectorAll(".match").length;
}

async function yours() {
  const section = $("yours");
  if (keeping.key === null) {
    section.hidden = true;
    return;
  }
  try {
    section.hidden = (await load($("yours-list"), "mine=true")) === 0;
  } catch {
    section.hidden = true;
  }
  const turns = section.querySelectorAll(".match.yours").length;
  document.title = `${turns ? `(${turns}) ` : ""}Warledger: matches to watch and to play`;
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
  await yours();
  watch();
  if (query.get("new")) show(query.get("new"));
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
  button.disabled = true;
  try {
    await send(`/v1/matches/${button.dataset.join}/seats/${button.dataset.seat}`, body);
    location.assign(`/m/${button.dataset.join}`);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    tell(problem.message, true);
    button.disabled = false;
  }
}

async function show(game) {
  if (!(await player())) return;
  form.elements.game.value = game;
  choose();
  create.showModal();
}

function choose() {
  for (const fieldset of form.querySelectorAll("fieldset")) {
    fieldset.hidden = fieldset.disabled = fieldset.dataset.of !== form.elements.game.value;
  }
  for (const label of form.querySelectorAll("[data-clock]")) label.hidden = label.dataset.clock !== form.elements.clock.value;
}

form.elements.game.onchange = choose;
form.elements.clock.onchange = choose;

/** Return the body of a new match. A profile sets the options that the form leaves as usual. */
export function matchOf(form) {
  const chosen = form.elements.game.value;
  const fieldset = form.querySelector(`fieldset[data-of="${CSS.escape(chosen)}"]`);
  const body = { game: chosen, seats: {}, options: {} };
  for (const field of fieldset.elements) {
    const [kind, name] = field.name.split(" ");
    if (kind === "seat" && field.value) body.seats[name] = field.value;
    if (kind === "profile" && field.value) body.profile = field.value;
    const value = field.type === "checkbox" ? field.checked : field.value;
    if (kind !== "option" || value === "" || `${value}` === field.dataset.usual) continue;
    body.options[name] = field.type === "number" ? Number(value) : value;
  }
  const number = (name) => Number(form.elements[`clock ${name}`].value);
  const clocks = {
    "": () => undefined,
    none: () => ({ kind: "none" }),
    per_action: () => ({ kind: "per_action", seconds: number("seconds") }),
    bank: () => ({ kind: "bank", seconds: number("minutes") * 60, increment: number("increment") }),
    days: () => ({ kind: "days", hours: number("hours") }),
  };
  const clock = clocks[form.elements.clock.value]();
  if (clock) body.clock = clock;
  if (form.elements.spectators.value !== "all") body.spectators = form.elements.spectators.value;
  if (form.elements.code.checked) body.code = true;
  if (form.elements.signed.checked) body.signed = "required";
  if (form.elements.rated.checked) body.rated = true;
  return body;
}

onSubmit(form, $("create-wrong"), async () => {
  const made = await send("/v1/matches", matchOf(form));
  location.assign(`/m/${made.id}`);
});
