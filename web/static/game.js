// The rules of a game: finding one by a word.

import { $ } from "./site.js";

const rules = [...document.querySelectorAll(".rule-of")].map((element) => [element, element.textContent.toLowerCase()]);
const sections = [...document.querySelectorAll(".rules article > section")].filter((section) => section.querySelector(".rule-of"));

$("find").oninput = () => {
  const wanted = $("find").value.trim().toLowerCase().split(/\s+/);
  for (const [element, text] of rules) element.hidden = !wanted.every((word) => text.includes(word));
  for (const section of sections) section.hidden = ![...section.querySelectorAll(".rule-of")].some((rule) => !rule.hidden);
};
