// What a word on a panel means, in a note beside it: on hover, on focus and on a tap.

import { make } from "./site.js";

const note = make("p", { role: "tooltip", id: "term", class: "term", hidden: true });
document.querySelector("main").append(note);
let at = null;

function hide() {
  note.hidden = true;
  at?.removeAttribute("aria-describedby");
  at = null;
}

/** Show what the word in an element means. */
export function explain(element, text) {
  if (at === element || !text) return;
  hide();
  at = element;
  note.textContent = text;
  note.hidden = false;
  element.setAttribute("aria-describedby", "term");
  place();
}

/** Put the note below what it explains, or above it where there is no room. It moves along when the page scrolls. */
function place() {
  if (!at?.isConnected) return void (at && hide());
  const [box, own] = [at.getBoundingClientRect(), note.getBoundingClientRect()];
  note.style.left = `${Math.max(8, Math.min(box.left, innerWidth - own.width - 8))}px`;
  note.style.top = `${box.bottom + 6 + own.height > innerHeight ? box.top - own.height - 6 : box.bottom + 6}px`;
}

const leaves = ({ target, relatedTarget: to }) => at && (target === note || at.contains(target)) && to !== note && !at.contains(to) && hide();
document.addEventListener("pointerout", (event) => event.pointerType === "mouse" && leaves(event));
document.addEventListener("focusout", leaves);
addEventListener("scroll", place, { capture: true, passive: true });
document.addEventListener("keydown", ({ key }) => key === "Escape" && hide(), true);
document.addEventListener("click", ({ target }) => !target.closest("[data-term], #term") && hide());
