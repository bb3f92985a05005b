// Actions in words, from the words that the server gives for ids.

import { t } from "./language.js";

/** Return an id in words. */
export function word(words, id) {
  if (id === null) return t("nothing");
  if (typeof id === "boolean") return id ? t("yes") : t("no");
  if (Array.isArray(id)) return id.length ? id.map((one) => word(words, one)).join(", ") : t("none");
  if (typeof id === "object") {
    const parts = Object.entries(id).filter(([, count]) => count !== 0);
    return parts.length ? parts.map(([key, count]) => (count === 1 ? word(words, key) : `${count} × ${word(words, key)}`)).join(", ") : t("none");
  }
  const text = words.names[id] ?? String(id).replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const lower = (text) => text.charAt(0).toLowerCase() + text.slice(1);

/** Return a value of a field in words. An option of a card is told by the text of the card, if `action` names it. */
export function valued(words, field, value, action) {
  if (typeof value === "number") {
    for (const other of Object.values(action ?? {})) {
      const told = typeof other === "string" ? words.options[other]?.[value] : undefined;
      if (told !== undefined) return told;
    }
  }
  return word(words, value);
}

/** Return a field in words. */
export const fieldName = (words, field) => words.fields?.[field] ?? lower(field.replaceAll("_", " "));

const PART = /\[([^\]|]*)(?:\|([^\]]*))?\]/g;
const FIELD = /\{(\w+)(?::([^}]+))?\}/g;
const isEmpty = (value) => !value || (typeof value === "object" && !Object.values(value).some((one) => one !== 0));

/** Return so many of something: `noun` is what is counted, such as "unit to", or the name of `id` itself. The server knows their plurals. */
function counted(words, id, count, noun) {
  const forms = words.counts?.[noun ?? id];
  const form = forms ? t.form(forms, count) : (noun ?? said(words, id));
  return noun ? `${count} ${form} ${said(words, id)}` : `${count} ${form}`;
}

/** Return a value within a sentence. */
function said(words, value, field, action, noun) {
  if (value === true) return "";
  if (Array.isArray(value)) return t.list(value.map((one) => said(words, one)));
  if (value && typeof value === "object") return t.list(Object.entries(value).filter(([, count]) => count).map(([id, count]) => counted(words, id, count, noun)));
  if (typeof value === "number") return valued(words, field, value, action);
  return words.names[value] ?? String(value).replaceAll("_", " ");
}

/** Return a whole action in words: by the sentence that the game has for it, or field by field. */
export function sentence(words, action) {
  const template = words.deeds?.[action.type];
  if (template) {
    const part = (_, inner, other = "") => ([...inner.matchAll(FIELD)].every(([, field]) => !isEmpty(action[field])) ? inner : other);
    return template.replace(PART, part).replace(FIELD, (_, field, noun) => said(words, action[field], field, action, noun));
  }
  const { type, ...fields } = action;
  const told = Object.entries(fields)
    .filter(([, value]) => !(typeof value === "object" && value !== null && Object.keys(value).length === 0))
    .map(([field, value]) => `${fieldName(words, field)} ${valued(words, field, value, action)}`);
  return `${word(words, type)}${told.length ? `: ${told.join(", ")}` : ""}`;
}

/** Return an action at the table in words. What is offered or voted for has words of its own, as a game may use the same ids. */
export function deed(words, { type, hours, version, ...fields }) {
  const told = Object.entries({ ...fields, hours, version }).filter(([, value]) => value !== undefined);
  const said = told.map(([field, value]) => {
    if (field === "version") return t("to version {version}", { version: value });
    if (field === "dispute") return t("number {number}", { number: value });
    if (field === "hours") return Number.isFinite(value) ? t.n("for {count} hour", "for {count} hours", value) : t("for {count} hours", { count: value });
    return words.names[`${{ what: "offer", for: "vote" }[field]}_${value}`] ?? word(words, value);
  });
  if (type === "offer") return t("{deed} {what}", { deed: word(words, type), what: said.join(" ") });
  return `${word(words, type)}${said.length ? `: ${said.join(", ")}` : ""}`;
}

/** Explain words on panels (`data-term`) on hover, on focus and on a tap. */
export function explained(words) {
  for (const way of ["pointerover", "focusin", "click"]) {
    document.addEventListener(way, async ({ target }) => {
      const term = target.closest?.("[data-term]");
      if (term) (await import("./terms.js")).explain(term, words.terms[term.dataset.term]);
    });
  }
}

/** Return a length of time in short: 1:05:09, 4:05, or 3 days. */
export function clockText(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const unit = (number, name) => t.number(number, { style: "unit", unit: name, unitDisplay: "narrow" });
  if (seconds >= 2 * 86_400) return `${unit(Math.floor(seconds / 86_400), "day")} ${unit(Math.floor(seconds / 3600) % 24, "hour")}`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Return the pointer of the field of a document that is named by an id, the shallowest one, or null. */
export function pointerTo(document, id) {
  let level = [["", document]];
  while (level.length) {
    const next = [];
    for (const [pointer, value] of level) {
      if (value === null || typeof value !== "object" || Array.isArray(value)) continue;
      for (const [key, inner] of Object.entries(value)) {
        const at = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        if (key === id) return at;
        next.push([at, inner]);
      }
    }
    level = next;
  }
  return null;
}
