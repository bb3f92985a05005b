// Analyses in figures and sentences: logic without a browser.

export const [WIDE, HIGH] = [1000, 200]; // units of the picture of what seats could expect

/** Return a share as a percentage. */
export const percent = (share) => `${Math.round(100 * share)} %`;

/** Return the points of a seat's line: what it could expect at each decision, from version 1 to the last one. */
export function points(decisions, seat, last) {
  const at = (version) => Math.round((WIDE * (version - 1)) / Math.max(1, last - 1));
  return decisions.map(({ version, expected }) => `${at(version)},${Math.round(HIGH * (1 - expected[seat]))}`).join(" ");
}

/** Return a turning point in a sentence. `told` tells an action, `name` a seat. */
export function turn(point, decision, told, name) {
  if (point.kind === "lead") return `${name(point.seat)} became the expected winner (${percent(decision.expected[point.seat])}).`;
  return `${name(point.seat)} lost ${percent(point.loss)} of a victory. ${told(decision.action)}. Better: ${told(decision.best)}.`;
}
