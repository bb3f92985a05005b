// An alarm above the page: the server has contradicted itself, or may have, with the proof to save.

import { isSure } from "./dialogs.js";
import { asFile, comparing } from "./evidence.js";
import { t } from "./language.js";
import { make, save } from "./site.js";

/** Say a Disagreement above the page. */
export function alarm({ message, proof, title }) {
  if ([...document.querySelectorAll(".alarm p")].some((told) => told.textContent === message)) return;
  const file = proof.finding ? new Blob([`${JSON.stringify(proof)}\n`]) : asFile({ found: new Date().toISOString(), server: location.origin, ...proof });
  const box = make(
    "section",
    { class: "alarm", role: "alert" },
    make("h2", {}, title ?? t("This server has contradicted itself")),
    make("p", {}, message),
    make("p", { class: "note" }, t("The file has what it has signed. Anybody can check that without this server.")),
    make(
      "p",
      { class: "row" },
      make("button", { type: "button", class: "first", onclick: () => save(file, `warledger-proof-${proof.match ?? "log"}.json`) }, t("Save the proof")),
      make("a", { class: "button", href: "/check" }, t("Check it")),
      make("button", { type: "button", class: "quiet", onclick: () => forget(box) }, t("Forget what was kept")),
    ),
  );
  document.querySelector("main").before(box);
}

async function forget(box) {
  const question = t("This browser forgets all receipts, the keys of the server and its log. Have you saved the proof?");
  if (!(await isSure(question, t("Forget it")))) return;
  await (await comparing()).forget();
  box.remove();
}
