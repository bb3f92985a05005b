// Disputes: raising one from any version of a match, and where each one stands. The page of a dispute is case.js.

import { act } from "./acting.js";
import { json } from "./asking.js";
import { opened } from "./dialogs.js";
import { t } from "./language.js";
import { crest, make, tell } from "./site.js";
import { pointerTo } from "./words.js";

const LONGEST = 2000; // letters of a text
const STATES = {
  open: t("A referee must rule."),
  ruled: t("A referee has ruled. The seats can still appeal."),
  appealed: t("Another referee must rule on the appeal."),
  settled: t("It is settled."),
  withdrawn: t("It was withdrawn."),
  lapsed: t("Nobody has ruled, so it has lapsed."),
};

/** Return a dispute in a few words. `seat`: the name of the seat that disputes. */
export const title = (one, seat) => t("{seat} disputes version {version}", { seat, version: one.version });

/** Return where a dispute stands, in sentences. */
export function stateOf(one) {
  const state = one.escalated && one.state !== "settled" && one.state !== "lapsed" ? t("Only an admin can rule now.") : STATES[one.state];
  return one.freezes ? `${state} ${t("The match is frozen meanwhile.")}` : state;
}

/** Return a moment in words. */
export const when = (at) => t.date(at);

/** Return what comes when nobody does anything about a dispute, in a sentence, or an empty text. */
export function nextOf(one) {
  if (one.until === null) return "";
  const at = { moment: when(one.until) };
  if (one.state === "ruled") return t("Without an appeal by {moment} the ruling takes effect.", at);
  if (!one.escalated) return t("Without a ruling by {moment} it goes to an admin.", at);
  return one.state === "appealed" ? t("Without a ruling by {moment} the first one stands.", at) : t("Without a ruling by {moment} it lapses.", at);
}

/** Return how long it is until a moment, in words. */
export function dueIn(at) {
  const hours = Math.max(0, Math.round((at - Date.now()) / 3_600_000));
  return hours < 48 ? t.until(hours, "hour") : t.until(Math.round(hours / 24), "day");
}

/** Return a field for a text. */
export const textField = (about) => make("label", {}, about, make("textarea", { name: "text", required: true, rows: 4, maxlength: LONGEST }));

/** Return the rows for a match: where it comes from, where it goes on, and its disputes. `play` is the Playing of the page. */
export const rows = (play) => [...elsewhereRows(play.standing), ...disputeRows(play)];

/** Return a row that names the match from whose position this one begins, and one for the match in which play goes on. */
function elsewhereRows({ origin, practice, continued }) {
  const row = (words, href, name) => make("div", { class: "row" }, make("span", {}, ...t.around(words, { match: make("a", { href }, name) })));
  const begins = practice ? t("This is a practice match. It begins from {match}.") : t("By a ruling this match begins from {match}.");
  return [
    origin ? row(begins, `/m/${origin.match}?at=${origin.version}`, t("version {version} of another match", { version: origin.version })) : null,
    continued?.begun ? row(t("Play goes on from version {version} {match}.", { version: continued.version }), `/m/${continued.match}`, t("in another match")) : null,
  ].filter(Boolean);
}

/** Return a row for each dispute that was not withdrawn and has not lapsed. Its page has the rest. */
function disputeRows({ standing, seats }) {
  return standing.disputes.flatMap((one, place) => {
    if (one.state === "withdrawn" || one.state === "lapsed") return [];
    const others = seats.filter((seat) => seat !== one.seat && !one.sides.includes(seat));
    const toSay = (others.length && ["open", "appealed"].includes(one.state)) || (seats.length && one.state === "ruled");
    return make(
      "div",
      { class: "row dispute" },
      crest(`b-${one.seat}`),
      make("span", {}, make("strong", {}, t("Dispute about version {version}.", { version: one.version })), " ", stateOf(one)),
      make("a", { class: `button small${toSay ? " first" : ""}`, href: `/m/${standing.id}/disputes/${place + 1}` }, toSay ? t("Read and answer") : t("Read it")),
    );
  });
}

/**
 * Ask what is wrong at a version, and dispute it. `seats`: the player's seats; `places`: [id, name] of what the dispute can be about;
 * `place`: the one that is chosen; `told`: makes a sentence of the entry of a version, or null; `over`: whether the match is.
 */
export async function dispute({ match, seats, version, newest, places, place = "", told, over }) {
  const api = `/v1/matches/${match}`;
  const what = make("small", { "aria-live": "polite" });
  const number = make("input", { name: "version", type: "number", min: 1, max: newest, required: true });
  number.value = version;
  const tellVersion = () => (what.textContent = told(Number(number.value)) ?? "");
  number.oninput = tellVersion;
  tellVersion();
  const about = make("select", { name: "place" }, make("option", { value: "" }, t("the whole entry")), ...places.map(([id, name]) => make("option", { value: id }, name)));
  about.value = place;
  const seat = make("select", { name: "seat" }, ...seats.map(({ id, name }) => make("option", { value: id }, name)));
  const follows = over ? t("Nothing changes until a referee has ruled.") : t("The match is frozen until a referee rules, for some days at most. If it is your turn, your clock runs on until a referee takes the case.");
  const form = [
    make("label", {}, t("Version"), number, what),
    make("label", {}, t("What it is about"), about),
    seats.length > 1 ? make("label", {}, t("As"), seat) : null,
    textField(t("What is wrong?")),
    make("p", { class: "note" }, `${t("The other seats and the referees read this.")} ${follows}`),
  ];
  const raise = async (data) => {
    const disputed = Number(data.get("version"));
    const own = data.get("seat") ?? seats[0].id;
    const body = { version: disputed, text: data.get("text").trim() };
    if (data.get("place")) {
      const state = await json(`${api}/state?${new URLSearchParams({ at: disputed, viewer: own })}`);
      const field = pointerTo(state.view, data.get("place"));
      if (field !== null) body.field = field;
    }
    await act({ path: `${api}/disputes?seat=${own}`, match, seat: own, version: newest, body, actions: [{ type: "dispute", ...body }] });
  };
  if (await opened(t("Dispute what happened"), form, t("Dispute it"), raise)) tell(t("Your dispute is before a referee."));
}
