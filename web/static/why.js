// Why a place is as it is: the entries that changed what the state says of it, newest first.

import { json } from "./asking.js";
import { t } from "./language.js";
import { $, make } from "./site.js";
import { pointerTo } from "./words.js";

const SHOWN = 8; // changes

/** Show why a place is as it is at a version. `told` makes a sentence of an entry, `show` goes to a version, `dispute` disputes one, or is null. */
export async function why({ api, id, name, version, viewer, told, show, dispute }) {
  const dialog = $("why");
  const list = $("why-list");
  $("why-title").textContent = name;
  list.replaceChildren(make("li", {}, t("Looking …")));
  if (!dialog.open) dialog.showModal();
  const query = { at: version, ...(viewer ? { viewer } : {}) };
  try {
    const state = await json(`${api}/state?${new URLSearchParams(query)}`);
    const pointer = pointerTo(state.view, id);
    const found = pointer === null ? { changes: [] } : await json(`${api}/why?${new URLSearchParams({ ...query, pointer, limit: SHOWN })}`);
    const items = found.changes.map((change) =>
      make(
        "li",
        {},
        make("button", { type: "button", class: "small", onclick: () => (dialog.close(), show(change.version)) }, t("Version {version}", { version: change.version })),
        " ",
        change.events.map((event) => event.text).filter(Boolean).join(" ") || told(change),
        dispute ? make("button", { type: "button", class: "small quiet", onclick: () => (dialog.close(), dispute(change.version, id)) }, t("Dispute")) : null,
        ...change.rules.slice(-3).flatMap((rule) => [" ", make("a", { class: "rule", "data-rule": rule, href: `/games/${found.game}#${rule}` }, rule)]),
      ),
    );
    list.replaceChildren(...(items.length ? items : [make("li", {}, t("Nothing has happened here yet."))]));
  } catch (problem) {
    list.replaceChildren(make("li", {}, problem.message));
  }
}
