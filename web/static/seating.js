// The table of a match that waits for players: who sits where, seats to sit down at, and the link by which one invites others.

import { ask } from "./asking.js";
import { invitation } from "./inviting.js";
import { player } from "./site.js";

/** Show the table as the server writes it for the reader. `play` is the Playing of the page. */
export async function show(play, root) {
  const response = await ask(`/m/${play.match}?part=table`, { accept: "text/html" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const focused = root.contains(document.activeElement) ? document.activeElement.dataset.sit : null;
  root.replaceChildren(...page.body.childNodes);
  if (play.seats.length) root.querySelector(".invite").replaceChildren(...(await invitation(play.match, play.standing.code)));
  for (const button of root.querySelectorAll("[data-sit]")) {
    button.onclick = async () => {
      if (await player()) await play.sit(button.dataset.sit);
    };
    if (button.dataset.sit === focused) button.focus();
  }
}
