// The page of a dispute: what was said, what happened, what the service found, and what the reader can do about it: answer, appeal or rule.

import { act } from "./acting.js";
import { ask, json, Problem } from "./asking.js";
import { nextOf, stateOf, textField, title, when } from "./disputing.js";
import { $, crest, introduced, make, me, onSubmit, tell } from "./site.js";
import { clockText, sentence, word } from "./words.js";

const { match, game, ...given } = $("main").dataset;
const number = Number(given.number);
const seats = JSON.parse(given.seats);
const words = JSON.parse(given.words);
const api = `/v1/matches/${match}`;
const path = `${api}/disputes/${number}`;
const WAIT = 3000; // milliseconds between two looks for a report that is being made
const LOOKS = 20;
const MOST_RULES = 8;

const REMEDIES = [
  ["none", "Nothing else follows", "The dispute was right, but the match goes on as it is."],
  ["play_on", "Play goes on from an earlier version", "In another match, with the same seats, new dice and full clocks. This match ends without a winner."],
  ["forfeit", "A seat forfeits", "It leaves the match, or does not win if the match is over."],
  ["void", "The match does not count", "It ends without a winner."],
];
const AUDITS = {
  holds: "nothing is wrong. Every number follows from the secret that the server had committed to before anybody played, every action was legal, and no entry was changed.",
  fails: "something is wrong.",
  too_long: "the match is too long for it. Audit it on its page, or with ./run audit.",
};
const AGAIN = {
  same: "Made again from what its seat saw, the decision is the same.",
  differs: "Made again from what its seat saw, the decision is another one.",
  not_run: "It was not made again. Where the match is stored, ./run audit with --decisions does it.",
};

let names = {};
let standing = null;
let seen = 0; // the version at which it was looked at
let looks = 0;
const pictures = [];

const seatName = (seat) => seats[seat] ?? word(words, seat);
const playerName = (id) => names[id]?.name ?? "a player who has left";
const PLAYER = /\{(p[a-z2-7]{16})\}/g;
const inWords = (text) => text.replace(PLAYER, (_, id) => playerName(id));

/** Return who acted, in words: a seat with its player, a referee, or the system. */
function actorName(actor) {
  if (!(actor in seats)) return actor in names ? playerName(actor) : word(words, actor);
  const who = standing?.seats[actor] ?? {};
  return `${seatName(actor)} (${"player" in who ? playerName(who.player) : who.ai ? word(words, `ai_${who.ai}`) : "open"})`;
}

const badge = (actor) => (actor in seats ? crest(`c-${game}-${actor}`) : make("span"));
const inReplay = (version, viewer) => `/m/${match}?${new URLSearchParams({ at: version, viewer })}`;
const toVersion = (version, viewer) => make("a", { href: inReplay(version, viewer) }, `Version ${version}`);
const ruleLink = (id) => make("a", { class: "rule", href: `/games/${game}#${id}` }, id);
const source = /^\[[SPR][^\]]*\]\s*/; // of a rule
const exactly = (at) => new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
const timeOf = (at) => make("time", { datetime: new Date(at).toISOString() }, when(at));
const list = (items) => items.join(", ").replace(/, ([^,]*)$/, " and $1");

// ---------------------------------------------------------------- what was said and decided

const EVENTS = {
  dispute_opened: (event) => `disputes version ${event.version}${event.field ? `, about ${fieldName(event.field)}` : ""}`,
  dispute_taken: () => "takes the case",
  dispute_withdrawn: () => "withdraws the dispute",
  side_stated: () => "states its side",
  report_attached: () => "attaches the report of the service",
  dispute_escalated: () => "hands the dispute to an admin, as no referee has ruled",
  dispute_lapsed: () => "lets the dispute lapse, as nobody has ruled",
  dispute_ruled: (event) => `rules: the dispute is ${event.verdict}. ${remedyOf(event)}`,
  ruling_accepted: () => "accepts the ruling",
  ruling_appealed: () => "appeals against the ruling",
  dispute_settled: () => "The ruling takes effect",
};

const fieldName = (pointer) => pointer.slice(1).split("/").map((part) => word(words, part.replaceAll("~1", "/").replaceAll("~0", "~"))).join(", ");

function remedyOf({ verdict, remedy, seat, version }) {
  if (verdict === "rejected") return "Nothing follows.";
  if (remedy === "forfeit") return `${seatName(seat)} forfeits.`;
  if (remedy === "play_on") return `Play goes on from version ${version}, in another match.`;
  return `${REMEDIES.find(([id]) => id === remedy)?.[1] ?? word(words, remedy)}.`;
}

function step({ version, at, actor, event }) {
  const told = EVENTS[event.type];
  const quoted = event.text ? make("blockquote", {}, event.text) : null;
  return make("li", {}, make("strong", {}, actorName(actor)), ` ${told ? told(event) : word(words, event.type)} `, make("small", {}, `version ${version}, `, timeOf(at)), quoted);
}

// ---------------------------------------------------------------- what happened

/** Put a picture of the board into a figure, as the viewer sees it. */
async function picture(figure, version, viewer) {
  const theme = document.documentElement.dataset.theme;
  const response = await ask(`${api}/state.svg?${new URLSearchParams({ at: version, viewer, shape: "board", ...(theme ? { theme } : {}) })}`, { accept: "image/svg+xml" });
  const address = URL.createObjectURL(await response.blob());
  pictures.push(address);
  figure.querySelector("img").src = address;
}

function board(caption, version, lines, viewer) {
  if (!lines) return null;
  const text = make("details", {}, make("summary", {}, "As text"), make("pre", { tabindex: 0, "aria-label": caption }, lines.join("\n")));
  const figure = make("figure", {}, make("figcaption", {}, caption), make("a", { href: inReplay(version, viewer) }, make("img", { alt: `${caption}, in the replay` })), text);
  picture(figure, version, viewer).catch((problem) => figure.querySelector("img").replaceWith(make("p", { class: "wrong" }, problem.message)));
  return figure;
}

const diceOf = (dice) =>
  Object.entries(dice).map(([what, faces]) => make("span", { class: "dice", role: "img", "aria-label": `${word(words, what)}, dice: ${faces.join(", ")}` }, word(words, what), ...faces.map((face) => make("span", { class: "die" }, String(face)))));

/** Return an entry in sentences. `before`: the one before it; `raw`: the entry as the viewer may see it. */
function entry(one, before, raw, disputed, viewer) {
  const clocks = Object.entries(one.clocks).map(([seat, left]) => `${seatName(seat)} ${clockText(left)}`);
  const after = before === undefined ? "" : `, ${span(one.at - before.at)} after the one before`;
  const receipt = one.receipt === null ? "" : `${playerName(one.receipt)} was given the receipt. `;
  const signed = raw?.signed ? "The player signed it. " : "";
  const notes = [exactly(one.at), after, ". ", signed, receipt, clocks.length ? `Clocks: ${clocks.join(", ")}.` : ""].join("");
  const parts = one.happened.map(({ text, dice }) => make("p", { class: "part" }, inWords(text), ...diceOf(dice)));
  const rules = one.rules.flatMap((id) => [ruleLink(id), " "]);
  const done = raw && one.actor in seats && !("text" in raw.action) ? make("small", {}, `${actorName(one.actor)}: ${sentence(words, raw.action)}. `) : null;
  const body = make("div", {}, one.version === disputed ? make("strong", {}, "This is disputed. ") : null, ...parts, done, make("small", {}, notes, " "), make("small", {}, ...rules), one.version === disputed && raw ? recorded(raw) : null);
  const version = make("a", { href: inReplay(one.version, viewer), "aria-label": `Version ${one.version} in the replay` }, String(one.version));
  return make("li", { "aria-current": one.version === disputed ? "true" : null }, version, badge(one.actor), body);
}

/** Return all that an entry records, as the viewer may see it. */
const recorded = ({ events }) => make("details", {}, make("summary", {}, "All that was recorded"), make("ol", {}, ...events.map((event) => make("li", {}, isDeep(event) ? JSON.stringify(event) : sentence(words, event)))));
const isObject = (value) => typeof value === "object" && value !== null;
const isDeep = (event) => Object.values(event).some((value) => isObject(value) && Object.values(value).some(isObject));

const span = (milliseconds) => (milliseconds < 1000 ? "at once" : clockText(milliseconds));

// ---------------------------------------------------------------- the report

/** Return the parts of the report: the audit, the disputed field, refused actions, decisions, and the rules behind the disputed entry. */
function findings(one, told) {
  const { report } = one.steps.find(({ event }) => event.report)?.event ?? {};
  const parts = [];
  const part = (heading, ...content) => parts.push(make("h3", {}, heading), ...content);
  if (report) {
    const { state, findings: found } = report.audit;
    part("Does the record hold?", make("p", { class: state }, `Audit of ${report.version} versions: ${AUDITS[state]}`), ...found.map(({ version, code }) => make("p", {}, `Version ${version}: ${code.replaceAll("_", " ")}.`)));
  } else parts.push(make("p", {}, one.reported ? "The report is for the seats and the referees until the match is over." : "The service is making its report."));
  const { why } = told;
  if (why) {
    const changes = why.changes.map((change) => make("li", {}, toVersion(change.version, told.viewer), `: ${inWords(change.events.map((event) => event.text).filter(Boolean).join(" ") || change.text.join(" "))} `, values(change)));
    part(`Why is it so: ${fieldName(why.pointer)}`, "value" in why ? make("p", {}, "It was ", make("code", {}, JSON.stringify(why.value)), ` at version ${one.version}. These entries changed it last:`) : null, make("ul", { class: "options" }, ...changes));
  }
  if (report) {
    const refused = report.refused.map(({ seat, version, at, action, code, rule }) => {
      const what = action ? sentence(words, action) : "an action that is too long to be kept";
      return make("li", {}, `${actorName(seat)}, at version ${version}, ${when(at)}: ${what}. Refused: ${code.replaceAll("_", " ")} `, rule ? ruleLink(rule) : null);
    });
    part("Refused actions", ...(refused.length ? [make("ul", { class: "options" }, ...refused)] : [make("p", {}, "None that you may see, around this version.")]));
    if (report.decisions.length) part("What artificial players thought", ...report.decisions.flatMap(decision));
  }
  const rules = [...new Set([...(told.entries.find(({ version }) => version === one.version)?.rules ?? []), ...(report?.refused ?? []).map(({ rule }) => rule)])].filter(Boolean);
  if (rules.length) part("The rules behind it", rulesOf(rules.slice(0, MOST_RULES)));
  const given = Object.groupBy?.(told.entries.filter(({ receipt }) => receipt), ({ receipt }) => receipt) ?? {};
  const receipts = Object.entries(given).map(([player, entries]) => `${playerName(player)} of version ${list(entries.map(({ version }) => String(version)))}`);
  part("Receipts", make("p", {}, receipts.length ? `Who acts is given the server's signature on the history up to then. Here: ${receipts.join("; ")}. If a player says that history was changed, ask for it: ` : "No player acted here, so nobody was given a receipt. ", make("a", { href: "/check" }, "check a file"), "."));
  return parts;
}

/** Return the value of a field before and after a change; of an object only what differs. */
function values({ before, after }) {
  const whole = (value) => (value === undefined ? "nothing" : JSON.stringify(value));
  if (![before, after].every((value) => isObject(value) && !Array.isArray(value))) return make("code", {}, `${whole(before)} → ${whole(after)}`);
  const differs = Object.keys({ ...before, ...after }).filter((key) => whole(before[key]) !== whole(after[key]));
  return make("code", {}, differs.map((key) => `${key}: ${whole(before[key])} → ${whole(after[key])}`).join(", "));
}

function decision({ version, seat, level, again, options }) {
  const considered = options.map(({ action, worth, tries }) => make("li", {}, sentence(words, action), tries ? `: ${(worth / 10).toFixed(1)} % to win, tried ${tries} times` : ""));
  return [
    make("p", {}, make("strong", {}, `Version ${version}: ${seatName(seat)}, by ${word(words, `ai_${level}`)}. `), make("span", { class: again === "differs" ? "fails" : null }, AGAIN[again]), considered.length ? " What it considered, the best first:" : null),
    considered.length ? make("ol", {}, ...considered) : null,
  ].filter(Boolean);
}

function rulesOf(ids) {
  const shown = make("dl", { class: "rules-of" });
  for (const id of ids) {
    const text = make("dd", {}, "Looking …");
    shown.append(make("div", {}, make("dt", {}, ruleLink(id)), text));
    json(`/v1/games/${game}/rules/${id}`).then(
      (found) => (text.textContent = found.text.replace(source, "").replaceAll("`", "").replaceAll("**", "")),
      (problem) => (text.textContent = problem.message),
    );
  }
  return shown;
}

// ---------------------------------------------------------------- what the reader can do

/** Return a form. `sent` sends what it holds; then the page is shown anew. */
function form(heading, button, content, sent, done) {
  const wrong = make("p", { class: "wrong", role: "alert" });
  const element = make("form", {}, heading ? make("h3", {}, heading) : null, ...content, wrong, make("p", { class: "row end" }, make("button", { class: "first" }, button)));
  onSubmit(element, wrong, async (data) => {
    await sent(data);
    tell(done);
    await look();
  });
  return element;
}

/** Send a step of the dispute: an action, and perhaps the body with which an address of its own wants it. */
function sendStep(where, seat, action, body) {
  const query = seat === null ? "" : `?seat=${seat}`;
  return act({ path: `${where}${query}`, match, seat, version: seen, body: body ?? action, ...(body && { actions: [action] }) });
}

function say(part, type, seat) {
  return (data) => {
    const text = data.get("text").trim();
    return sendStep(`${path}/${part}`, seat, { type, dispute: number, text }, { text });
  };
}

const deed = (type, seat = null) => () => sendStep(`${api}/actions`, seat, { type, dispute: number });
const note = (text) => make("p", { class: "note" }, text);

/** Return the forms of a player: for each own seat what it can do now. */
function playersForms(one, own) {
  return own.flatMap((seat) => {
    const [as, forms] = [own.length > 1 ? ` as ${seatName(seat)}` : "", []];
    if (one.state === "open" && one.seat === seat) forms.push(form(null, `Withdraw the dispute${as}`, [note("The match goes on as if nothing had been disputed.")], deed("withdraw_dispute", seat), "The dispute is withdrawn."));
    if (["open", "appealed"].includes(one.state) && one.seat !== seat && !one.sides.includes(seat)) forms.push(form(`State your side${as}`, "State it", [textField("What do you say to it? You can say it once.")], say("statements", "state_side", seat), "Your side is stated."));
    if (one.state === "ruled") {
      if (!one.accepted.includes(seat)) forms.push(form(null, `Accept the ruling${as}`, [note("It takes effect when everybody whom it concerns accepts it, or when the time for an appeal is over.")], deed("accept_ruling", seat), "You have accepted the ruling."));
      forms.push(form(`Appeal${as}`, "Appeal", [textField("Why is the ruling wrong?"), note("Another referee decides, and that is final.")], say("appeal", "appeal", seat), "Your appeal is before another referee."));
    }
    return forms;
  });
}

/** Return the forms of a referee: to take the case, and to rule. */
function refereesForms(one) {
  const forms = [];
  if (one.taken === null) forms.push(form(null, "Take the case", [note(one.left ? "The clock of the seat that disputes stands from then on. You can rule without it, too." : "The others see that you look into it. You can rule without it, too.")], deed("take_dispute"), "You have taken the case."));
  forms.push(rulingForm(one));
  return forms;
}

function choice(kind, value, label, about, checked) {
  const input = make("input", { type: "radio", name: kind, value, required: true, checked });
  return make("label", { class: "choice" }, input, make("span", {}, label), about ? make("small", {}, about) : null);
}

function rulingForm(one) {
  const final = one.state === "appealed";
  const over = standing.status === "over";
  const seat = make("label", {}, "Which seat?", make("select", { name: "seat" }, ...Object.keys(standing.seats).map((id) => make("option", { value: id }, actorName(id)))));
  const version = make("label", {}, "From which version?", make("input", { type: "number", name: "version", min: 1, max: standing.version, value: Math.max(1, one.version - 1), required: true }));
  const remedies = REMEDIES.filter(([id]) => !(over && id === "play_on"));
  const remedy = make("fieldset", {}, make("legend", {}, "What follows?"), ...remedies.map(([id, label, about]) => choice("remedy", id, label, about, id === "none")), seat, version);
  const verdict = make("fieldset", {}, make("legend", {}, "Your ruling"), choice("verdict", "rejected", "The dispute is rejected", "The match goes on as it is."), choice("verdict", "upheld", "The dispute is upheld", "The seat was right. Choose what follows."));
  const settle = () => {
    const data = new FormData(element);
    const show = (field, shown) => (field.hidden = field.querySelector("select, input").disabled = !shown);
    remedy.hidden = remedy.disabled = data.get("verdict") !== "upheld";
    show(seat, data.get("remedy") === "forfeit");
    show(version, data.get("remedy") === "play_on");
  };
  const rule = (data) => {
    const body = { verdict: data.get("verdict"), remedy: data.get("remedy") ?? "none", text: data.get("text").trim() };
    if (data.get("seat")) body.seat = data.get("seat");
    if (data.get("version")) body.version = Number(data.get("version"));
    return sendStep(`${path}/ruling`, null, { type: "rule_dispute", dispute: number, ...body }, body);
  };
  const until = final ? "This ruling is final and takes effect at once." : "The seats can appeal for seven days. Then the ruling takes effect, or earlier if all accept it.";
  const element = form("Rule", "Rule", [verdict, remedy, textField("Your reasons, which the seats read"), note(until)], rule, "You have ruled.");
  element.addEventListener("change", settle);
  settle();
  return element;
}

function yours(one) {
  const own = Object.keys(standing.seats).filter((seat) => me && standing.seats[seat].player === me.id);
  const referee = me && me.role !== "player" && !own.length;
  const waits = ["open", "appealed"].includes(one.state);
  const before = one.rulings.some((ruling) => ruling.referee === me?.id);
  let [heading, forms] = ["", []];
  if (own.length) [heading, forms] = ["What you can do", playersForms(one, own)];
  else if (referee && waits && before) [heading, forms] = ["Another referee must rule", [note("You have ruled on this dispute, so you cannot rule on the appeal.")]];
  else if (referee && waits && one.escalated && me.role !== "admin") [heading, forms] = ["An admin must rule", [note("No referee has ruled in time.")]];
  else if (referee && waits) [heading, forms] = ["For referees", refereesForms(one)];
  $("yours-title").textContent = heading;
  return forms;
}

// ---------------------------------------------------------------- looking

/** Look at the dispute, and show it. */
async function look() {
  try {
    const [found, match_] = await Promise.all([json(`${api}/disputes?case=${number}`), json(api)]);
    standing = match_;
    seen = found.version;
    names = { ...standing.players, ...found.players };
    const one = found.disputes[number - 1];
    const { viewer } = one.case;
    const [first, last] = [one.case.entries[0].version, one.case.entries.at(-1).version];
    const [named, page] = await Promise.all([json(`/m/${match}/words?viewer=${viewer}`), json(`${api}/entries?${new URLSearchParams({ viewer, after: first - 1, limit: last - first + 1 })}`)]);
    Object.assign(words, named);
    show(one, found.disputes, page.entries);
    if (!one.reported && ["open", "ruled", "appealed"].includes(one.state) && looks++ < LOOKS) setTimeout(look, WAIT);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    $("state").textContent = problem.message;
  }
}

function show(one, all, raws) {
  const told = one.case;
  for (const address of pictures.splice(0)) URL.revokeObjectURL(address);
  $("state").textContent = `${title(one, actorName(one.seat))}. ${stateOf(one)}${nextOf(one)}`;
  $("to-match").href = `/m/${match}?${new URLSearchParams({ at: one.version, viewer: told.viewer })}`;
  $("others").replaceChildren(...all.filter((other) => other.number !== number).flatMap((other) => [" · ", make("a", { href: `/m/${match}/disputes/${other.number}` }, `dispute ${other.number}`)]));
  $("steps").replaceChildren(...one.steps.map(step));
  const drafted = [...$("forms").querySelectorAll("textarea")].some((text) => text.value);
  if (!drafted || look.shown !== one.state) $("forms").replaceChildren(...yours(one)); // what somebody has begun to write stays
  look.shown = one.state;
  $("yours").hidden = $("to-yours").hidden = !$("forms").children.length;
  const boards = [board(`The board before it, version ${one.version - 1}`, one.version - 1, told.before, told.viewer), board(`The board at version ${one.version}`, one.version, told.after, told.viewer)];
  $("boards").replaceChildren(...boards.filter(Boolean));
  $("entries").replaceChildren(...told.entries.map((each, place) => entry(each, told.entries[place - 1], raws[place], one.version, told.viewer)));
  $("findings").replaceChildren(...findings(one, told).filter(Boolean));
  $("happened").hidden = $("report").hidden = false;
}

document.addEventListener("player", () => {
  look.shown = null;
  look();
});
await introduced;
look();
