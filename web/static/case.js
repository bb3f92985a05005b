// The page of a dispute: what was said, what happened, what the service found, and what the reader can do about it: answer, appeal or rule.

import { act } from "./acting.js";
import { ask, json, Problem } from "./asking.js";
import { nextOf, stateOf, textField, title, when } from "./disputing.js";
import { t } from "./language.js";
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
  ["none", t("Nothing else follows"), t("The dispute was right, but the match goes on as it is.")],
  ["play_on", t("Play goes on from an earlier version"), t("In another match, with the same seats, new dice and full clocks. This match ends without a winner.")],
  ["forfeit", t("A seat forfeits"), t("It leaves the match, or does not win if the match is over.")],
  ["void", t("The match does not count"), t("It ends without a winner.")],
];
const AUDITS = {
  holds: t("Audit of {versions} versions: nothing is wrong. Every number follows from the secret that the server had committed to before anybody played, every action was legal, and no entry was changed."),
  fails: t("Audit of {versions} versions: something is wrong."),
  too_long: t("The match is too long for an audit here. Audit it on its page, or with ./run audit."),
};
const AGAIN = {
  same: t("Made again from what its seat saw, the decision is the same."),
  differs: t("Made again from what its seat saw, the decision is another one."),
  not_run: t("It was not made again. Where the match is stored, ./run audit with --decisions does it."),
};

let names = {};
let standing = null;
let seen = 0; // the version at which it was looked at
let looks = 0;
const pictures = [];

const seatName = (seat) => seats[seat] ?? word(words, seat);
const playerName = (id) => names[id]?.name ?? t("a player who has left");
const PLAYER = /\{(p[a-z2-7]{16})\}/g;
const inWords = (text) => text.replace(PLAYER, (_, id) => playerName(id));

/** Return who acted, in words: a seat with its player, a referee, or the system. */
function actorName(actor) {
  if (!(actor in seats)) return actor in names ? playerName(actor) : word(words, actor);
  const who = standing?.seats[actor] ?? {};
  const name = "player" in who ? playerName(who.player) : who.ai ? word(words, `ai_${who.ai}`) : t("open");
  return `${seatName(actor)} (${name})`;
}

const badge = (actor) => (actor in seats ? crest(`c-${game}-${actor}`) : make("span"));
const inReplay = (version, viewer) => `/m/${match}?${new URLSearchParams({ at: version, viewer })}`;
const toVersion = (version, viewer) => make("a", { href: inReplay(version, viewer) }, t("Version {version}", { version }));
const ruleLink = (id) => make("a", { class: "rule", href: `/games/${game}#${id}` }, id);
const source = /^\[[SPR][^\]]*\]\s*/; // of a rule
const exactly = (at) => t.date(at, { dateStyle: "medium", timeStyle: "medium" });
const timeOf = (at) => make("time", { datetime: new Date(at).toISOString() }, when(at));

// ---------------------------------------------------------------- what was said and decided

const EVENTS = {
  dispute_opened: (event) => (event.field ? t("{actor} disputes version {version}, about {field}", { ...event, field: pathName(event.field) }) : t("{actor} disputes version {version}", event)),
  dispute_taken: (event) => t("{actor} takes the case", event),
  dispute_withdrawn: (event) => t("{actor} withdraws the dispute", event),
  side_stated: (event) => t("{actor} states its side", event),
  report_attached: (event) => t("{actor} attaches the report of the service", event),
  dispute_escalated: (event) => t("{actor} hands the dispute to an admin, as no referee has ruled", event),
  dispute_lapsed: (event) => t("{actor} lets the dispute lapse, as nobody has ruled", event),
  dispute_ruled: (event) => [event.verdict === "rejected" ? t("{actor} rules: the dispute is rejected.", event) : t("{actor} rules: the dispute is upheld.", event), remedyOf(event)].join(" "),
  ruling_accepted: (event) => t("{actor} accepts the ruling", event),
  ruling_appealed: (event) => t("{actor} appeals against the ruling", event),
  dispute_settled: (event) => t("{actor}: the ruling takes effect", event),
  freeze_ended: (event) => t("{actor} lets the match go on", event),
};

const pathName = (pointer) => pointer.slice(1).split("/").map((part) => word(words, part.replaceAll("~1", "/").replaceAll("~0", "~"))).join(", ");

function remedyOf({ verdict, remedy, seat, version }) {
  if (verdict === "rejected") return t("Nothing follows.");
  if (remedy === "forfeit") return t("{seat} forfeits.", { seat: seatName(seat) });
  if (remedy === "play_on") return t("Play goes on from version {version}, in another match.", { version });
  return `${REMEDIES.find(([id]) => id === remedy)?.[1] ?? word(words, remedy)}.`;
}

function step({ version, at, actor, event }) {
  const told = EVENTS[event.type]?.({ ...event, actor: "{actor}" }) ?? `{actor}: ${word(words, event.type)}`;
  const said = t.around(told, { actor: make("strong", {}, actorName(actor)) });
  const quoted = event.text ? make("blockquote", {}, event.text) : null;
  return make("li", {}, ...said, " ", make("small", {}, ...t.around("version {version}, {moment}", { version, moment: timeOf(at) })), quoted);
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
  const text = make("details", {}, make("summary", {}, t("As text")), make("pre", { tabindex: 0, "aria-label": caption }, lines.join("\n")));
  const figure = make("figure", {}, make("figcaption", {}, caption), make("a", { href: inReplay(version, viewer) }, make("img", { alt: t("{caption}, in the replay", { caption }) })), text);
  picture(figure, version, viewer).catch((problem) => figure.querySelector("img").replaceWith(make("p", { class: "wrong" }, problem.message)));
  return figure;
}

const diceOf = (dice) =>
  Object.entries(dice).map(([what, faces]) => make("span", { class: "dice", role: "img", "aria-label": t("{what}, dice: {faces}", { what: word(words, what), faces: faces.join(", ") }) }, word(words, what), ...faces.map((face) => make("span", { class: "die" }, String(face)))));

/** Return an entry in sentences. `before`: the one before it; `raw`: the entry as the viewer may see it. */
function entry(one, before, raw, disputed, viewer) {
  const clocks = Object.entries(one.clocks).map(([seat, left]) => `${seatName(seat)} ${clockText(left)}`);
  const moment = exactly(one.at);
  const notes = [
    before === undefined ? t("{moment}.", { moment }) : t("{moment}, {span} after the one before.", { moment, span: span(one.at - before.at) }),
    raw?.signed && t("The player signed it."),
    one.receipt !== null && t("{name} was given the receipt.", { name: playerName(one.receipt) }),
    clocks.length && t("Clocks: {clocks}.", { clocks: clocks.join(", ") }),
  ];
  const parts = one.happened.map(({ text, dice }) => make("p", { class: "part" }, inWords(text), ...diceOf(dice)));
  const rules = one.rules.flatMap((id) => [ruleLink(id), " "]);
  const done = raw && one.actor in seats && !("text" in raw.action) ? make("small", {}, `${actorName(one.actor)}: ${sentence(words, raw.action)}. `) : null;
  const body = make("div", {}, one.version === disputed ? make("strong", {}, t("This is disputed."), " ") : null, ...parts, done, make("small", {}, notes.filter(Boolean).join(" "), " "), make("small", {}, ...rules), one.version === disputed && raw ? recorded(raw) : null);
  const version = make("a", { href: inReplay(one.version, viewer), "aria-label": t("Version {version} in the replay", one) }, String(one.version));
  return make("li", { "aria-current": one.version === disputed ? "true" : null }, version, badge(one.actor), body);
}

/** Return all that an entry records, as the viewer may see it. */
const recorded = ({ events }) => make("details", {}, make("summary", {}, t("All that was recorded")), make("ol", {}, ...events.map((event) => make("li", {}, isDeep(event) ? JSON.stringify(event) : sentence(words, event)))));
const isObject = (value) => typeof value === "object" && value !== null;
const isDeep = (event) => Object.values(event).some((value) => isObject(value) && Object.values(value).some(isObject));

const span = (milliseconds) => (milliseconds < 1000 ? t("at once") : clockText(milliseconds));

// ---------------------------------------------------------------- the report

/** Return the parts of the report: the audit, the disputed field, refused actions, decisions, and the rules behind the disputed entry. */
function findings(one, told) {
  const { report } = one.steps.find(({ event }) => event.report)?.event ?? {};
  const parts = [];
  const part = (heading, ...content) => parts.push(make("h3", {}, heading), ...content);
  if (report) {
    const { state, findings: found } = report.audit;
    part(t("Does the record hold?"), make("p", { class: state }, AUDITS[state].replace("{versions}", report.version)), ...found.map(({ version, code }) => make("p", {}, t("Version {version}: {code}.", { version, code: code.replaceAll("_", " ") }))));
  } else parts.push(make("p", {}, one.reported ? t("The report is for the seats and the referees until the match is over.") : t("The service is making its report.")));
  const { why } = told;
  if (why) {
    const changes = why.changes.map((change) => make("li", {}, toVersion(change.version, told.viewer), `: ${inWords(change.events.map((event) => event.text).filter(Boolean).join(" ") || change.text.join(" "))} `, values(change)));
    part(t("Why is it so: {field}", { field: pathName(why.pointer) }), "value" in why ? make("p", {}, ...t.around("It was {value} at version {version}. These entries changed it last:", { value: make("code", {}, JSON.stringify(why.value)), version: one.version })) : null, make("ul", { class: "options" }, ...changes));
  }
  if (report) {
    const refused = report.refused.map(({ seat, version, at, action, code, rule }) => {
      const what = action ? sentence(words, action) : t("an action that is too long to be kept");
      return make("li", {}, t("{actor}, at version {version}, {moment}: {deed}. Refused: {code}", { actor: actorName(seat), version, moment: when(at), deed: what, code: code.replaceAll("_", " ") }), " ", rule ? ruleLink(rule) : null);
    });
    part(t("Refused actions"), ...(refused.length ? [make("ul", { class: "options" }, ...refused)] : [make("p", {}, t("None that you may see, around this version."))]));
    if (report.decisions.length) part(t("What artificial players thought"), ...report.decisions.flatMap(decision));
  }
  const rules = [...new Set([...(told.entries.find(({ version }) => version === one.version)?.rules ?? []), ...(report?.refused ?? []).map(({ rule }) => rule)])].filter(Boolean);
  if (rules.length) part(t("The rules behind it"), rulesOf(rules.slice(0, MOST_RULES)));
  const grouped = Object.groupBy?.(told.entries.filter(({ receipt }) => receipt), ({ receipt }) => receipt) ?? {};
  const given = Object.entries(grouped).map(([player, entries]) => t("{name}: version {versions}", { name: playerName(player), versions: t.list(entries.map(({ version }) => String(version))) }));
  part(t("Receipts"), make("p", {}, ...t.around(given.length ? t("Who acts is given the server's signature on the history up to then. Here: {receipts}. If a player says that history was changed, ask for it and {check}.") : t("No player acted here, so nobody was given a receipt. {check}."), { receipts: given.join("; "), check: make("a", { href: "/check" }, given.length ? t("check it") : t("Check a file")) })));
  return parts;
}

/** Return the value of a field before and after a change; of an object only what differs. */
function values({ before, after }) {
  const whole = (value) => (value === undefined ? t("nothing") : JSON.stringify(value));
  if (![before, after].every((value) => isObject(value) && !Array.isArray(value))) return make("code", {}, `${whole(before)} → ${whole(after)}`);
  const differs = Object.keys({ ...before, ...after }).filter((key) => whole(before[key]) !== whole(after[key]));
  return make("code", {}, differs.map((key) => `${key}: ${whole(before[key])} → ${whole(after[key])}`).join(", "));
}

function decision({ version, seat, level, again, options }) {
  const considered = options.map(({ action, worth, tries }) => make("li", {}, sentence(words, action), tries ? t(": {share} to win, tried {tries} times", { share: t.number(worth / 1000, { style: "percent", minimumFractionDigits: 1 }), tries }) : ""));
  return [
    make("p", {}, make("strong", {}, t("Version {version}: {seat}, by {level}.", { version, seat: seatName(seat), level: word(words, `ai_${level}`) }), " "), make("span", { class: again === "differs" ? "fails" : null }, AGAIN[again]), considered.length ? ` ${t("What it considered, the best first:")}` : null),
    considered.length ? make("ol", {}, ...considered) : null,
  ].filter(Boolean);
}

function rulesOf(ids) {
  const shown = make("dl", { class: "rules-of" });
  for (const id of ids) {
    const text = make("dd", {}, t("Looking …"));
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
    const [as, forms] = [(heading) => (own.length > 1 ? t("{heading} as {seat}", { heading, seat: seatName(seat) }) : heading), []];
    if (one.state === "open" && one.seat === seat) forms.push(form(null, as(t("Withdraw the dispute")), [note(t("The match goes on as if nothing had been disputed."))], deed("withdraw_dispute", seat), t("The dispute is withdrawn.")));
    if (["open", "appealed"].includes(one.state) && one.seat !== seat && !one.sides.includes(seat)) forms.push(form(as(t("State your side")), t("State it"), [textField(t("What do you say to it? You can say it once."))], say("statements", "state_side", seat), t("Your side is stated.")));
    if (one.state === "ruled") {
      if (!one.accepted.includes(seat)) forms.push(form(null, as(t("Accept the ruling")), [note(t("It takes effect when everybody whom it concerns accepts it, or when the time for an appeal is over."))], deed("accept_ruling", seat), t("You have accepted the ruling.")));
      forms.push(form(as(t("Appeal")), t("Appeal"), [textField(t("Why is the ruling wrong?")), note(t("Another referee decides, and that is final."))], say("appeal", "appeal", seat), t("Your appeal is before another referee.")));
    }
    return forms;
  });
}

/** Return the forms of a referee: to take the case, and to rule. */
function refereesForms(one) {
  const forms = [];
  if (one.taken === null) forms.push(form(null, t("Take the case"), [note(one.left ? t("The clock of the seat that disputes stands from then on. You can rule without it, too.") : t("The others see that you look into it. You can rule without it, too."))], deed("take_dispute"), t("You have taken the case.")));
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
  const seat = make("label", {}, t("Which seat?"), make("select", { name: "seat" }, ...Object.keys(standing.seats).map((id) => make("option", { value: id }, actorName(id)))));
  const version = make("label", {}, t("From which version?"), make("input", { type: "number", name: "version", min: 1, max: standing.version, value: Math.max(1, one.version - 1), required: true }));
  const remedies = REMEDIES.filter(([id]) => !(over && id === "play_on"));
  const remedy = make("fieldset", {}, make("legend", {}, t("What follows?")), ...remedies.map(([id, label, about]) => choice("remedy", id, label, about, id === "none")), seat, version);
  const verdict = make("fieldset", {}, make("legend", {}, t("Your ruling")), choice("verdict", "rejected", t("The dispute is rejected"), t("The match goes on as it is.")), choice("verdict", "upheld", t("The dispute is upheld"), t("The seat was right. Choose what follows.")));
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
  const until = final ? t("This ruling is final and takes effect at once.") : t("The seats can appeal for seven days. Then the ruling takes effect, or earlier if all accept it.");
  const element = form(t("Rule"), t("Rule"), [verdict, remedy, textField(t("Your reasons, which the seats read")), note(until)], rule, t("You have ruled."));
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
  if (own.length) [heading, forms] = [t("What you can do"), playersForms(one, own)];
  else if (referee && waits && before) [heading, forms] = [t("Another referee must rule"), [note(t("You have ruled on this dispute, so you cannot rule on the appeal."))]];
  else if (referee && waits && one.escalated && me.role !== "admin") [heading, forms] = [t("An admin must rule"), [note(t("No referee has ruled in time."))]];
  else if (referee && waits) [heading, forms] = [t("For referees"), refereesForms(one)];
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
  $("state").textContent = `${title(one, actorName(one.seat))}. ${stateOf(one)} ${nextOf(one)}`.trim();
  $("to-match").href = `/m/${match}?${new URLSearchParams({ at: one.version, viewer: told.viewer })}`;
  $("others").replaceChildren(...all.filter((other) => other.number !== number).flatMap((other) => [" · ", make("a", { href: `/m/${match}/disputes/${other.number}` }, t("dispute {number}", other))]));
  $("steps").replaceChildren(...one.steps.map(step));
  const drafted = [...$("forms").querySelectorAll("textarea")].some((text) => text.value);
  if (!drafted || look.shown !== one.state) $("forms").replaceChildren(...yours(one)); // what somebody has begun to write stays
  look.shown = one.state;
  $("yours").hidden = $("to-yours").hidden = !$("forms").children.length;
  const boards = [board(t("The board before it, version {version}", { version: one.version - 1 }), one.version - 1, told.before, told.viewer), board(t("The board at version {version}", one), one.version, told.after, told.viewer)];
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
