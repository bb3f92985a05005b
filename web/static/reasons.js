// What is not possible, and why, as sentences.

import { agrees } from "./narrowing.js";
import { word } from "./words.js";

/**
 * Return what the next buttons lack since it is not possible: {field, value, action, detail, rule}, each value once, with one reason.
 *
 * `narrowing`: the choices, and what has been picked. `blocked`: as the API lists it.
 */
export function impossible(narrowing, blocked) {
  const out = blocked.filter(({ action }) => narrowing.picks.every((pick) => agrees(action, pick)));
  const known = (field) => new Set(narrowing.left.map(({ action }) => JSON.stringify(action[field])));
  const differs = (field) => out.some(({ action }) => field in action && !known(field).has(JSON.stringify(action[field])));
  const field = narrowing.field ?? [...new Set(out.flatMap(({ action }) => Object.keys(action)))].find(differs);
  const told = known(field);
  return out.flatMap(({ action, detail, rule }) => {
    const key = JSON.stringify(action[field]);
    if (!(field in action) || told.has(key)) return [];
    told.add(key);
    return [{ field, value: action[field], action, detail, rule }];
  });
}

/** Return a sentence of the API with a capital letter, and with words for ids that have an underscore. */
export const inWords = (words, text) => text.replace(/\b[a-z0-9]+(_[a-z0-9]+)+\b/g, (id) => word(words, id)).replace(/^./, (first) => first.toUpperCase());
