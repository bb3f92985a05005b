// Calls: Web Push to the devices of the player, and the badge of the installed app.

import { ask, json, Problem } from "./asking.js";
import { dayOf } from "./comparing.js";
import { t } from "./language.js";
import { isLoud, make, SOUNDS, tell } from "./site.js";
import { hear } from "./sounds.js";

const HOOKS = "/v1/players/me/hooks";
const KINDS = ["turn", "invited", "offer", "vote", "seat_offered", "may_return", "time_out", "over"];
const SERVICES = { "googleapis.com": "Chrome", "mozilla.com": "Firefox", "apple.com": "Safari", "windows.com": "Edge" };

/** Return the push subscription of this browser, or null. */
const subscribed = async () => (await (await navigator.serviceWorker?.getRegistration())?.pushManager?.getSubscription()) ?? null;

/** Show whether this device is called, which other ones are, and whether there are sounds. */
export async function show(root) {
  const list = make("ul", { class: "signing", "aria-live": "polite" }, make("li", {}, t("Looking …")));
  const here = make("p", { class: "row" });
  const sounds = make("input", { type: "checkbox", checked: isLoud(), onchange: () => sound(sounds.checked) });
  root.replaceChildren(here, list, make("label", { class: "option" }, make("span", {}, t("Sounds"), make("small", {}, t("When it is your turn, somebody has moved, or a match is over"))), sounds));
  try {
    const [{ hooks }, mine] = await Promise.all([json(HOOKS), subscribed()]);
    const devices = hooks.filter((hook) => hook.push);
    const called = mine !== null && devices.some((hook) => hook.url === mine.endpoint);
    here.replaceChildren(...(called ? [make("span", {}, t("This device is called when it is your turn."))] : invitation(root)));
    list.replaceChildren(...devices.map((hook) => row(hook, hook.url === mine?.endpoint, root)));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    list.replaceChildren(make("li", {}, problem.message));
  }
}

/** Turn sounds on or off. They are off until the player turns them on. */
function sound(on) {
  try {
    if (on) localStorage.setItem(SOUNDS, "on");
    else localStorage.removeItem(SOUNDS);
  } catch {
    // where nothing can be kept they stay off
  }
  if (on) hear("turn");
}

function invitation(root) {
  if (!("PushManager" in globalThis)) return [make("span", { class: "note" }, t("This browser cannot be called. On an iPhone, add the page to the home screen first."))];
  const button = make("button", { type: "button", onclick: () => begin(root, button) }, t("Call me"));
  return [button, make("span", { class: "note" }, Notification.permission === "denied" ? t("The browser forbids it. Its settings for this page allow it again.") : t("A message when it is your turn, with no page open."))];
}

function row(hook, here, root) {
  const [service, name] = Object.entries(SERVICES).find(([end]) => new URL(hook.url).hostname.endsWith(end)) ?? ["", new URL(hook.url).hostname];
  const since = { day: dayOf(hook.created), here: make("strong", {}, t("this device")) };
  const told = here ? (hook.on ? t("{here}, since {day}") : t("{here}, since {day}, which does not answer")) : hook.on ? t("since {day}") : t("since {day}, which does not answer");
  return make(
    "li",
    {},
    make("span", {}, service ? name : t("A browser of {name}", { name })),
    make("button", { type: "button", class: "small", "aria-label": t("Remove {name} of {day}", { name, day: since.day }), onclick: () => remove(hook, here, root) }, t("Remove")),
    make("small", {}, ...t.around(told, since)),
  );
}

/** Let this device be called. The browser asks for permission, once the player has clicked. */
async function begin(root, button) {
  button.disabled = true;
  try {
    if ((await Notification.requestPermission()) !== "granted") return await show(root);
    const worker = await navigator.serviceWorker.ready;
    const { push_key: applicationServerKey } = await json(HOOKS);
    await (await subscribed())?.unsubscribe(); // perhaps it was made for another key
    const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
    const { endpoint: url, keys } = made.toJSON();
    try {
      await ask(HOOKS, { method: "POST", body: { url, kinds: KINDS, push: { p256dh: keys.p256dh, auth: keys.auth } } });
    } catch (problem) {
      await made.unsubscribe();
      throw problem;
    }
    await show(root);
  } catch (problem) {
    button.disabled = false;
    tell(problem instanceof Problem ? problem.message : t("The browser's push service did not answer. Try again."), true);
  }
  return undefined;
}

async function remove(hook, here, root) {
  try {
    await ask(`${HOOKS}/${hook.id}`, { method: "DELETE" });
    if (here) await (await subscribed())?.unsubscribe();
    await show(root);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    tell(problem.message, true);
  }
}

/** Forget the replays that were kept for a player, whoever is away, and call this device no longer. `headers`: with the key of the player. */
export async function leave(headers) {
  for (const name of (await globalThis.caches?.keys()) ?? []) if (!name.endsWith(" shell")) await caches.delete(name);
  try {
    const mine = await subscribed();
    if (!mine) return;
    const ended = mine.unsubscribe().catch(() => {});
    const { hooks } = await json(HOOKS, { headers });
    for (const { id } of hooks.filter((hook) => hook.url === mine.endpoint)) await ask(`${HOOKS}/${id}`, { method: "DELETE", headers });
    await ended;
  } catch {
    // the push service answers 404 to the next message, and that removes it
  }
}

/** Show on the icon of the installed app in how many matches it is the player's turn. */
export async function badge() {
  try {
    const { matches } = await json("/v1/matches?to_act=me&limit=50");
    await navigator.setAppBadge(matches.length);
  } catch {
    // there is none without the server
  }
}
