// The picture of a match in the page: sheets of fragments, of which only those that differ are drawn anew, and what can be pointed at.

import { neighbour } from "./keys.js";
import { t } from "./language.js";

const SVG = "http://www.w3.org/2000/svg";
const TOUCHABLE = 40; // CSS pixels: a place that is smaller is not picked by a tap, but zoomed to
const LEGIBLE = 64; // the same for a place where there is nothing to pick
const LEAST = 11; // CSS pixels: smaller letters are not shown, but what is drawn instead of them
const CLOSEST = 0.4; // board units in a CSS pixel
const STEP = 1.4; // by which a button or a key zooms

const svgElement = (name, properties = {}) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  return element;
};

function parsed(text) {
  const holder = svgElement("g");
  holder.innerHTML = text;
  for (const term of holder.querySelectorAll("[data-term]")) for (const [name, value] of [["tabindex", 0], ["role", "button"]]) term.setAttribute(name, value);
  return holder.firstElementChild;
}

// ---------------------------------------------------------------- what is drawn instead of letters that are too small, in CSS pixels

const SIGN = 20; // the size of badges and glyphs
const ROOM = 64; // how wide a row may be
const letters = document.createElement("canvas").getContext("2d");

function writing(words, ground, x, y) {
  const element = svgElement("text", { "font-size": 12, class: `b i-${ground}`, x, y });
  element.textContent = words;
  letters.font = "bold 12px system-ui, 'DejaVu Sans', sans-serif";
  return { element, wide: letters.measureText(words).width };
}

const paper = (ground, width, height, rx) => svgElement("rect", { class: `a-${ground}`, width, height, rx });

/** Return a group around a point of the board. `kind`: what it shows. */
function grouped(kind, [x, y], [left, top, wide, high], elements) {
  const group = svgElement("g", { class: "far", transform: `translate(${x} ${y})` });
  const sized = svgElement("g", { class: "px" });
  const inside = svgElement("g", { transform: `translate(${left} ${top})` });
  inside.append(...elements);
  sized.append(inside);
  group.append(sized);
  return Object.assign(group, { kind, box: [x, y, left, top, wide, high] });
}

/** Return the label of a place on a ground of its own, since it may be wider than the place. A short one begins at the point. */
function labelled(near) {
  const text = near.querySelector("text");
  const ground = text.getAttribute("class").match(/i-(\S+)/)[1];
  const { element, wide } = writing(text.textContent, ground, 2, 12);
  const left = text.textContent.length > 3 ? -wide / 2 - 2 : 0;
  return grouped("named", near.dataset.far.split(" ").map(Number), [left, 0, wide + 4, 15], [paper(ground, wide + 4, 15, 4), element]);
}

/** Return how many pieces of each seat are in a place, and the marks: `@red=3`, `*civilian=2`, `glyph/ground=letters`. */
function standIns(near, middle) {
  const rows = { pieces: [], marks: [] };
  for (const thing of near.dataset.far.split(" ")) {
    const [, sort, name, on, words] = thing.match(/^([@*]?)([^/=]+)\/?([^=]*)=(.*)$/);
    const { element, wide } = writing(words, "plain", SIGN + 2, 14.5);
    const item = svgElement("g");
    item.wide = words ? SIGN + 7 + wide : SIGN;
    if (words) item.append(paper("plain", item.wide, SIGN, SIGN / 2), element);
    if (on) item.append(paper(on, SIGN, SIGN, 5));
    item.append(sort === "@" ? svgElement("use", { href: `#b-${name}` }) : sign(name, on || "plain"));
    rows[sort ? "pieces" : "marks"].push(item);
  }
  const laid = Object.entries(rows).filter(([, items]) => items.length).map(([kind, items]) => [kind, items, inRows(items)]);
  let top = -laid.reduce((sum, [, , { high }]) => sum + high, 0) / 2;
  return laid.map(([kind, items, { wide, high }]) => {
    top += high;
    return grouped(kind, middle, [-wide / 2, top - high, wide, high], items);
  });
}

function inRows(items) {
  let [left, top, most] = [0, 0, 0];
  for (const item of items) {
    if (left && left + item.wide > ROOM) [left, top] = [0, top + SIGN];
    item.setAttribute("transform", `translate(${left} ${top})`);
    left += item.wide + 2;
    most = Math.max(most, left - 2);
  }
  return { wide: most, high: top + SIGN };
}

/** Return a glyph in the middle of its square. */
function sign(name, ground) {
  const { x, y, width, height } = glyphs.get(name) ?? glyphs.set(name, document.getElementById(`g-${name}`).getBBox()).get(name);
  const scale = (SIGN - 6) / Math.max(width, height);
  const [left, top] = [SIGN / 2 - (x + width / 2) * scale, SIGN / 2 - (y + height / 2) * scale];
  return svgElement("use", { href: `#g-${name}`, class: `i-${ground}`, transform: `translate(${left} ${top}) scale(${scale})` });
}

const glyphs = new Map(); // the box of each

export class Board {
  /**
   * The elements for the heading, the board, the fight and the panels. `onPick` gets an id that was clicked or chosen by a key. `wheel`: whether the wheel zooms.
   */
  constructor({ heading, board, fight, panels, onPick, wheel = false }) {
    this.wanted = new Set();
    this.roots = { heading, board, fight, panels };
    this.onPick = onPick;
    this.shown = new Map(); // the text of each fragment that is in the page
    this.sheets = new Map(); // the SVG element of each sheet
    this.able = new Set();
    this.chosen = new Map();
    this.view = null; // the middle of what is shown and the board units in a CSS pixel, {x, y, u}, or null for the whole board
    this.seen = { left: 0, top: 0, u: 1 }; // what is shown, and how large
    board.addEventListener("click", (event) => this._clicked(event));
    panels.addEventListener("click", (event) => this._clicked(event));
    board.addEventListener("focusin", (event) => event.target.matches(".target") && this._focusable(event.target));
    board.addEventListener("keydown", (event) => this._key(event));
    this._drag(board);
    if (wheel) board.addEventListener("wheel", (event) => this._wheel(event), { passive: false });
    this.resized = new ResizeObserver(() => this._look());
    addEventListener("beforeprint", () => this.whole());
  }

  /** Show a picture: {title, sheets, fragments}. What is the same as before is left as it is. */
  show(picture) {
    const wanted = new Set(picture.sheets.map((sheet) => sheet.id));
    for (const [id, svg] of this.sheets) {
      if (!wanted.has(id)) {
        svg.remove();
        this.sheets.delete(id);
        for (const [name, kept] of this.shown) if (kept.sheet === id) this.shown.delete(name);
      }
    }
    if (!wanted.has("fight")) this.roots.fight.replaceChildren(); // also the one that the server has written
    const last = new Map();
    for (const sheet of picture.sheets) {
      const svg = this._sheet(sheet, picture.fragments);
      const before = last.get(svg.parentNode);
      if (before && before.nextElementSibling !== svg) before.after(svg);
      last.set(svg.parentNode, svg);
    }
    this._targets();
    this._mark();
    if (this.changed === "box") this._look();
    else if (this.changed) this._fit();
    this._turn();
    this._beside();
  }

  /** Put the fight on the side of the board where it does not cover its place. */
  _beside() {
    const place = this.shown.get("fight")?.element.querySelector("[data-at]").dataset.at;
    const target = this.targets?.get(place);
    if (place === this.fought || !target) return;
    this.fought = place;
    const [one, all] = [target.getBoundingClientRect(), this._rect()];
    this.roots.fight.parentNode.classList.toggle("right", one.x + one.width / 2 < all.x + all.width / 2);
  }

  _sheet({ id, box, fragments }, texts) {
    let svg = this.sheets.get(id);
    if (!svg) {
      const root = this.roots[id] ?? this.roots.panels;
      svg = svgElement("svg", { "data-sheet": id });
      for (const old of root.querySelectorAll(`:scope > svg[data-sheet="${CSS.escape(id)}"]`)) old.remove();
      root.append(svg);
      this.sheets.set(id, svg);
      if (id === "board") this.resized.observe(svg);
    }
    const view = box.join(" ");
    if (id === "board") {
      if (view !== this.box?.join(" ")) this.changed = "box";
      this.box = box;
      svg.style.setProperty("--ratio", box[2] / box[3]); // so that nothing beyond the board shows beside it
      if (!this.view) svg.setAttribute("viewBox", view);
    } else if (svg.getAttribute("viewBox") !== view) svg.setAttribute("viewBox", view);
    const names = new Set(fragments);
    for (const [name, kept] of this.shown) {
      if (kept.sheet === id && !names.has(name)) {
        kept.element.remove();
        this.shown.delete(name);
      }
    }
    let after = null;
    for (const name of fragments) {
      const text = texts.get(name);
      if (text === undefined) continue;
      let kept = this.shown.get(name);
      if (!kept || kept.text !== text) {
        const element = parsed(text);
        if (kept) kept.element.replaceWith(element);
        else if (after) after.after(element);
        else svg.prepend(element);
        kept = { sheet: id, text, element };
        this.shown.set(name, kept);
        if (id === "board") this.changed ||= "content";
      }
      after = kept.element;
    }
    return svg;
  }

  /** Put over each place an outline of its own, which takes clicks, keys and highlights, and is told in the words of its content. */
  _targets() {
    const svg = this.sheets.get("board");
    const map = this.shown.get("map");
    if (!svg || !map) return;
    if (this.mapText !== map.text || !this.layer?.isConnected) {
      this.mapText = map.text;
      const focused = document.activeElement?.dataset?.place;
      this.layer?.remove();
      this.labels?.remove();
      this.labels = svgElement("g"); // over the content of places
      this.layer = svgElement("g", { class: "targets" });
      this.targets = new Map();
      for (const outline of map.element.querySelectorAll("[data-id]")) {
        const id = outline.dataset.id;
        const use = outline.matches("use") ? outline : outline.querySelector(":scope > .shape");
        const target = svgElement("use", { href: use.getAttribute("href"), class: "target", "data-place": id, role: "button", tabindex: "-1" });
        if (outline.dataset.land) target.dataset.land = outline.dataset.land;
        if (outline.hasAttribute("transform")) target.setAttribute("transform", outline.getAttribute("transform"));
        target.middle = outline.dataset.middle.split(" ").map(Number);
        this.targets.set(id, target);
        this.layer.append(target);
      }
      svg.append(this.labels, this.layer);
      const first = this.targets.get(focused) ?? this.targets.values().next().value;
      first?.setAttribute("tabindex", "0");
      if (focused && this.targets.has(focused)) first.focus({ preventScroll: true });
    } else if (svg.lastElementChild !== this.layer) svg.append(this.labels, this.layer);
    for (const [id, target] of this.targets) {
      const content = this.shown.get(`p-${id}`)?.element;
      if (content && target.content !== content) {
        target.content = content;
        target.label = content.getAttribute("aria-label") ?? id;
        content.setAttribute("aria-hidden", "true");
        target.marked = null;
      }
    }
  }

  /** Say which ids can be picked, and which have been picked, with a count or nothing beside each. `seat` picks: its land comes into view. */
  offer(able, chosen = new Map(), seat = null, wanted = new Set()) {
    this.able = able;
    this.wanted = wanted;
    this.chosen = chosen;
    this._mark();
    this.turn = able.size ? seat : null;
    this._turn();
    const places = [...able].filter((id) => this.targets?.has(id));
    if (this.view && !this.steered && places.length && !places.some((id) => this._inView(id))) this.whole();
  }

  /** Bring the land of the seat that picks into view, once, unless its reader has chosen a view. */
  _turn() {
    if (!this.turn || !this.targets || this.steered || this.centred === this.turn) return;
    this.centred = this.turn;
    this.land(this.turn);
  }

  _mark() {
    for (const [id, target] of this.targets ?? []) {
      const can = this.able.has(id);
      const chosen = this.chosen.get(id);
      const wanted = this.wanted.has(id);
      const state = `${can} ${chosen} ${wanted}`;
      if (target.marked === state) continue;
      target.marked = state;
      target.classList.toggle("can", can);
      target.classList.toggle("chosen", chosen !== undefined);
      target.classList.toggle("wanted", wanted);
      const picked = chosen ? t("chosen: {count}", { count: chosen }) : chosen === "" && t("chosen");
      target.setAttribute("aria-label", [target.label, picked, can && t("can be chosen"), wanted && t("named by the guide")].filter(Boolean).join(", "));
    }
    const any = this.able.size + this.chosen.size > 0;
    if (!any && !this.marked) return; // a replay, in which nothing can be picked: most versions are shown like this
    this.marked = any;
    for (const svg of this.sheets.values()) {
      for (const element of svg.querySelectorAll("[data-id]")) {
        if (element.closest("#map")) continue;
        element.classList.toggle("can", this.able.has(element.dataset.id));
        element.classList.toggle("chosen", this.chosen.has(element.dataset.id));
        element.classList.toggle("wanted", this.wanted.has(element.dataset.id));
      }
    }
  }

  /** Return the ids under a point, the uppermost first. */
  _under(x, y) {
    const found = [];
    for (const element of document.elementsFromPoint(x, y)) {
      const id = element.dataset?.id ?? element.dataset?.place ?? element.closest?.("[data-id]")?.dataset.id;
      if (id && !found.includes(id)) found.push(id);
    }
    const panel = document.elementsFromPoint(x, y).map((element) => element.closest?.("svg[data-sheet^='panel-']")).find(Boolean);
    if (panel) found.push(panel.dataset.sheet.slice("panel-".length));
    return found;
  }

  _clicked(event) {
    if (this.dragged) return;
    const ids = this._under(event.clientX, event.clientY);
    const wanted = ids.find((id) => this.able.has(id));
    const target = this.targets?.get(ids.find((id) => this.targets.has(id)));
    if (target) this._focusable(target);
    const small = target && target.getBoundingClientRect().width < (wanted === undefined ? LEGIBLE : TOUCHABLE) && matchMedia("(max-width: 56rem)").matches;
    if (small && !this.view && event.detail !== 0) return this.closer(this.seen.u / this._legible(), event);
    if (wanted !== undefined) this.onPick(wanted);
    else if (target) this.onLook?.(target.dataset.place);
    return undefined;
  }

  _focusable(target) {
    for (const other of this.targets.values()) if (other.getAttribute("tabindex") === "0") other.setAttribute("tabindex", "-1");
    target.setAttribute("tabindex", "0");
  }

  _key(event) {
    const target = event.target.closest(".target");
    if (!target || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (this.able.has(target.dataset.place)) this.onPick(target.dataset.place);
      else this.onLook?.(target.dataset.place);
      return;
    }
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const points = [...this.targets.values()].map((other) => {
      const box = other.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2, other };
    });
    const here = points.find((point) => point.other === target);
    const next = neighbour(points, here, event.key);
    if (next) {
      this._focusable(next.other);
      next.other.focus({ preventScroll: Boolean(this.view) });
      if (this.view && !this._inView(next.other.dataset.place)) this._see([next.other.dataset.place], this.view.u);
    }
  }

  /** The place that has the focus, or that the next step by arrow keys begins from, or null. */
  get place() {
    return [...(this.targets?.values() ?? [])].find((target) => target.getAttribute("tabindex") === "0")?.dataset.place ?? null;
  }

  focus() {
    [...(this.targets?.values() ?? [])].find((target) => target.getAttribute("tabindex") === "0")?.focus();
  }

  // -------------------------------------------------------------- near and far

  /** Show the whole board. */
  whole() {
    this._set(null);
  }

  /** Show the board so many times as large, with what is at a point of the window where it is. */
  closer(factor, point) {
    const { left, top, u } = this.seen;
    const seen = this._rect();
    const [across, down] = point ? [point.clientX - seen.left, point.clientY - seen.top] : [seen.width / 2, seen.height / 2];
    const next = Math.max(u / factor, CLOSEST);
    this.steered = true;
    this._set({ x: left + across * u + (seen.width / 2 - across) * next, y: top + down * u + (seen.height / 2 - down) * next, u: next });
  }

  /** Show the land of a seat so large that all can be read, unless all can be read on the whole board. Return false if there is none. */
  land(seat) {
    const lands = [...this.targets.keys()].filter((id) => this.targets.get(id).dataset.land === seat);
    if (lands.length && this.seen.u > this._legible()) this._see(lands, this._legible());
    return lands.length > 0;
  }

  step(direction) {
    this.closer(direction > 0 ? STEP : 1 / STEP);
  }

  /** The board units in a CSS pixel up to which the labels of places can be read. */
  _legible() {
    const sizes = [...this.shown.get("map").element.querySelectorAll(".near")].map((label) => Number(label.dataset.least));
    return Math.min(...sizes, 99) / LEAST;
  }

  _rect() {
    return this.sheets.get("board").getBoundingClientRect();
  }

  _inView(id) {
    const [one, all] = [this.targets.get(id).getBoundingClientRect(), this._rect()];
    const [x, y] = [one.x + one.width / 2, one.y + one.height / 2];
    return x > all.left && x < all.right && y > all.top && y < all.bottom;
  }

  /** Bring places into the middle. */
  _see(ids, u) {
    const seen = this._rect();
    const boxes = ids.map((id) => this.targets.get(id).getBoundingClientRect());
    const middle = (start, end, from) => (Math.min(...boxes.map((box) => box[start])) + Math.max(...boxes.map((box) => box[end]))) / 2 - from;
    const [x, y] = [middle("left", "right", seen.left), middle("top", "bottom", seen.top)];
    this._set({ x: this.seen.left + x * this.seen.u, y: this.seen.top + y * this.seen.u, u });
  }

  _set(view) {
    this.view = view;
    this.roots.board.classList.toggle("zoomed", view !== null);
    this._look();
    this.onZoom?.(this.view !== null);
  }

  /** Show the part of the board that is to be seen, within its edges. */
  _look() {
    const svg = this.sheets.get("board");
    const { width, height } = this._rect();
    if (!width || !height) return;
    const [left, top, wide, high] = this.box;
    const most = Math.max(wide / width, high / height);
    if (this.view && this.view.u >= most * 0.99) {
      this.view = null;
      this.roots.board.classList.remove("zoomed");
      return void this._look();
    }
    let part = this.box;
    if (this.view) {
      const { u } = this.view;
      const within = (value, low, size, room) => (room >= size ? low + size / 2 : clamp(value, low + room / 2, low + size - room / 2));
      this.view.x = within(this.view.x, left, wide, width * u);
      this.view.y = within(this.view.y, top, high, height * u);
      part = [this.view.x - (width * u) / 2, this.view.y - (height * u) / 2, width * u, height * u];
    }
    svg.setAttribute("viewBox", part.join(" "));
    this.seen = { left: part[0], top: part[1], u: this.view?.u ?? most, width, height };
    svg.style.setProperty("--u", this.seen.u);
    this._fit();
  }

  /**
   * Choose what is shown by the room there is: letters that would be too small are replaced by what stands for them, in CSS pixels. Of that, all pieces are
   * shown, then the marks and the labels that cover nothing else.
   */
  _fit() {
    this.changed = false;
    const { left, top, u } = this.seen;
    const far = { pieces: [], marks: [], named: [] };
    const { width, height } = this.seen;
    for (const near of this.sheets.get("board").querySelectorAll(".near")) {
      const small = near.dataset.least / u < LEAST;
      near.classList.toggle("off", small);
      const label = near.parentNode.id === "map";
      if (label && near.nextElementSibling?.matches(".aside")) near.nextElementSibling.classList.toggle("moved", small);
      if (small && !near.others) {
        near.others = label ? [labelled(near)] : standIns(near, this.targets.get(near.parentNode.id.slice(2)).middle);
        if (label) this.labels.append(...near.others);
        else near.after(...near.others);
      }
      for (const other of near.others ?? []) {
        if (small) far[other.kind].push(other);
        else other.classList.remove("on");
      }
    }
    const taken = [];
    for (const kind of ["pieces", "marks", "named"]) {
      for (const group of far[kind]) {
        const [x, y, across, down, wide, high] = group.box;
        const [start, above] = [(x - left) / u + across, (y - top) / u + down];
        const covers = (box) => start < box[2] && box[0] < start + wide && above < box[3] && box[1] < above + high;
        const free = kind === "pieces" || (start >= 0 && start + wide <= width && above + high <= height && !taken.some(covers));
        group.classList.toggle("on", free);
        if (free) taken.push([start, above, start + wide, above + high]);
      }
    }
  }

  _wheel(event) {
    if (!this.view && event.deltaY > 0) return;
    event.preventDefault();
    this.closer(Math.exp(-clamp(event.deltaY, -60, 60) / (event.ctrlKey ? 60 : 240)), event);
  }

  /** Pan with one pointer, pan and zoom with two. */
  _drag(root) {
    const down = new Map();
    const middle = () => {
      const points = [...down.values()];
      const [x, y] = ["clientX", "clientY"].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
      return { clientX: x, clientY: y, far: points.length > 1 ? Math.hypot(points[0].clientX - points[1].clientX, points[0].clientY - points[1].clientY) : 1 };
    };
    root.addEventListener("pointerdown", (event) => {
      if (!down.size) this.dragged = false;
      down.set(event.pointerId, event);
    });
    root.addEventListener("pointermove", (event) => {
      const from = down.get(event.pointerId);
      if (!from || (!this.view && down.size < 2)) return;
      if (!this.dragged && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < 6) return;
      this.dragged = this.steered = true;
      const before = middle();
      down.set(event.pointerId, event);
      const now = middle();
      if (down.size > 1) this.closer(now.far / before.far, now);
      if (!this.view) return;
      this.view.x -= (now.clientX - before.clientX) * this.view.u;
      this.view.y -= (now.clientY - before.clientY) * this.view.u;
      this._look();
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) root.addEventListener(end, (event) => down.delete(event.pointerId));
  }
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
