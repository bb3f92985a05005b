// Analyses in figures and sentences: logic without a browser.

import { t } from "./language.js";

export const [WIDE, HIGH] = [1000, 200]; // units of the picture of what seats could expect

/** Return a share as a percentage. */
export const percent = (share) => t.number(share, { style: "percent" });

/** Return the points of a seat's line: what it could expect at each decision, from version 1 to the last one. */
export function points(decisions, seat, last) {
  const at = (version) => Math.round((WIDE * (version - 1)) / Math.max(1, last - 1));
  return decisions.map(({ version, expected }) => `${at(version)},${Math.round(HIGH * (1 - expected[seat]))}`).join(" ");
}

/** Return a turning point in a sentence. `told` tells an action, `name` a seat. */
export function turn(point, decision, told, name) {
  const seat = name(point.seat);
  if (point.kind === "lead") return t("{seat} became the expected winner ({share}).", { seat, share: percent(decision.expected[point.seat]) });
  return t("{seat} lost {share} of a victory. {deed}. Better: {best}.", { seat, share: percent(point.loss), deed: told(decision.action), best: told(decision.best) });
}
