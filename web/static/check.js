// The page that checks files which belong to no match of the page, and the receipts that this browser keeps.

import { mount } from "./auditing.js";
import { plural } from "./comparing.js";
import { asFile, compareAll, comparing } from "./evidence.js";
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
$("kept").replaceChildren(
  make("h2", {}, "What this browser keeps"),
  make(
    "p",
    {},
    some
      ? `${plural(kept.receipts.length, "receipt", "receipts")} of ${plural(matches.size, "match", "matches")}${kept.checkpoints.length ? ", and the newest state of this server's log that it has seen" : ""}. They are compared whenever you open a match, and with every file that you check here.`
      : "No receipt yet. It keeps receipts of the matches that you open or play here, and compares them when you come back.",
  ),
  ...(some
    ? [
        make(
          "p",
          { class: "row" },
          make("button", { type: "button", onclick: compared }, "Compare them with this server"),
          make("button", { type: "button", onclick: () => save(asFile(kept), "warledger-kept.json") }, "Save them"),
        ),
        said,
      ]
    : []),
);
