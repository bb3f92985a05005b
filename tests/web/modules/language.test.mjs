import assert from "node:assert/strict";
import { test } from "node:test";

const MODULE = "../../../web/static/language.js";
const TEXTS = { "Sit down": "Сесть", "{name} has won.": "Победа: {name}.", "{count} match": { one: "{count} партия", few: "{count} партии", many: "{count} партий" } };

/** Return the functions of a page in a language. `texts`: what its file holds, or null where there is none to be had. */
async function page(lang, texts) {
  globalThis.document = { documentElement: { lang, dataset: { texts: `/${lang}.json` } } };
  globalThis.fetch = async () => {
    if (texts === null) throw new TypeError("away");
    return { json: async () => texts };
  };
  const found = await import(`${MODULE}?${lang}${texts === null}`);
  delete globalThis.document;
  return found;
}

test("a text is said in the language of the page, with its facts", async () => {
  const { t, language } = await page("ru", TEXTS);
  assert.deepEqual([language, t("Sit down"), t("{name} has won.", { name: "{name}" }), t("Not translated")], ["ru", "Сесть", "Победа: {name}.", "Not translated"]);
  const link = { href: "/" };
  assert.deepEqual(t.around("{name} has won.", { name: link }), ["Победа: ", link, "."]);
});

test("a text with a number has the form for it, and the number is written as there", async () => {
  const { t } = await page("ru", TEXTS);
  const told = (count) => t.n("{count} match", "{count} matches", count).replace(/\s/g, " ");
  assert.deepEqual([1, 3, 12, 21, 1005].map(told), ["1 партия", "3 партии", "12 партий", "21 партия", "1 005 партий"]);
  assert.equal(t.n("{count} seat", "{count} seats", 2), "2 seats");
  assert.deepEqual([t.list(["a", "b", "c"]), t.date(0, { dateStyle: "long", timeZone: "UTC" }), t.until(5, "day")], ["a, b и c", "1 января 1970 г.", "через 5 дней"]);
});

test("without the file of a language texts are said in English", async () => {
  const { t } = await page("ru", null);
  assert.deepEqual([t("Sit down"), t.n("{count} match", "{count} matches", 2)], ["Sit down", "2 matches"]);
});

test("English asks for no file", async () => {
  const { t } = await import(MODULE);
  assert.deepEqual([t("{name} has won.", { name: "Ada" }), t.n("{count} match", "{count} matches", 1), t.list(["a", "b", "c"])], ["Ada has won.", "1 match", "a, b and c"]);
});
