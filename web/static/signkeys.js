// The keys that sign the moves of the player: which there are, whether this browser has made them, and how to revoke one.

import { signing } from "./acting.js";
import { ask, json, keeping, Problem } from "./asking.js";
import { dayOf } from "./comparing.js";
import { isSure } from "./dialogs.js";
import { t } from "./language.js";
import { shortKey } from "./signing.js";
import { make, tell } from "./site.js";

const LISTED = "/v1/players/me/signing-keys";

/** Show the keys in a list. */
export async function show(list) {
  list.replaceChildren(make("li", {}, t("Looking …")));
  try {
    const here = await signing();
    const [{ keys }, mine] = await Promise.all([json(LISTED), here.known(keeping.player)]);
    const rows = [...keys].reverse().map((key) => row(key, mine, list));
    const none = t("None yet. This browser makes one when you first play a match.");
    list.replaceChildren(...(rows.length ? rows : [make("li", {}, here.why ?? none)]));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    list.replaceChildren(make("li", {}, problem.message));
  }
}

function row({ key, name, registered, revoked }, mine, list) {
  const whose = key === mine ? make("strong", {}, t("this browser")) : make("span", { class: revoked === null ? "odd" : null }, t("not made in this browser"));
  const since = revoked === null ? t("{whose}, since {day}") : t("{whose}, since {day}, revoked on {end}");
  return make(
    "li",
    {},
    make("span", {}, name ?? "", " ", make("code", { class: "key", title: key }, shortKey(key))),
    revoked === null ? make("button", { type: "button", class: "small", onclick: () => revoke(key, list), "aria-label": t("Revoke {name} {key}", { name, key: shortKey(key) }) }, t("Revoke")) : null,
    make("small", {}, ...t.around(since, { whose, day: dayOf(registered), end: revoked === null ? "" : dayOf(revoked) })),
  );
}

async function revoke(key, list) {
  if (!(await isSure(t("Nothing can be signed with a revoked key any more. What it has signed stays signed."), t("Revoke it")))) return;
  try {
    await ask(`${LISTED}/${key.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`, { method: "DELETE" });
    await (await signing()).again(keeping.player);
    tell(t("The key is revoked."));
    await show(list);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    tell(problem.message, true);
  }
}
