// The page that checks files which belong to no match of the page, and the receipts that this browser keeps.

import { mount } from "./auditing.js";
import { asFile, compareAll, comparing } from "./evidence.js";
import { t } from "./language.js";
import { $, make, save } from "./site.js";

mount($("audit"));

const here = await comparing();
const kept = await here.all();
const matches = new Set(kept.receipts.map((note) => here.sdk.readReceipt(note)?.match));
const said = make("p", { role: "status" });
const compared = async (event) => {
  const button = event.target;
  button.disabled = true;
  said.textContent = await compareAll((text) => (said.textContent = text));
  button.disabled = false;
};
const some = kept.receipts.length > 0;
const number = { receipts: t.n("{count} receipt", "{count} receipts", kept.receipts.length), matches: t.n("of {count} match", "of {count} matches", matches.size) };
const counted = kept.checkpoints.length ? t("{receipts} {matches}, and the newest state of this server's log that it has seen.", number) : t("{receipts} {matches}.", number);
$("kept").replaceChildren(
  make("h2", {}, t("What this browser keeps")),
  make(
    "p",
    {},
    some
      ? [counted, t("They are compared whenever you open a match, and with every file that you check here.")].join(" ")
      : t("No receipt yet. It keeps receipts of the matches that you open or play here, and compares them when you come back."),
  ),
  ...(some
    ? [
        make(
          "p",
          { class: "row" },
          make("button", { type: "button", onclick: compared }, t("Compare them with this server")),
          make("button", { type: "button", onclick: () => save(asFile(kept), "warledger-kept.json") }, t("Save them")),
        ),
        said,
      ]
    : []),
);
