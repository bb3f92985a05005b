// Why not: what belongs to the phase but is not possible, beside the choices. It is dimmed, and says its reason and its rule.

import { t } from "./language.js";
import { impossible, inWords } from "./reasons.js";
import { make } from "./site.js";
import { valued } from "./words.js";

/** Return what is not possible. Pointing, focus and a tap write below why. `play`: the Playing of the page. */
export function rows({ game, game_, blocked, words }) {
  const found = impossible(game_, blocked);
  if (!found.length) return [];
  const line = make("p", { class: "note", id: "why-not" });
  const group = make("div", { class: "choices blocked", role: "group", "aria-label": t("Not possible now") });
  for (const { field, value, action, detail, rule } of found) {
    const [name, reason] = [valued(words, field, value, action), inWords(words, detail)];
    const link = rule && make("a", { href: `/games/${game}#${rule}`, class: "rule", "data-rule": rule }, rule);
    const tellWhy = () => {
      line.replaceChildren(reason, " ", link ?? "");
      group.after(line);
    };
    const button = make("button", { type: "button", "aria-disabled": "true", onclick: tellWhy, "data-keep": `not ${name}` }, name, make("span", { class: "unseen" }, `: ${reason}`));
    for (const way of ["pointerenter", "focus"]) button.addEventListener(way, tellWhy);
    group.append(button);
  }
  return [group];
}
