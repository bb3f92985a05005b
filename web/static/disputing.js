// Disputes on the page of a match: what is open, what has been said, and what a seat can do about it. Where a match comes from and goes on.

import { act } from "./acting.js";
import { json } from "./asking.js";
import { askText } from "./dialogs.js";
import { $, crest, make, tell } from "./site.js";

const STATES = {
  open: "The match is frozen until a referee rules.",
  ruled: "A referee has ruled. The match is frozen while a seat can appeal.",
  appealed: "The match is frozen until another referee rules on the appeal.",
  settled: "It is settled.",
};

/** Return the rows for a match: where it comes from, where it goes on, and its disputes. `play` is the Playing of the page. */
export const rows = (play) => [...elsewhereRows(play.standing), ...disputeRows(play)];

/** Return a row that names the match from whose position this one begins, and one for the match in which play goes on. */
function elsewhereRows({ origin, practice, continued }) {
  const row = (words, href, name) => make("div", { class: "row" }, make("span", {}, `${words} `, make("a", { href }, name), "."));
  const begins = practice ? "This is a practice match. It begins from" : "By a ruling this match begins from";
  return [
    origin ? row(begins, `/m/${origin.match}?at=${origin.version}`, `version ${origin.version} of another match`) : null,
    continued?.begun ? row(`Play goes on from version ${continued.version}`, `/m/${continued.match}`, "in another match") : null,
  ].filter(Boolean);
}

/** Return a row for each dispute that was not withdrawn and has not lapsed. */
function disputeRows(play) {
  const { api, standing, told } = play;
  const seat = play.seats[0] ?? null;
  return standing.disputes.flatMap((one, place) => {
    const number = place + 1;
    if (!(one.state in STATES)) return [];
    const button = (label, action) => make("button", { type: "button", class: "small", onclick: action }, label);
    const say = (label, path, type, about, done) =>
      button(label, async () => {
        const text = await askText(label, { about, long: true });
        if (!text) return;
        try {
          const action = { type, dispute: number, text };
          await act({ path: `${api}/disputes/${number}/${path}?seat=${seat}`, match: play.match, seat, version: play.seen, body: { text }, actions: [action] });
          tell(done);
        } catch (problem) {
          play.refuse(problem);
        }
      });
    const stating = seat && seat !== one.seat && ["open", "appealed"].includes(one.state) && !one.sides.includes(seat);
    return make(
      "div",
      { class: "row dispute" },
      crest(`b-${one.seat}`),
      make("span", {}, make("strong", {}, `Dispute about version ${one.version}. `), STATES[one.state]),
      button("Read it", () => read(api, number, told)),
      stating ? say("State your side", "statements", "state_side", "What do you say to it? You can say it once.", "Your side is stated.") : null,
      seat && one.state === "ruled" ? say("Appeal", "appeal", "appeal", "Why is the ruling wrong? Another referee decides, and that is final.", "Your appeal is before another referee.") : null,
    );
  });
}

/** Dispute what happened at the newest version: the match is frozen until that is settled. */
export async function dispute(play) {
  const text = await askText("What is wrong?", { about: "The match is frozen until a referee has ruled.", long: true, send: "Dispute it" });
  if (!text) return;
  try {
    const body = { version: play.standing.version, text };
    const action = { type: "dispute", ...body };
    await act({ path: `${play.api}/disputes?seat=${play.seat}`, match: play.match, seat: play.seat, version: play.seen, body, actions: [action] });
    tell("Your dispute is before a referee.");
  } catch (problem) {
    play.refuse(problem);
  }
}

/** Show the steps of a dispute. `told` makes a sentence of the entry of a version, or is null if it is not loaded. */
async function read(api, number, told) {
  const list = $("why-list");
  $("why-title").textContent = `Dispute ${number}`;
  list.replaceChildren(make("li", {}, "Looking …"));
  if (!$("why").open) $("why").showModal();
  try {
    const { disputes } = await json(`${api}/disputes`);
    const { steps } = disputes.find((one) => one.number === number);
    list.replaceChildren(...steps.map(({ version, event }) => make("li", {}, make("b", {}, `Version ${version}. `), told(version) ?? "", ...wordsOf(event))));
  } catch (problem) {
    list.replaceChildren(make("li", {}, problem.message));
  }
}

/** Return what a step says beyond the sentence of its entry. Texts and reports are null for those who may not see them. */
function wordsOf({ text, report }) {
  if (text) return [make("blockquote", {}, text)];
  if (!report) return [];
  const { state, found } = report.audit;
  return [make("blockquote", {}, state === "holds" ? "An audit of the record finds nothing." : `Audit of the record: ${state}, ${found} found.`)];
}
