// Playing: the choices of the player's seat, made by clicks on the board, by buttons and by keys, and drafts of whole turns.

import { act, prepare, unsigned } from "./acting.js";
import { json, keeping, Problem, random, send } from "./asking.js";
import { askCode, askText, isSure } from "./dialogs.js";
import { Draft, Drafts } from "./drafting.js";
import { applied } from "./frames.js";
import { t } from "./language.js";
import { Counts, Narrowing, rest, same } from "./narrowing.js";
import { askForCalls, crest, make, tell } from "./site.js";
import { deed, fieldName, sentence, valued, word } from "./words.js";

const URGENT = new Set(["accept", "decline", "return", "vote", "take_seat", "take_over", "rematch", "decline_seat", "resume", "accept_ruling"]);
const GRAVE = new Set(["resign", "close_match", "leave_seat"]);
const QUESTIONS = { type: t("What will you do?"), at: t("Where?"), from: t("From where?"), to: t("Where to?"), accept: t("Do you accept?") };

let code = new URLSearchParams(location.hash.slice(1)).get("code"); // of the link by which the reader came

export class Playing {
  constructor(parts) {
    Object.assign(this, parts);
    this.seat = null;
    this.game_ = new Narrowing([]);
    this.table = new Narrowing([]);
    this.counts = null;
    this.draft_ = new Draft(0);
    this.drafts = new Drafts(() => localStorage, this.api);
    this.refusal = null;
    this.busy = false;
    this.current = true;
    this.page = 0;
    this.pressed = false;
    this.unsigned = null; // why this browser cannot sign, or null
    this.root.addEventListener("pointerdown", () => (this.pressed = true));
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => this.release());
  }

  /** The pointer is up. Write the panel after the click that follows, if it was to be written meanwhile. */
  release() {
    this.pressed = false;
    if (this.late) setTimeout(() => this.late && this.write());
  }

  /** Take notice of the standing of the match: ask for the choices of the player's seats. */
  async refresh(standing, seats) {
    this.standing = standing;
    this.seats = seats;
    const open = standing.status === "open" || Object.keys(standing.handovers).length > 0;
    const whose = `${keeping.player} ${seats.join()}`;
    if (standing.version === this.asked && whose === this.askedFor) return;
    this.asked = standing.version;
    this.askedFor = whose;
    if (keeping.key === null || (!seats.length && !open)) return this.take(null, []);
    const seat = seats.find((one) => standing.to_act.includes(one)) ?? seats[0];
    try {
      const found = await json(`${this.api}/choices?blocked=true${seat ? `&seat=${seat}` : ""}`);
      if (!this.draft_.empty && found.version !== this.draft_.version) {
        this.hold(new Draft(found.version));
        this.draw(null);
        tell(t("The match has moved on, so the draft is gone."), true);
      }
      this.seen = found.version;
      if (standing.to_act.includes(found.seat)) prepare(this.match, this.seen);
      if (this.draft_.empty) {
        this.take(found.seat, found.choices, found.blocked, found.guide);
        await this.restore(found);
      }
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.asked = null;
      if (navigator.onLine && problem.code !== "no_key" && problem.code !== "not_seated") this.refuse(problem);
      else this.take(null, []);
    }
    return undefined;
  }

  /** Somebody else plays here now, from `seats`: forget what the one before was offered. The choices are asked for with the next standing. */
  changed(seats) {
    this.seats = seats;
    this.drop(null);
  }

  /** Drop the draft and the choices of a seat, until they are asked for again. */
  drop(seat) {
    this.hold(new Draft(0));
    this.draw(null);
    this.asked = null;
    this.take(seat, []);
  }

  /** Begin with lists of choices and of what is not possible, and with the step of the guide in a guided match. */
  take(seat, choices, blocked = [], guide = null) {
    this.seat = seat;
    this.guide = guide;
    this.blocked = blocked;
    this.game_ = new Narrowing(choices.filter((choice) => !choice.at_table));
    this.table = new Narrowing(choices.filter((choice) => choice.at_table));
    this.refusal = null;
    this.settle();
  }

  /** Say whether the newest version is shown. Only then is anything on the board to be picked. */
  show(current) {
    if (current === this.current) return;
    this.current = current;
    this.settle();
  }

  /** After each pick: open the counts of the choice that is left, mark the board, and write the panel. */
  settle() {
    const { only } = this.game_;
    const picked = this.game_.picks.length > 0 || this.game_.choices.length === 1;
    if (only?.choose && picked) {
      if (this.counts?.choice !== only) this.counts = new Counts(only);
    } else this.counts = null;
    this.page = 0;
    this.mark();
    this.write();
    this.learn();
  }

  mark() {
    if (!this.current || this.busy) return this.board.offer(new Set());
    const able = new Map(this.game_.ids());
    const chosen = new Map();
    for (const pick of this.game_.picks) for (const id of [pick.id ?? pick.value].flat()) if (typeof id === "string") chosen.set(id, "");
    if (this.counts) {
      for (const [key] of this.counts.ids()) able.set(key, null);
      for (const { key, value } of this.counts.rows()) if (key !== null && value) chosen.set(key, String(value));
    }
    for (const id of chosen.keys()) if (this.last() === id) able.set(id, null);
    const rows = this.counts?.rows();
    const wanted = rows ? rows.filter((row) => this.missing(row) > 0).map(({ key }) => key) : Object.values(this.wanted).flat();
    return this.board.offer(new Set(able.keys()), chosen, this.seat, new Set(wanted.filter((id) => able.has(id))));
  }

  /** What the guide names that is not picked yet, field by field. */
  get wanted() {
    return this.draft_.empty ? rest(this.guide?.action, this.game_.picks) : {};
  }

  /** By how much the guide's count is above the present one; 0 if it names none. */
  missing({ field, key, value }) {
    const { wanted } = this;
    return field in wanted ? (key === null ? wanted[field] : (wanted[field][key] ?? 0)) - value : 0;
  }

  last() {
    const pick = this.game_.picks.at(-1);
    return pick ? (pick.id ?? pick.value) : null;
  }

  /** Get the words for ids that have none yet, such as cards that have just been drawn. */
  async learn() {
    const untold = ([, value], action) => typeof value === "number" && valued(this.words, "", value, action) === String(value);
    const missing =
      [...this.game_.ids().keys()].some((id) => !(id in this.words.names)) ||
      this.game_.left.some(({ action }) => Object.entries(action).some((field) => untold(field, action)));
    if (!missing || this.learned === this.asked) return;
    this.learned = this.asked;
    try {
      const { names, options } = await json(`${location.pathname}/words${this.seat ? `?viewer=${this.seat}` : ""}`);
      Object.assign(this.words.names, names);
      Object.assign(this.words.options, options);
      this.write();
    } catch {
      // ids with blanks will do
    }
  }

  // -------------------------------------------------------------- picking

  /** Pick what was clicked on the board. A second click on the last pick takes it back. */
  pick(id) {
    if (this.busy || !this.current) return;
    this.refusal = null;
    const field = this.counts?.ids().get(id);
    if (field !== undefined) {
      if (!this.counts.add(field, id)) return this.refuse({ message: this.tooMany(field), field });
      this.mark();
      this.write();
      return;
    }
    const found = this.game_.ids().get(id);
    if (found) {
      this.game_ = this.game_.with(found);
      this.settle();
    } else if (this.last() === id) this.undo();
  }

  tooMany(field) {
    const range = this.counts.ranges[field];
    return Array.isArray(range) ? t("Between {low} and {high}.", { low: range[0], high: range[1] }) : t("No more than {count} together.", { count: range.total[1] });
  }

  choose(pick) {
    this.refusal = null;
    this.game_ = this.game_.with(pick);
    this.settle();
    this.root.querySelector("[data-number], .row .first")?.focus({ preventScroll: true });
  }

  undo() {
    this.refusal = null;
    if (this.game_.picks.length) {
      this.game_ = this.game_.back();
      this.settle();
    } else if (!this.draft_.empty) this.backDraft();
  }

  startAgain() {
    if (!this.game_.picks.length) return;
    this.game_ = this.game_.start();
    this.settle();
  }

  press(number) {
    this.root.querySelectorAll("[data-number]")[number - 1]?.click();
  }

  /** The action that is ready to be sent, or null. */
  get ready() {
    if (this.counts) return this.counts.lack ? null : this.counts.action;
    const picked = this.game_.picks.length > 0 || this.game_.choices.length === 1;
    return picked ? (this.game_.enough?.action ?? null) : null;
  }

  // -------------------------------------------------------------- sending

  /** Send what is ready, after the steps of the draft if there are any. */
  async send() {
    const action = this.ready;
    if (this.busy || !this.current || (!action && this.draft_.empty)) return;
    const actions = [...this.draft_.actions, ...(action ? [action] : [])];
    await this.submit(actions.length === 1 ? actions[0] : actions);
  }

  async submit(body, seat = this.seat) {
    this.busy = true;
    this.mark();
    this.write();
    try {
      const path = `${this.api}/actions${seat ? `?seat=${seat}` : ""}`;
      const answer = await act({ path, match: this.match, seat, version: this.seen, body });
      this.busy = false;
      if (answer.id && answer.rematch_of) return location.assign(`/m/${answer.id}`);
      this.drop(this.seat);
      this.moved(answer.version);
    } catch (problem) {
      this.busy = false;
      if (!(problem instanceof Problem)) throw problem;
      this.refuse(problem);
    }
    return undefined;
  }

  /** Show a refusal at what it speaks of: a step of the draft, a count, or the choice. */
  refuse(problem) {
    this.refusal = problem;
    this.mark();
    this.write();
  }

  // -------------------------------------------------------------- drafting

  /** Try what is ready after the draft so far, without sending it. */
  async draft() {
    const action = this.ready;
    if (this.busy || !this.current || !action || this.draft_.closed) return;
    const before = this.draft_.empty ? new Draft(this.asked) : this.draft_;
    await this.tryOut(before, action);
  }

  async tryOut(before, action) {
    this.busy = true;
    this.write();
    try {
      const tried = await json(`${this.api}/tries?shape=page${this.seat ? `&seat=${this.seat}` : ""}`, {
        method: "POST",
        body: [...before.actions, action],
        headers: { "If-Match": `"${before.version}"` },
      });
      this.busy = false;
      this.advance(before.with(action, tried.reveals ? null : tried));
    } catch (problem) {
      this.busy = false;
      if (!(problem instanceof Problem)) throw problem;
      this.refuse(problem);
    }
  }

  /** Take up the draft that this browser has kept of a seat at a version, such as before the page was loaded again. */
  async restore({ version, seat }) {
    for (const action of this.drafts.kept(version, seat)) {
      await this.tryOut(this.draft_.empty ? new Draft(version) : this.draft_, action);
      if (this.refusal) return;
    }
  }

  hold(draft) {
    this.draft_ = draft;
    this.drafts.keep(draft, this.seat);
  }

  advance(draft) {
    this.hold(draft);
    const before = this.picture(draft.version);
    const last = draft.steps.findLast((step) => step.tried)?.tried;
    this.draw(last && before?.viewer === this.seat ? applied(before, last.frame) : null);
    if (draft.closed) this.take(this.seat, []);
    else if (draft.tried) this.take(this.seat, draft.tried.choices);
    else {
      this.asked = null;
      this.refresh(this.standing, this.seats);
    }
  }

  backDraft() {
    this.advance(this.draft_.back());
  }

  dropDraft() {
    this.advance(new Draft(0));
  }

  // -------------------------------------------------------------- the panel

  /** Write the panel anew. While a button is held down that waits, since a click on a button that is replaced meanwhile is lost. */
  write() {
    this.late = this.pressed;
    if (this.late) return;
    const focused = document.activeElement?.closest?.("#play") ? document.activeElement.dataset.keep : null;
    const newest = this.current ? [...(this.guide ? this.rows("./guiding.js") : []), this.urgent(), ...this.asking(), this.refused(), this.bar()] : [];
    const says = this.seats?.length && this.standing?.status !== "open" ? this.rows("./phrases.js") : [];
    const parts = [...this.disputes(), this.current && this.waiting(), ...newest, ...says].filter(Boolean);
    this.root.hidden = parts.length === 0;
    this.root.replaceChildren(...parts);
    this.root.setAttribute("aria-busy", String(this.busy));
    if (focused) this.root.querySelector(`[data-keep="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  /** Say for whom the match waits, unless it is for the player. */
  waiting() {
    const { standing, seats } = this;
    if (standing?.status !== "playing" || standing.to_act.some((seat) => seats.includes(seat))) return null;
    if (this.table.choices.some(({ action }) => action.type === "accept")) return null; // an offer waits for the player
    const whom = [...new Set(standing.to_act.map((seat) => this.occupant(seat)))];
    if (!whom.length) return null;
    const may = seats.length && globalThis.Notification?.permission === "default" && globalThis.PushManager;
    const button = may ? make("button", { type: "button", class: "small", "data-keep": "call", onclick: askForCalls }, t("Call me")) : null;
    return make("p", { class: "row" }, make("span", {}, t("Waiting for {whom}", { whom: t.list(whom) })), button);
  }

  asking() {
    if (!this.game_.choices.length && this.draft_.empty) return [];
    const { field } = this.game_;
    const type = this.game_.left[0]?.action.type;
    const picked = this.game_.left.every((choice) => choice.action.type === type) ? type : null;
    const asks = (name) => this.words.asks?.[`${picked}/${name}`] ?? this.words.asks?.[name];
    const counted = this.counts && Object.keys(this.counts.ranges)[0];
    const question = counted ? (asks(counted) ?? t("How many?")) : field === null || this.game_.enough ? t("Ready.") : (asks(field) ?? QUESTIONS[field] ?? t("Which {field}?", { field: fieldName(this.words, field) }));
    const head = make(
      "p",
      { class: "ask" },
      this.seat ? crest(`b-${this.seat}`) : null,
      make("strong", {}, this.draft_.empty ? t("Your move.") : t("Your draft."), " "),
      this.game_.choices.length ? question : this.draft_.closed ? t("Its last step shows something hidden or rolls dice, so it ends here.") : "",
      ...(picked ? this.rules(picked) : []),
      ...this.game_.picks.map((pick) => make("span", { class: "pick" }, valued(this.words, pick.field, pick.id ?? pick.value, this.game_.left[0]?.action))),
    );
    const meant = this.game_.picks.length ? this.about(this.game_.picks.at(-1).value) : [this.words.terms?.[picked] ?? ""];
    const about = make("p", { class: "note about" }, ...meant);
    return [head, this.steps(), this.countRows(), this.buttons(), about, ...(this.blocked.length && !this.counts ? this.rows("./blocked.js") : [])];
  }

  /** The rules behind a type of action, as links. */
  rules(type) {
    return (this.words.rules?.[type] ?? []).flatMap((id) => [" ", make("a", { href: `/games/${this.game}#${id}`, class: "rule", "data-rule": id }, id)]);
  }

  /** What a button means, and by which rules. */
  about(value) {
    const told = this.words.terms?.[value];
    return told ? [`${word(this.words, value)}: ${told}`, ...this.rules(value)] : this.rules(value);
  }

  /** The steps of the draft. A refusal of one of them stands beside it. */
  steps() {
    if (this.draft_.empty) return null;
    return make(
      "ol",
      { class: "draft", "aria-label": t("Draft of the turn") },
      ...this.draft_.actions.map((action, place) => make("li", {}, sentence(this.words, action), this.refusal?.place === place ? this.refused(true) : null)),
    );
  }

  countRows() {
    if (!this.counts) return null;
    return make(
      "div",
      { class: "counts" },
      ...this.counts.rows().map((count) => {
        const { field, key, value, low, high } = count;
        const more = this.missing(count);
        const name = key === null ? fieldName(this.words, field) : word(this.words, key);
        const step = (by, label, sign) =>
          make(
            "button",
            {
              type: "button",
              class: by * more > 0 && this.counts.can(field, key, by) ? "icon wanted" : "icon",
              "aria-label": label,
              "data-keep": `${field} ${key} ${by}`,
              disabled: !this.counts.can(field, key, by),
              onclick: () => {
                this.counts.step(field, key, by);
                this.refusal = null;
                this.mark();
                this.write();
              },
            },
            sign,
          );
        return make("div", { class: "count", role: "group", "aria-label": t("{name}, {low} to {high}", { name, low, high }) }, make("span", {}, name), step(-1, t("Less {name}", { name }), "−"), make("output", {}, String(value)), step(1, t("More {name}", { name }), "+"));
      }),
    );
  }

  buttons() {
    if (this.counts || this.game_.field === null) return null;
    const { wanted } = this;
    const tellAbout = (value) => () => {
      const told = this.about(value);
      if (told.length) this.root.querySelector(".about")?.replaceChildren(...told);
    };
    const shown = new Map(); // two cards of a kind are one button
    for (const one of this.game_.buttons()) {
      const label = valued(this.words, one.pick.field, one.value, this.game_.left[0].action);
      const key = one.pick.field === "type" ? one.value : label;
      if (!shown.has(key) || same(wanted[one.pick.field], one.value)) shown.set(key, { ...one, label });
    }
    return make(
      "div",
      { class: "choices", role: "group", "aria-label": t("Choices") },
      ...[...shown.values()].map(({ pick, value, left, label }, place) =>
        make(
          "button",
          { type: "button", class: same(wanted[pick.field], value) ? "wanted" : null, "data-number": "", disabled: this.busy, onclick: () => this.choose(pick), onpointerenter: tellAbout(value), onfocus: tellAbout(value) },
          place < 9 ? make("kbd", {}, String(place + 1)) : null,
          label,
          left > 1 && pick.field !== "type" ? make("small", {}, ` ${left}`) : null,
        ),
      ),
    );
  }

  refused(inList = false) {
    const { refusal } = this;
    if (!refusal || (!inList && refusal.place !== undefined && refusal.place < this.draft_.actions.length)) return null;
    const rule = refusal.rule ? make("a", { href: `/games/${this.game}#${refusal.rule}`, class: "rule", "data-rule": refusal.rule }, refusal.rule) : null;
    return make("p", { class: "wrong", role: "alert" }, refusal.message, rule ? " " : null, rule);
  }

  bar() {
    const { ready } = this;
    const lack = this.counts?.lack;
    const need = lack ? make("span", { class: "note" }, lack.sum < lack.low ? t("{count} more", { count: lack.low - lack.sum }) : t("{count} too many", { count: lack.sum - lack.high })) : null;
    const told = ready ? sentence(this.words, ready) : t("Send the draft");
    const sendable = ready || !this.draft_.empty;
    const undoable = this.game_.picks.length > 0 || !this.draft_.empty;
    const button = (keep, label, action, kind, ...more) =>
      make("button", { type: "button", class: kind, "data-keep": keep, disabled: this.busy, onclick: action }, label, ...more);
    const row = [
      sendable ? button("send", told, () => this.send(), "first", make("kbd", {}, t("Enter"))) : null,
      need,
      ready && this.plans !== false && !this.draft_.closed ? button("draft", t("Draft it"), () => this.draft(), "") : null,
      undoable ? button("undo", t("Undo"), () => this.undo(), "quiet") : null,
      this.standing?.practice && this.game_.choices.length ? button("hint", t("Hint"), async () => (await import("./analysing.js")).hint(this), "quiet") : null,
      this.draft_.empty ? null : button("drop", t("Drop the draft"), () => this.dropDraft(), "quiet"),
      this.others(),
    ].filter(Boolean);
    return row.length ? make("div", { class: "row" }, ...row) : null;
  }

  deedButton(choice) {
    const shown = { ...choice.action };
    for (const field in choice.choose) shown[field] = "…";
    if (shown.type === "rematch") return this.deedOf(t("Rematch with the seats turned"), choice);
    if (shown.type === "hand_over") return this.deedOf(t("Take back the offer of the seat"), choice);
    if (shown.type === "decline" && this.standing.offers?.[shown.what]?.by === this.seat) shown.type = "withdraw";
    return this.deedOf(deed(this.words, shown), choice);
  }

  deedOf(name, choice) {
    return make("button", { type: "button", class: "small", disabled: this.busy, onclick: () => this.deed(choice) }, name);
  }

  /** Offer the seat to a player whom the reader names. */
  async handOver() {
    const found = await (await import("./inviting.js")).whom(t("Who takes your seat over, as it is?"), t("Offer the seat"));
    if (found) await this.submit({ type: "hand_over", player: found.id });
  }

  /** Disputes, and the matches before and after this one. What shows them is loaded when there are any. */
  disputes() {
    const { disputes, origin, continued } = this.standing ?? {};
    if (!disputes?.length && !origin && !continued) return [];
    return this.rows("./disputing.js");
  }

  /** What a module shows here. It is loaded when it is needed. */
  rows(file) {
    if (this[file]) return this[file].rows(this);
    import(file).then((module) => {
      this[file] = module;
      this.write();
    });
    return [];
  }

  /** What can be done at the table and waits for an answer. */
  urgent() {
    const found = this.table.choices.filter((choice) => URGENT.has(choice.action.type));
    const deeds = found.filter((choice) => choice.action.type !== "take_seat");
    const lack = this.standing?.signed === "required" && this.unsigned ? [`${t("In this match moves must be signed.")} ${this.unsigned}`] : [];
    const offered = deeds.filter(({ action }) => action.type === "accept").map(({ action: { what } }) => {
      const seat = this.standing.offers?.[what]?.by;
      return seat ? t("{seat} offers {what}.", { seat: word(this.words, seat), what: this.words.names[`offer_${what}`] ?? word(this.words, what) }) : null;
    });
    const row = [...lack, ...offered, ...deeds.map((choice) => this.deedButton(choice))].filter(Boolean);
    return row.length ? make("div", { class: "row urgent" }, ...row) : null;
  }

  /** What else can be done at the table, behind one button. */
  others() {
    const found = this.table.choices.filter((choice) => !URGENT.has(choice.action.type));
    if (!found.length) return null;
    if (this.seat && this.standing.clock?.claim_days && !this.standing.to_act.includes(this.seat)) found.push({ action: { type: "claim" } });
    const row = make("div", { class: "row" }, ...found.map((choice) => this.deedButton(choice)));
    const { status, handovers, rated } = this.standing;
    if (this.seat && status === "playing" && !rated && !this.guide && !handovers[this.seat]) row.append(make("button", { type: "button", class: "small", disabled: this.busy, onclick: () => this.handOver() }, t("Hand the seat over …")));
    const details = make("details", { class: "attable" }, make("summary", {}, t("At the table")), row);
    details.open = this.opened ?? false;
    details.ontoggle = () => (this.opened = details.open);
    return details;
  }

  /** Take a seat, with random bytes for the dice, and with the code if the match asks for one. */
  async sit(seat) {
    const body = { contribution: random(16) };
    if (this.standing.code_needed && this.standing.invited[seat] !== keeping.player) {
      body.code = code ?? (await askCode());
      if (!body.code) return;
    }
    try {
      await unsigned(); // so that the key is in the log before the match begins
      const standing = await send(`${this.api}/seats/${seat}`, body);
      this.asked = null;
      this.moved(standing.version);
    } catch (problem) {
      code = null;
      this.refuse(problem);
    }
  }

  async deed(choice) {
    const { type } = choice.action;
    const name = deed(this.words, choice.action);
    if (GRAVE.has(type) && !(await isSure(t("{deed}. Are you sure?", { deed: name }), name))) return undefined;
    const action = { ...choice.action };
    for (const [field, range] of Object.entries(choice.choose ?? {})) {
      const [min, max] = range;
      const given = await askText(name, { about: t("{name}, {low} to {high}", { name: word(this.words, fieldName(this.words, field)), low: min, high: max }), send: name, type: "number", min, max, value: field === "hours" ? 24 : max });
      if (given === null) return undefined;
      action[field] = Number(given);
    }
    return this.submit(action, choice.action.seat ? null : this.seat);
  }
}
