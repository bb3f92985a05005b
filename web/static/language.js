// The texts of scripts in the language of the page. The English sentence is the key, and stands in the module that says it.
//
// The page names its language, and for another language than English the file with the texts (`<html lang="ru" data-texts="/static/…/ru.json">`).
// A module runs after this one, so it may translate its constants, too. A text that is missing is told in English.

const root = globalThis.document?.documentElement;

/** The language of the page, such as "ru". */
export const language = root?.lang || "en";

const locale = language === "en" ? "en-GB" : language;
const texts = root?.dataset?.texts ? await fetch(root.dataset.texts).then((answer) => answer.json(), () => ({})) : {};
const plural = new Intl.PluralRules(locale);
const numbers = new Intl.NumberFormat(locale);
const list = new Intl.ListFormat(locale);
const since = new Intl.RelativeTimeFormat(locale);
const FIELD = /\{(\w+)\}/;
const filled = (text, fields) => text.split(FIELD).map((part, place) => (place % 2 ? (fields[part] ?? `{${part}}`) : part));
const found = (text) => texts[text] ?? text;

/** Return a sentence in the language of the page: `t("Sit down")`, `t("{name} has won.", { name })`. It stands as a literal, whole. */
export const t = (text, fields = {}) => filled(found(text), fields).join("");

/** Return a sentence with a number: `t.n("{count} match", "{count} matches", count)`. `fields`: what else it names. */
t.n = (one, other, count, fields = {}) => {
  const forms = texts[one] ?? { one, other };
  return filled(t.form(forms, count), { count: numbers.format(count), ...fields }).join("");
};

/** Return the form of a word for a number. `forms`: by the category that Intl.PluralRules names. */
t.form = (forms, count) => forms[plural.select(count)] ?? forms.other ?? forms.many;

/** Return a sentence that names elements, as what `append` takes: `t.around("You can read {links}.", { links })`. */
t.around = (text, fields) => filled(found(text), fields).flat();

/** Return a number. `options`: of Intl.NumberFormat. */
t.number = (number, options) => (options ? new Intl.NumberFormat(locale, options) : numbers).format(number);

/** Return words as a list: "a, b and c". */
t.list = (words) => list.format(words);

/** Return a moment, in milliseconds or as a text of ISO 8601. `options`: of Intl.DateTimeFormat. */
t.date = (moment, options = { dateStyle: "medium", timeStyle: "short" }) => new Intl.DateTimeFormat(locale, options).format(new Date(moment));

const UNITS = [["day", 86_400], ["hour", 3600], ["minute", 60]];

/** Return how long it is until something: "in 5 hours". */
t.until = (count, unit) => since.format(count, unit);

/** Return how long ago something was, by its seconds: "5 minutes ago". */
t.ago = (seconds) => {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? [];
  return unit ? since.format(-Math.floor(seconds / size), unit) : t("just now");
};
