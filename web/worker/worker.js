// The service worker of the pages: it shows what a player is called for, and keeps opened replays, so that they can be read offline.
//
// The server puts the constant RELEASE before this text: `mark` of the static files and of the language, the `folder` of the files, `files` of the pages,
// the names of `games` by id, and `texts` in the language by their English. The names of caches begin with the mark. A new release and another language
// begin with empty ones, so no page ever mixes two releases or two languages.

const { mark, folder, files, games, texts } = RELEASE;
const t = (text) => texts[text] ?? text;
const SHELL = `${mark} shell`;
const MATCHES = 20; // whose replays are kept: those that were opened last
const MOST = 64 * 2 ** 20; // bytes that the browser keeps of this site before the oldest replays go
const PLAYER = /^Bearer wl_(p[a-z2-7]{16})_/;
const REPLAY = /^\/(?:m|v1\/matches)\/(m[a-z2-7]{16})(?:\/frames|\/words)?$/;
const LOOK = /^\/v1\/games\/\w+\/look\.css$/;
const GONE = [404, 410];
const FROM_ANYBODY = ["invited", "seat_offered"]; // however many come, they are one notification, which sounds once

const SENTENCES = {
  turn: t("It is your turn."),
  invited: t("A seat is kept for you."),
  offer: t("You can answer an offer."),
  vote: t("You can vote."),
  seat_offered: t("You are offered a seat."),
  may_return: t("You may take your seat back."),
  time_out: t("Your time has run out."),
  over: t("The match is over."),
  test: t("This device is called when it is your turn."),
};

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(caches.open(SHELL).then((shell) => shell.addAll([...files, "/"])));
});

addEventListener("activate", (event) => event.waitUntil(begin()));

async function begin() {
  for (const name of await caches.keys()) if (!name.startsWith(`${mark} `)) await caches.delete(name);
  await clients.claim();
}

// ---------------------------------------------------------------- offline

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname, search } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  const asked = request.headers.get("Authorization");
  const player = PLAYER.exec(asked ?? "")?.[1] ?? "";
  const page = request.mode === "navigate";
  const match = REPLAY.exec(pathname)?.[1];
  if (pathname.startsWith(`${folder}/`) && !navigator.onLine) event.respondWith(fixed(request));
  else if (LOOK.test(pathname) || (page && pathname === "/")) event.respondWith(newest(event, SHELL, pathname + (page ? "" : search)));
  else if (match && (page || (pathname !== `/m/${match}` && (asked === null || player)))) event.respondWith(newest(event, `${mark} ${match}`, `/kept${player && `/${player}`}${pathname}${page ? "" : search}`));
});

/** Return a file that never changes. While there is a network the browser's own cache has it. */
async function fixed(request) {
  return (await caches.match(request.url, { cacheName: SHELL })) ?? fetch(request);
}

/** Return the server's answer, and keep it. Without the server, return the one that was kept. */
async function newest(event, name, key) {
  let answer;
  try {
    answer = await fetch(event.request);
  } catch (away) {
    const kept = await caches.match(key, { cacheName: name });
    if (!kept) throw away;
    return event.request.mode === "navigate" ? marked(kept) : kept;
  }
  const open = !/no-store/.test(answer.headers.get("Cache-Control"));
  if (answer.status === 200 && open) event.waitUntil(keep(name, key, answer.clone(), event.request.mode === "navigate"));
  else if (GONE.includes(answer.status) && name !== SHELL) event.waitUntil(caches.delete(name));
  return answer;
}

/** Return a kept page that says so. */
async function marked(kept) {
  return new Response((await kept.text()).replace("<body", "<body data-kept"), { headers: kept.headers });
}

async function keep(name, key, answer, opened) {
  if (name !== SHELL) {
    if (opened) await caches.delete(name); // the match is the last one that was opened
    if (!(await room(name))) return;
  }
  await (await caches.open(name)).put(key, answer);
}

/** Make room for a part of a replay: the replay that was opened first goes. Return whether there is room. */
async function room(name) {
  const others = (await caches.keys()).filter((other) => other !== SHELL && other !== name);
  const full = (await navigator.storage.estimate()).usage > MOST;
  for (const other of others.slice(0, Math.max(others.length - MATCHES + 1, full ? 1 : 0))) await caches.delete(other);
  return !full || others.length > 0;
}

// ---------------------------------------------------------------- calls

addEventListener("push", (event) => event.waitUntil(call(event.data.json())));

async function call({ type, data }) {
  const path = data.match ? `/m/${data.match}` : "/";
  const open = await clients.matchAll({ type: "window" });
  if (data.match && open.some((page) => page.focused && new URL(page.url).pathname === path)) return;
  if (type === "turn") await navigator.setAppBadge?.();
  const tag = FROM_ANYBODY.includes(type) ? "invitations" : path;
  await registration.showNotification(games[data.game] ?? "Warledger", { body: SENTENCES[type] ?? t("Something has happened."), tag, renotify: tag === path, icon: files.find((name) => name.endsWith("/icon.png")), data: path });
}

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

async function show(path) {
  const open = await clients.matchAll({ type: "window" });
  const there = open.find((page) => new URL(page.url).pathname === path);
  await (there ? there.focus() : clients.openWindow(path));
}
