// What all pages share: colours, the player's name and key, dialogs, and a line that is told to everybody.

import { ask, json, keeping, Problem, receipts } from "./asking.js";
import { askText, isSure } from "./dialogs.js";
import { keyIn } from "./keeping.js";
import { language, t } from "./language.js";

export const $ = (id) => document.getElementById(id);

/** Return an element: `make("button", {class: "small", onclick: f}, "text", child)`. */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Let the reader save a Blob as a file. */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

const SVG = "http://www.w3.org/2000/svg";

/** Return the badge of a seat. */
export function crest(id) {
  const [svg, use] = [document.createElementNS(SVG, "svg"), document.createElementNS(SVG, "use")];
  use.setAttribute("href", `#${id}`);
  svg.append(use);
  svg.setAttribute("class", "crest");
  svg.setAttribute("aria-hidden", "true");
  if (id.startsWith("b-")) svg.setAttribute("viewBox", "-1 -1 22 22");
  return svg;
}

let telling = 0;

/** Tell something to everybody: it is shown for a while, and screen readers say it. */
export function tell(sentence, wrong = false) {
  const told = $("told");
  told.textContent = sentence;
  told.classList.toggle("bad", wrong);
  told.classList.add("shown");
  clearTimeout(telling);
  telling = setTimeout(() => told.classList.remove("shown"), 5000);
}

receipts.keep = async (note) => (await import("./evidence.js")).keep(note);

const THEMES = ["system", "light", "dark"];

export function nextTheme() {
  const now = document.documentElement.dataset.theme ?? "system";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    if (next === "system") localStorage.removeItem("warledger.theme");
    else localStorage.setItem("warledger.theme", next);
  } catch {
    // for this page alone
  }
  sayTheme();
  tell({ system: t("Colours as the system has them."), light: t("Light colours."), dark: t("Dark colours.") }[next]);
}

function sayTheme() {
  const said = { light: t("Colours: light"), dark: t("Colours: dark") }[document.documentElement.dataset.theme];
  $("theme").setAttribute("aria-label", said ?? t("Colours: as the system"));
}

/** Whoever plays here: {id, name}, or null. */
export let me = null;
const waiting = [];

async function introduce() {
  me = null;
  if (keeping.key !== null) {
    try {
      me = await json("/v1/players/me");
    } catch (problem) {
      if (problem.code === "bad_key") {
        await leave();
        tell(t("This browser's key is not valid any more, so it was forgotten."), true);
      }
    }
  }
  $("account").textContent = me?.name ?? (keeping.key === null ? t("Play") : t("You"));
  $("nobody").hidden = keeping.key !== null;
  $("somebody").hidden = keeping.key === null;
  $("desk").hidden = !me || me.role === "player";
  $("account-title").textContent = keeping.key === null ? t("Who plays?") : t("You");
  $("my-page").href = `/p/${keeping.player}`;
  if (me) $("rename").elements.name.value = me.name;
}

/** Forget the key, and all that was kept for the player. */
async function leave() {
  const { headers } = keeping;
  keeping.forget();
  await import("./calling.js").then((calls) => calls.leave(headers)).catch(() => {}); // if it is away, so is what it keeps
}

export const introduced = (async () => {
  sayTheme();
  $("theme").onclick = nextTheme;
  $("account").onclick = () => $("account-dialog").showModal();
  for (const close of document.querySelectorAll("[data-close]")) close.onclick = () => close.closest("dialog").close();
  await introduce();
})();

/** Return once there is a player here, after asking for a name if need be; false if nobody gives one. */
export async function player() {
  await introduced;
  if (keeping.key !== null) return true;
  $("account-dialog").showModal();
  return new Promise((resolve) => waiting.push(resolve));
}

$("account-dialog").addEventListener("close", () => {
  $("signing-keys").open = $("calls").open = false;
  $("account-wrong").textContent = "";
  hideKey();
  for (const resolve of waiting.splice(0)) resolve(keeping.key !== null);
});

function hideKey() {
  $("key").textContent = "••••••••••••••••";
  $("show-key").setAttribute("aria-pressed", "false");
  $("show-key").textContent = t("Show it");
}

/** Carry out what a form asks for, and show at the form what is wrong. */
export function onSubmit(form, wrong, action) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.textContent = "";
    const button = form.querySelector("button:not([type=button])");
    button.disabled = true;
    try {
      await action(new FormData(form));
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      wrong.textContent = problem.message;
    } finally {
      button.disabled = false;
    }
  });
}

async function arrived() {
  await introduce();
  const asked = waiting.length > 0;
  $("account-dialog").close();
  document.dispatchEvent(new CustomEvent("player"));
  if (!asked && me) tell(t("Hello, {name}.", { name: me.name }));
}

onSubmit($("new-player"), $("account-wrong"), async (data) => {
  const made = await json("/v1/players", { method: "POST", body: { name: data.get("name").trim() } });
  if (!keeping.keep(made.key)) tell(t("This browser keeps nothing, so note your key down: you find it under your name."), true);
  await arrived();
});

onSubmit($("bring-key"), $("account-wrong"), async (data) => {
  const key = keyIn(data.get("key"));
  if (key === null) throw new Problem({ code: "bad_key", detail: t("That does not look like a key. It begins with wl_.") });
  const before = keeping.key;
  keeping.keep(key);
  try {
    await ask("/v1/players/me");
  } catch (problem) {
    if (before === null) keeping.forget();
    else keeping.keep(before);
    throw problem;
  }
  $("bring-key").reset();
  await arrived();
});

onSubmit($("rename"), $("account-wrong"), async (data) => {
  await ask("/v1/players/me", { method: "PATCH", body: { name: data.get("name").trim() } });
  await introduce();
  tell(t("Your name is changed."));
});

$("show-key").onclick = () => {
  if ($("show-key").getAttribute("aria-pressed") === "true") return hideKey();
  $("key").textContent = keeping.key;
  $("show-key").setAttribute("aria-pressed", "true");
  $("show-key").textContent = t("Hide it");
};

$("copy-key").onclick = () => copy(keeping.key, t("Your key is copied."));

$("signing-keys").ontoggle = async () => {
  if ($("signing-keys").open) (await import("./signkeys.js")).show($("signing-keys").querySelector("ul"));
};

$("calls").ontoggle = async () => {
  if ($("calls").open) (await import("./calling.js")).show($("calls").querySelector("div"));
};

$("forget-key").onclick = async () => {
  if (!(await isSure(t("Without the key you cannot play your matches any more. Have you noted it down?"), t("Forget it")))) return;
  await leave();
  await introduce();
  $("account-dialog").close();
  document.dispatchEvent(new CustomEvent("player"));
};

document.addEventListener("click", async ({ target }) => {
  const asked = target.closest("[data-guide]");
  if (asked) (await import("./guiding.js")).begin(asked);
});

export async function copy(text, sentence) {
  try {
    await navigator.clipboard.writeText(text);
    tell(sentence);
  } catch {
    await askText(t("Copy this"), { about: t("The browser did not let the page do it."), value: text, readonly: true, send: t("Done") });
  }
}

export const SOUNDS = "warledger.sounds";

/** Return whether the player wants sounds. */
export function isLoud() {
  try {
    return localStorage.getItem(SOUNDS) === "on";
  } catch {
    return false;
  }
}

/** Open what is said of calls to this device. */
export function askForCalls() {
  $("account-dialog").showModal();
  $("calls").open = true;
}

/** Say that the server does not answer, and whether this page is the one that the browser has kept. */
function sayOffline() {
  const kept = "kept" in document.body.dataset;
  $("offline").hidden = navigator.onLine && !kept;
  $("offline").textContent = kept ? t("Offline: as it was when you last opened it.") : t("Offline: nothing new can come.");
  if (kept && location.pathname === "/") import("./offline.js").then(({ show }) => show($("offline")));
}

sayOffline();
for (const change of ["online", "offline"]) addEventListener(change, sayOffline);

if ($("language")) {
  $("language").onchange = () => {
    document.cookie = `language=${$("language").value}; path=/; max-age=31536000; SameSite=Lax${location.protocol === "https:" ? "; Secure" : ""}`;
    location.reload();
  };
}

const idle = globalThis.requestIdleCallback ?? ((action) => setTimeout(action, 2000));
const install = () => idle(() => navigator.serviceWorker?.register(`/worker.js?language=${language}`).catch(() => {}));
if (document.readyState === "complete") install();
else addEventListener("load", install);
