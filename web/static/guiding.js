// A guided first match: it is begun by one click, and its guide stands above the choices and says what to do.

import { Problem, send } from "./asking.js";
import { t } from "./language.js";
import { make, player, tell } from "./site.js";
import { sentence } from "./words.js";

/** Begin a guided match of a game, and go there. `button`: it names the game. */
export async function begin(button) {
  if (!(await player())) return;
  button.disabled = true;
  try {
    const { id } = await send("/v1/matches", { guide: button.dataset.guide });
    location.assign(`/m/${id}`);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    tell(problem.message, true);
    button.disabled = false;
  }
}

/** Return what the guide says now. `play`: the Playing of the page. */
export function rows(play) {
  const { step, steps, text, rules, action } = play.guide;
  const links = rules.flatMap((id) => [" ", make("a", { href: `/games/${play.game}#${id}`, class: "rule", "data-rule": id }, id)]);
  const button = (keep, label, properties) => make("button", { type: "button", class: "small", "data-keep": keep, disabled: play.busy, ...properties }, label);
  if (step) play.guided = play.seen;
  const [first, last] = play.table.choices.find((choice) => choice.action.what === "takeback")?.choose?.version ?? [];
  const back = step === 0 && first <= play.guided && play.guided <= last;
  const buttons = [
    action ? button("guided", t("Do it for me: {deed}", { deed: sentence(play.words, action) }), { onclick: () => play.submit(action) }) : null,
    back ? button("back", t("Take it back"), { onclick: () => play.submit({ type: "offer", what: "takeback", version: play.guided }) }) : null,
    step === 0 ? button("again", t("Begin the guide again"), { "data-guide": play.game }) : null,
  ].filter(Boolean);
  const head = step ? t("Step {step} of {steps}.", { step, steps }) : t("You have left the guide, and play by yourself.");
  return [
    make("div", { class: "guide", role: "group", "aria-label": t("Guide") }, make("p", {}, make("strong", {}, head), " ", text, ...links), buttons.length ? make("div", { class: "row" }, ...buttons) : null),
  ];
}
