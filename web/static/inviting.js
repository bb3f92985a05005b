// Inviting: whom, by a name or the address of a page; and the link to a match with its picture, which a telephone reads.

import { json, keeping, Problem } from "./asking.js";
import { opened } from "./dialogs.js";
import { t } from "./language.js";
import { copy, make } from "./site.js";

const PLAYER = /p[a-z2-7]{16}/;

/** Return the players of the reader's newest matches, as pairs of ids and names. */
export async function people() {
  const { players } = await json("/v1/matches?player=me&limit=50");
  return Object.entries(players)
    .filter(([id, { name }]) => id !== keeping.player && name !== null)
    .map(([id, { name }]) => [id, name]);
}

/** Return the name of a player. Throw Problem for one who has left. */
export async function nameOf(id) {
  const { name } = await json(`/v1/players/${encodeURIComponent(id)}`);
  if (name === null) throw new Problem({ code: "", detail: t("This player has left.") });
  return name;
}

/** Ask for a player. Return the id and the name, or null. Names need not be unique, so a name is only that of somebody whom the reader has played with. */
export async function whom(question, send) {
  const known = await people();
  const names = make("datalist", { id: "known" }, ...[...new Set(known.map(([, name]) => name))].map((value) => make("option", { value })));
  const field = make("input", { name: "who", required: true, autofocus: true, list: "known", autocomplete: "off", spellcheck: "false" });
  let found = null;
  await opened(question, [make("label", {}, t("The name of somebody you have played with, or the address of a player's page"), field), names], send, async (data) => {
    const text = data.get("who").trim();
    const named = known.filter(([, name]) => name.toLowerCase() === text.toLowerCase());
    if (named.length > 1) throw new Problem({ code: "", detail: t("You have played with several who have this name. Give the address of the player's page.") });
    const id = named[0]?.[0] ?? PLAYER.exec(text)?.[0];
    if (!id) throw new Problem({ code: "", detail: t("You have played with nobody of this name. Ask for the address of the player's page: it is under the player's own name.") });
    found = { id, name: await nameOf(id) };
  });
  return found;
}

/** Return the link to a match, with its picture. `code`: what the match asks for, if it does; it stands behind the #, which no server is told. */
export async function invitation(match, code) {
  const address = `${location.origin}/m/${match}${code ? `#code=${code}` : ""}`;
  const link = make("p", { class: "key" }, address);
  const told = code ? t("Whoever has this link may sit down.") : t("Whoever opens this link may sit down at an open seat.");
  const share = navigator.share ? make("button", { type: "button", onclick: () => navigator.share({ url: address }).catch(() => {}) }, t("Share it")) : null;
  const row = make("p", { class: "row" }, make("button", { type: "button", onclick: () => copy(address, t("The link is copied.")) }, t("Copy it")), share);
  return [await picture(address), make("p", { class: "note" }, told), link, row];
}

const SVG = "http://www.w3.org/2000/svg";
const QUIET = 4; // modules around the code, which readers need

/** Return the QR code of a text. It is dark on light in every scheme, as readers need it. */
export async function picture(text) {
  const { generate } = await import("./leanqr.js");
  const code = generate(text);
  const side = code.size + 2 * QUIET;
  let path = "";
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) if (code.get(x, y)) path += `M${x + QUIET} ${y + QUIET}h1v1h-1z`;
  }
  const [svg, ground, dark] = ["svg", "rect", "path"].map((name) => document.createElementNS(SVG, name));
  const given = { viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": t("The link as a QR code"), class: "qr" };
  for (const [name, value] of Object.entries(given)) svg.setAttribute(name, value);
  for (const [name, value] of Object.entries({ width: side, height: side, fill: "#fff" })) ground.setAttribute(name, value);
  dark.setAttribute("d", path);
  svg.append(ground, dark);
  return svg;
}
