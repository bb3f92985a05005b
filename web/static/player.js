// The page of a player.

import { keeping } from "./asking.js";
import { t } from "./language.js";
import { $, copy, introduced } from "./site.js";

const own = () => {
  if ($("invite")) $("invite").hidden = keeping.player === $("main").dataset.player;
};

if ($("copy-address")) {
  $("copy-address").hidden = false;
  $("copy-address").onclick = () => copy(location.origin + location.pathname, t("The address is copied."));
}
document.addEventListener("player", own);
await introduced;
own();
