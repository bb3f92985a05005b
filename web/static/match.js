// The page of a match: watching it live, replaying it and playing it are one thing, the picture of a version.

import { unsigned } from "./acting.js";
import { ask, json, keeping, Problem, send } from "./asking.js";
import { Board } from "./board.js";
import { follow } from "./following.js";
import { Frames, leap, linesOf, PAGE, pageOf, roundOf, turnOf } from "./frames.js";
import { KEYS, steered } from "./keys.js";
import { t } from "./language.js";
import { Playing } from "./playing.js";
import { shortKey } from "./signing.js";
import { $, copy, crest, introduced, isLoud, make, me, nextTheme, player, tell } from "./site.js";
import { clockText, explained, word } from "./words.js";

const page = $("main");
const { match, game } = page.dataset;
const api = `/v1/matches/${match}`;
const seats = JSON.parse(page.dataset.seats);
const frames = new Frames();
const words = JSON.parse(page.dataset.words);
const asked = new URLSearchParams(location.search);
const STEP = 900; // milliseconds from one version to the next while it plays on
const [BRIEF, LONG] = [3, 300]; // sentences of a longer entry that are shown at first; letters of an entry that is shown as a whole
const LOGGED = 60; // entries of the log before and after the shown one

let viewer = page.dataset.viewer || null;
let newest = Number(page.dataset.newest);
let shown = Number(page.dataset.at);
let atHead = !asked.has("at");
let standing = null;
let unseen = 0;
let wanted = shown;
let playing = 0;
let loading = null;
let following = null;
let here = { seats: [], watching: 0 }; // who is at the match now, as far as the stream has told
let drafted = null; // the picture of a draft, which is shown instead of a version

const board = new Board({ heading: $("the-heading"), board: $("the-board"), fight: $("the-fight"), panels: $("the-panels"), onPick: (id) => play.pick(id), wheel: matchMedia("(min-width: 56rem)").matches });
board.onLook = async (id) => {
  const { why } = await import("./why.js");
  if (!drafted) why({ api, id, name: word(words, id), version: wanted, viewer, told, show: stepTo, dispute: $("dispute").hidden ? null : dispute });
};
board.onZoom = (zoomed) => ($("whole").hidden = !zoomed);

const play = new Playing({
  root: $("play"),
  api,
  match,
  game,
  words,
  board,
  rule: showRule,
  occupant: (seat) => occupant(seat),
  picture: (version) => frames.at(version),
  draw: (picture) => {
    drafted = picture;
    draw();
  },
  moved: (version) => (version > newest ? arrived(version) : refresh()), // the stream may have told of it before
});

// ---------------------------------------------------------------- frames

const query = (more) => new URLSearchParams({ shape: "page", ...(viewer ? { viewer } : {}), ...more });

async function fetchFrames(number, signal) {
  const there = frames.pages.get(number);
  const first = there ? there.last : number * PAGE;
  const limit = (number + 1) * PAGE - first;
  if (limit <= 0) return;
  const response = await ask(`${api}/frames?${query({ after: first, limit, key: !there })}`, { accept: "application/x-ndjson", signal });
  const lines = [];
  for await (const line of linesOf(response.body)) lines.push(line);
  frames.add(lines);
}

/** Load what is missing, the nearest first, until all is there or there is no room for more. */
async function load() {
  if (loading) return;
  loading = new AbortController();
  const { signal } = loading;
  try {
    for (;;) {
      const urgent = !frames.has(wanted);
      if (!frames.roomy && urgent) frames.forget(wanted);
      const number = urgent ? pageOf(wanted) : frames.missing(newest, wanted)[0];
      if (number === undefined || !(frames.roomy || urgent)) break;
      await fetchFrames(number, signal);
      draw();
    }
  } catch (problem) {
    if (problem.name === "AbortError") return;
    if (!(problem instanceof Problem)) throw problem;
    if (viewer !== null && ["hidden_view", "no_such_seat"].includes(problem.code)) return void look(null);
    tell(problem.message, true);
  } finally {
    if (loading?.signal === signal) loading = null;
  }
}

// ---------------------------------------------------------------- showing a version

function show(version, { live = version >= newest } = {}) {
  wanted = Math.max(1, Math.min(version, newest));
  atHead = live;
  if (live) unseen = 0;
  if (!frames.has(wanted)) load();
  draw();
}

function draw() {
  const picture = drafted ?? frames.at(wanted);
  if (picture) {
    const changed = shown !== wanted;
    shown = wanted;
    board.show(picture);
    if (!drafted) said(changed);
  }
  rule();
  // The picture first: a jump makes a hundred lines of the log anew.
  cancelAnimationFrame(draw.later);
  draw.later = requestAnimationFrame(log);
  if (!$("textboard").hidden) text();
}

/** Show and tell the entry of the version. */
function said(changed) {
  const line = frames.lines[shown];
  if (!line) return;
  const [sentences] = folded(line);
  $("the-news").textContent = sentences;
  if (changed && document.hasFocus()) $("told-version").textContent = `${shown}: ${sentences}`;
  titled();
  people(line.now);
  address();
}

/** Write the title, with a mark while a seat of the player must act in the newest version. */
function titled() {
  const { to_act: acts } = frames.lines[newest]?.now ?? standing ?? { to_act: [] };
  const picture = frames.at(shown);
  if (picture) document.title = `${mine().some((seat) => acts.includes(seat)) ? "● " : ""}${picture.title} · Warledger`;
}

let noted = null; // the newest version, and whether the player was to act in it

/** Make a sound of what is new, if the player wants sounds, and mark the icon of the installed app. */
async function noticed() {
  const own = mine();
  const now = { version: standing.version, turn: own.some((seat) => standing.to_act.includes(seat)) };
  const before = noted;
  noted = now;
  if (before?.turn !== now.turn && own.length && matchMedia("(display-mode: standalone)").matches) (await import("./calling.js")).badge();
  if (before === null || before.version === now.version || !isLoud()) return;
  const sound = standing.status === "over" ? "over" : now.turn && !before.turn ? "turn" : "move";
  import("./sounds.js").then(({ hear }) => hear(sound), () => {});
}

const told = (line) => {
  const text = line.text.join(" ");
  return text ? text.replace(PLAYER, (_, id) => actorName(id)) : `${actorName(line.actor)}: ${word(words, line.action ?? "").toLowerCase()}.`;
};

/** Return an entry in short, and the rest of it: a set-up tells of everything that is on the board. */
function folded(line) {
  const { text } = line;
  const brief = text.length > BRIEF && text.join("").length > LONG ? text.slice(0, BRIEF) : text;
  return [told({ ...line, text: brief }), brief === text ? null : told({ ...line, text: text.slice(BRIEF) })];
}

const PLAYER = /\{(p[a-z2-7]{16})\}/g;
const toldAt = (version) => (frames.lines[version] ? told(frames.lines[version]) : null);
const actorName = (id) => standing?.players[id]?.name ?? (/^p[a-z2-7]{16}$/.test(id) ? t("somebody") : seatName(id));
const VIEWERS = { spectator: t("Spectator"), auditor: t("Auditor") };
const seatName = (id) => VIEWERS[id] ?? seats.find((seat) => seat.id === id)?.name ?? word(words, id);

/** Update the scrub bar, the number of new entries, and whether one looks at the newest. */
function rule() {
  const scrub = $("scrub");
  scrub.max = newest;
  scrub.value = wanted;
  scrub.setAttribute("aria-valuetext", t("version {version} of {newest}", { version: wanted, newest }));
  $("version").textContent = `${wanted} / ${newest}`;
  page.classList.toggle("past", wanted < newest);
  $("live-text").textContent = unseen ? t("{count} new", { count: unseen }) : state;
  $("live").classList.toggle("waiting", unseen > 0);
  play.show(wanted === newest);
}

function address() {
  const now = new URLSearchParams();
  if (!atHead) now.set("at", wanted);
  if (viewer && asked.has("viewer")) now.set("viewer", viewer);
  const next = `${location.pathname}${now.size ? `?${now}` : ""}`;
  if (next !== location.pathname + location.search) {
    clearTimeout(address.later);
    address.later = setTimeout(() => history.replaceState(null, "", next), 200);
  }
}

// ---------------------------------------------------------------- beside the board

function log() {
  const list = $("log");
  const [first, last] = [Math.max(1, wanted - LOGGED), Math.min(newest, wanted + LOGGED / 2)];
  const kept = new Map([...list.children].map((item) => [Number(item.dataset.version), item]));
  for (const [version, item] of kept) if (version < first || version > last || !frames.lines[version]) item.remove();
  let after = null;
  for (let version = first; version <= last; version += 1) {
    const line = frames.lines[version];
    if (!line) continue;
    let item = kept.get(version);
    if (!item) {
      item = entry(line);
      if (after) after.after(item);
      else list.prepend(item);
    }
    item.toggleAttribute("aria-current", version === wanted);
    if (version === wanted) item.setAttribute("aria-current", "step");
    after = item;
  }
  const current = list.querySelector("[aria-current]");
  if (current && !list.matches(":focus-within, :hover")) list.scrollTop = current.offsetTop - list.clientHeight + current.offsetHeight + 40;
}

function entry(line) {
  const known = seats.some((seat) => seat.id === line.actor);
  const rules = (line.rules ?? []).map((id) => make("a", { href: `/games/${game}#${id}`, class: "rule", "data-rule": id }, id));
  const [first, rest] = folded(line);
  const item = make(
    "li",
    { "data-version": line.version },
    make("button", { type: "button", class: "number", "aria-label": t("Version {version}", { version: line.version }), onclick: () => show(line.version) }, String(line.version)),
    make("span", { class: "badge" }, known ? crest(`b-${line.actor}`) : null),
    make("span", {}, first, rest ? make("details", {}, make("summary", {}, t("All of it")), rest) : null, ...rules.flatMap((link) => [" ", link]), ...signature(line)),
  );
  return item;
}

/** Return what says that an entry is signed, and with which key. */
function signature({ signed, actor }) {
  if (!signed) return [];
  const title = t("{name} has signed this with the key {key}", { name: actorName(actor), key: signed });
  return [" ", make("small", { class: "signed", title }, t("signed, key {key}", { key: shortKey(signed) }))];
}

/** Return the name of whoever sits in a seat. */
function occupant(seat) {
  const who = standing?.seats[seat] ?? {};
  return "player" in who ? (standing.players[who.player]?.name ?? t("somebody who has left")) : who.ai ? word(words, `ai_${who.ai}`) : t("open");
}

function people(now) {
  const rows = seats.map((seat) => {
    const who = standing?.seats[seat.id] ?? {};
    const name = occupant(seat.id);
    const acts = now.to_act?.includes(seat.id);
    const there = here.seats.includes(seat.id) && make("span", { class: "there", title: t("here now") }, make("span", { class: "unseen" }, t("here now")));
    const substitute = now.substitutes?.[seat.id];
    const clock = now.clocks?.[seat.id];
    const mine = "player" in who && who.player === keeping.player;
    const thinks = standing?.thinking?.seat === seat.id && shown === standing.version;
    return make(
      "li",
      { class: acts ? "acts" : null },
      crest(`b-${seat.id}`),
      make("span", { class: "who" }, there || null, who.player ? make("a", { href: `/p/${who.player}` }, name) : name, make("small", {}, " ", [seat.name, mine && t("you"), substitute && t("{level} plays for now", { level: word(words, `ai_${substitute}`) }), thinks && t("thinking")].filter(Boolean).join(", "))),
      clock ? make("time", { class: "clock", "data-left": clock.left, "data-deadline": clock.deadline ?? "" }, clockText(clock.left)) : null,
    );
  });
  if (standing) $("players").replaceChildren(...rows);
  $("watching").textContent = here.watching ? t.n("{count} watches.", "{count} watch.", here.watching) : "";
  tick();
}

function tick() {
  for (const clock of document.querySelectorAll(".clock")) {
    const { deadline, left } = clock.dataset;
    const rest = deadline ? Number(deadline) - Date.now() : Number(left);
    clock.textContent = clockText(rest);
    clock.classList.toggle("short", Boolean(deadline) && rest < 30_000);
  }
}
setInterval(tick, 1000);

async function showRule(id) {
  $("rule-title").textContent = id;
  $("rule-text").textContent = "";
  $("rule-link").href = `/games/${game}#${id}`;
  $("rule").showModal();
  try {
    const found = await json(`/v1/games/${game}/rules/${id}`);
    $("rule-text").textContent = found.text.replace(/^\[[SPR][^\]]*\]\s*/, "").replaceAll("`", "").replaceAll("**", "");
  } catch (problem) {
    $("rule-text").textContent = problem.message;
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-rule], #the-fight a");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    showRule(link.dataset.rule ?? link.getAttribute("href").split("#")[1]);
  }
});

explained(words);

async function text() {
  const version = wanted;
  try {
    const response = await ask(`${api}/state?${new URLSearchParams({ at: version, ...(viewer ? { viewer } : {}) })}`, { accept: "text/plain" });
    const lines = await response.text();
    if (version === wanted) $("textboard").textContent = lines;
  } catch (problem) {
    $("textboard").textContent = problem.message;
  }
}

// ---------------------------------------------------------------- live

let state = t("connecting");
const STATES = { live: t("live"), cut: t("reconnecting"), over: t("finished"), refused: t("not live") };

/** Take notice of versions that have come. A reader of the past is not pulled away from it. */
function arrived(version) {
  if (version <= newest) return;
  const followed = atHead && wanted === newest && !playing;
  unseen += followed ? 0 : version - newest;
  newest = version;
  load();
  if (followed) show(newest, { live: true });
  else rule();
  clearTimeout(arrived.later);
  arrived.later = setTimeout(refresh, 60);
}

async function refresh() {
  const before = Object.keys(standing?.players ?? {}).length;
  try {
    standing = await json(api);
  } catch (problem) {
    if (problem.code === "no_such_match") tell(problem.message, true);
    return;
  }
  if (standing.version > newest) arrived(standing.version);
  if (Object.keys(standing.players).length !== before) {
    $("log").replaceChildren(); // sentences that were written before the name of a player was known
    draw();
  }
  const line = frames.lines[shown];
  people(line ? line.now : standing);
  titled();
  noticed();
  ownEyes();
  eyes();
  await play.refresh(standing, mine());
  await table();
  $("dispute").hidden = !mine().length || !["playing", "over"].includes(standing.status);
  signs();
  const ended = standing.status === "over" || standing.status === "closed";
  if (ended) finished();
  if (refresh.compared === ended || !navigator.onLine) return;
  refresh.compared = ended; // when the page is opened, and when the match ends
  if (!(await (await import("./evidence.js")).compare(standing, $("evidence")))) refresh.compared = null;
}

/** While the match waits for players, show the table instead of the board. */
async function table() {
  const waits = standing.status === "open";
  page.classList.toggle("waits", waits);
  $("the-table").hidden = !waits;
  const at = `${standing.version} ${keeping.player}`;
  if (!waits || table.at === at) return;
  table.at = at;
  await import("./seating.js").then(({ show }) => show(play, $("the-table"))).catch(() => (table.at = null));
}

/** Say whether the moves of the player are signed. */
async function signs() {
  const may = standing.signed === "required" && standing.status === "open" && keeping.key !== null; // before one takes a seat
  const plays = may || (["open", "playing"].includes(standing.status) && mine().length > 0);
  play.unsigned = plays ? await unsigned() : null;
  const told = play.unsigned ?? (plays ? t("Your moves are signed with the key of this browser.") : "");
  if ($("signing").textContent === told) return;
  $("signing").textContent = told;
  play.write();
}

const mine = () => (standing ? seats.map((seat) => seat.id).filter((seat) => keeping.player && standing.seats[seat]?.player === keeping.player) : []);

function watch() {
  following?.abort();
  following = new AbortController();
  const { signal } = following;
  follow({
    open: (last) => ask(`${api}/stream?${new URLSearchParams({ after: last, here: true, phrases: keeping.key !== null, ...(viewer ? { viewer } : {}) })}`, { accept: "text/event-stream", signal }),
    last: newest,
    signal,
    onEvent: ({ event, id, data }) => {
      if (event === "entry") arrived(Number(id));
      if (event === "phrase") import("./phrases.js").then(({ heard }) => heard(play, JSON.parse(data)));
      if (event === "here") {
        here = JSON.parse(data);
        people(frames.lines[shown]?.now ?? standing ?? {});
      }
      if (event === "clocks" && frames.lines[newest]) {
        frames.lines[newest].now = { ...frames.lines[newest].now, clocks: JSON.parse(data).clocks };
        if (shown === newest) people(frames.lines[newest].now);
      }
    },
    onState: (now) => {
      state = STATES[now];
      if (now !== "live") here = { seats: [], watching: 0 };
      $("live").dataset.state = now;
      rule();
      if (now === "live") refresh();
    },
  });
}

// ---------------------------------------------------------------- eyes

/** Look through the eyes of the player's seat that must act, unless the reader has chosen other ones. */
function ownEyes() {
  if (asked.has("viewer") && viewer !== null) return;
  const own = mine();
  const next = own.find((seat) => standing.to_act.includes(seat)) ?? (own.includes(viewer) ? viewer : (own[0] ?? "spectator"));
  if (next !== viewer) look(next);
}

function eyes() {
  const own = mine();
  const all = standing.status === "over" || (me && me.role !== "player" && own.length === 0);
  const may = [...(all ? seats.map((seat) => seat.id) : own), "spectator", ...(all ? ["auditor"] : [])];
  const select = $("eyes");
  $("eyes-label").hidden = may.length < 2;
  if (select.dataset.may !== may.join()) {
    select.dataset.may = may.join();
    select.replaceChildren(...may.map((id) => make("option", { value: id }, seatName(id))));
  }
  select.value = viewer;
}

$("eyes").onchange = () => {
  asked.set("viewer", $("eyes").value);
  look($("eyes").value);
};

/** Look at the match through the eyes of a viewer. */
function look(next) {
  viewer = next;
  loading?.abort();
  loading = null;
  frames.clear();
  $("log").replaceChildren();
  if (viewer === null) return void refresh();
  load();
  watch();
  if (standing) {
    eyes();
    play.refresh(standing, mine());
  }
  address();
}

// ---------------------------------------------------------------- moving

const stepTo = (version) => {
  stop();
  show(version);
};

function stop() {
  clearInterval(playing);
  playing = 0;
  page.classList.remove("playing");
  $("autoplay").setAttribute("aria-label", t("Play on"));
}

const moves = {
  first: () => stepTo(1),
  back: () => stepTo(wanted - 1),
  on: () => stepTo(wanted + 1),
  turnBack: () => stepTo(leap(frames.lines, wanted, -1, newest, turnOf)),
  turnOn: () => stepTo(leap(frames.lines, wanted, 1, newest, turnOf)),
  roundBack: () => stepTo(leap(frames.lines, wanted, -1, newest, roundOf)),
  roundOn: () => stepTo(leap(frames.lines, wanted, 1, newest, roundOf)),
  last: () => stepTo(newest),
  autoplay: () => {
    if (playing) return stop();
    if (wanted >= newest) show(1);
    page.classList.add("playing");
    $("autoplay").setAttribute("aria-label", t("Pause"));
    playing = setInterval(() => (wanted >= newest ? stop() : show(wanted + 1)), STEP);
    return undefined;
  },
  eyes: () => {
    const select = $("eyes");
    if ($("eyes-label").hidden) return;
    select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
    select.onchange();
    tell(t("Through the eyes of {seat}.", { seat: select.selectedOptions[0].textContent }));
  },
  text: () => {
    const now = $("textboard").hidden;
    $("textboard").hidden = !now;
    $("the-board").hidden = now;
    $("text").setAttribute("aria-pressed", String(now));
    if (now) {
      text();
      $("textboard").focus();
    }
  },
  closer: () => board.step(1),
  farther: () => board.step(-1),
  zoom: () => (board.view ? board.whole() : (play.seat && board.land(play.seat)) || board.step(1)),
  board: () => board.focus(),
  why: () => board.place && board.onLook(board.place),
  log: () => $("log").focus(),
  theme: nextTheme,
  link: () => {
    const where = new URLSearchParams({ at: wanted, ...(viewer && standing?.status === "over" ? { viewer } : {}) });
    copy(`${location.origin}/m/${match}?${where}`, t("A link to version {version} is copied.", { version: wanted }));
  },
  help: () => $("help").showModal(),
  close: () => {
    if (board.view) board.whole();
    else play.startAgain();
  },
  button: (pressed) => play.press(Number(pressed.key)),
  undo: () => play.undo(),
  send: () => play.send(),
  draft: () => play.draft(),
  actions: () => $("play").querySelector("button, input, select")?.focus(),
};

steered(moves);
$("scrub").oninput = () => stepTo(Number($("scrub").value));

for (const part of ["replay", "look", "play", "help"]) {
  for (const [, , keys, about] of KEYS.filter(([of]) => of === part)) {
    const named = keys.length > 3 ? [`${keys[0]} … ${keys.at(-1)}`] : keys;
    const shownKeys = named.map((key) => make("kbd", {}, key.replace("ArrowLeft", "←").replace("ArrowRight", "→").replace(/^ $/, t("Space"))));
    $("keys-list").append(make("div", {}, make("dt", {}, ...shownKeys), make("dd", {}, about)));
  }
}

document.body.append(make("p", { id: "told-version", class: "unseen", "aria-live": "polite" }));

// ---------------------------------------------------------------- audit and pictures, where they are there

let over = false;

async function finished() {
  $("practise").hidden = standing.status !== "over";
  if (over) return;
  over = true;
  extra("analysing.js", $("analysis"));
  await extra("auditing.js", $("audit"));
}

/** Begin a practice match from the shown version: the player in the seat whose eyes are used, or that was to act, and the machine in the others. */
$("practise").onclick = async () => {
  if (!(await player())) return;
  const ids = seats.map((seat) => seat.id);
  const own = [viewer, ...(frames.lines[wanted]?.now.to_act ?? []), ids[0]].find((seat) => ids.includes(seat));
  const others = Object.fromEntries(ids.map((seat) => [seat, seat === own ? "me" : "ai:greedy"]));
  try {
    const made = await send("/v1/matches", { fork_of: match, at: wanted, seats: others });
    location.assign(`/m/${made.id}`);
  } catch (problem) {
    tell(problem.message, true);
  }
};

/** Dispute a version, about a place of the board perhaps, as a seat of the player. */
async function dispute(version, place) {
  const places = [...(board.targets?.keys() ?? [])].map((id) => [id, word(words, id)]).sort(([, one], [, other]) => one.localeCompare(other));
  const own = mine().map((id) => ({ id, name: seatName(id) }));
  (await import("./disputing.js")).dispute({ match, seats: own, version, newest, places, place, told: toldAt, over: standing.status === "over" });
}

$("dispute").onclick = () => dispute(wanted);

async function extra(name, element) {
  if (!page.dataset.rest.split(" ").includes(name)) return;
  const found = await import(`./${name}`);
  found.mount(element, { match, game, words, seats, viewer: () => viewer, version: () => wanted, last: () => newest, show: stepTo });
}

$("audit").addEventListener("seek", (event) => {
  show(event.detail.version);
  scrollTo({ top: 0 }); // the board sticks to the window, so it cannot be scrolled to
});

// What was found is pinned to its versions; `--at` is how far along the bar that is, from 0 to 1.
$("audit").addEventListener("findings", (event) => {
  const pins = event.detail.versions.map((version) => {
    const pin = make("i", { title: t("Version {version}", { version }), onclick: () => stepTo(version) });
    pin.style.setProperty("--at", (version - 1) / Math.max(1, newest - 1));
    return pin;
  });
  $("marks").replaceChildren(...pins);
});

document.addEventListener("player", () => {
  asked.delete("viewer");
  play.changed(mine());
  look(null);
});
addEventListener("pagehide", () => following?.abort());
addEventListener("pageshow", (event) => event.persisted && watch());

extra("pictures.js", $("pictures"));
await introduced;
rule();
if (viewer) look(viewer);
refresh();
