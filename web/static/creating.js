// The form of a new match. It is loaded when somebody begins one, and its fields say by their names where they belong in the request.

import { ask, registered, send } from "./asking.js";
import { nameOf, people, whom } from "./inviting.js";
import { t } from "./language.js";
import { make, onSubmit } from "./site.js";

/** Open the form. `game`: the game that is chosen first. `invited`: the id of a player to invite, if any. */
export async function create(game, invited) {
  const form = document.querySelector("#create form") ?? (await loaded());
  if (game && form.querySelector(`[name=game] [value="${CSS.escape(game)}"]`)) form.elements.game.value = game;
  suit(form);
  form.closest("dialog").showModal();
  const known = await people();
  for (const [id, name] of known) offer(form, id, name);
  if (invited) await invite(form, invited);
}

async function loaded() {
  const response = await ask("/?part=form", { accept: "text/html" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const dialog = page.getElementById("create");
  document.body.append(dialog);
  const form = dialog.querySelector("form");
  dialog.querySelector("[data-close]").onclick = () => dialog.close();
  form.addEventListener("change", ({ target }) => {
    if (target.value === "?") asked(form, target);
    else target.dataset.before = target.value;
    suit(form);
  });
  form.addEventListener("click", ({ target }) => {
    const row = target.closest(".up")?.closest("li");
    if (!row) return;
    row.previousElementSibling?.before(row);
    target.focus();
  });
  onSubmit(form, form.querySelector(".wrong"), async () => {
    await registered();
    location.assign(`/m/${(await send("/v1/matches", bodyOf(form))).id}`);
  });
  return form;
}

/** Show the parts of the form that fit what is chosen. The others are not sent. */
function suit(form) {
  for (const part of form.querySelectorAll("[data-when], [data-unless]")) {
    const [name, value] = (part.dataset.when ?? part.dataset.unless).split(" ");
    part.hidden = part.disabled = (form.elements[name].value === value) !== ("when" in part.dataset);
  }
}

// ---------------------------------------------------------------- players who are invited

/** Let a player be chosen for each seat. */
function offer(form, id, name) {
  const value = `player:${id}`;
  for (const group of form.querySelectorAll("[data-invite]")) {
    if (!group.querySelector(`[value="${value}"]`)) group.prepend(make("option", { value }, name));
  }
}

/** Keep the second seat of each game for a player. */
async function invite(form, id) {
  offer(form, id, await nameOf(id));
  for (const seats of form.querySelectorAll(".seating")) seats.querySelectorAll("select")[1].value = `player:${id}`;
}

/** Ask for whom a seat is kept. */
async function asked(form, select) {
  const before = select.dataset.before ?? [...select.options].find((one) => one.defaultSelected).value;
  select.value = before;
  const found = await whom(t("Whom do you invite?"), t("Invite"));
  if (!found) return;
  offer(form, found.id, found.name);
  select.value = select.dataset.before = `player:${found.id}`;
}

// ---------------------------------------------------------------- what is sent

/** Return the body of a new match. What is as usual is left out, so a profile sets it. */
export function bodyOf(form) {
  const body = {};
  for (const field of form.elements) {
    if (!field.name || field.matches(":disabled, fieldset")) continue;
    const value = valueOf(field);
    if (value === undefined) continue;
    const path = field.name.split(".");
    const last = path.pop();
    let inside = body;
    for (const name of path) inside = inside[name] ??= {};
    if ("many" in field.dataset) (inside[last] ??= []).push(value);
    else inside[last] = value;
  }
  const rows = [...form.querySelectorAll("fieldset:not(:disabled) > .seating > li")].filter(({ dataset }) => dataset.seat in (body.seats ?? {}));
  if (rows.some((row, place) => place && Number(row.dataset.place) < Number(rows[place - 1].dataset.place))) body.order = rows.map(({ dataset }) => dataset.seat);
  return body;
}

/** Return what a field adds to the body, or undefined. */
function valueOf(field) {
  const { usual, unit = 1, json: written, list } = field.dataset;
  if (field.type === "checkbox") {
    if (usual === undefined) return field.checked ? field.value : undefined;
    return String(field.checked) === usual ? undefined : field.checked;
  }
  const value = field.value.trim();
  if (value === "" || value === usual) return undefined;
  if (field.type === "number") return Number(value) * unit;
  if (list !== undefined) return value.split(/[\s,]+/).filter(Boolean);
  return written === undefined ? value : parsed(value);
}

/** Return JSON, or the text itself, which the server then refuses with a sentence. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
