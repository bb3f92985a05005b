// The picture of a match in the page: sheets of fragments, of which only those that differ are drawn anew, and what can be pointed at.

import { neighbour } from "./keys.js";

const SVG = "http://www.w3.org/2000/svg";
const TOUCHABLE = 40; // CSS pixels: a place that is smaller is not picked by a tap, but zoomed to
const LEGIBLE = 64; // the same for a place where there is nothing to pick

const svgElement = (name, properties = {}) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  return element;
};

function parsed(text) {
  const holder = svgElement("g");
  holder.innerHTML = text;
  return holder.firstElementChild;
}

export class Board {
  /** `places`: the elements for the heading, the board and the panels. `onPick` gets an id that was clicked or chosen by a key. */
  constructor({ heading, board, panels, onPick }) {
    this.roots = { heading, board, panels };
    this.onPick = onPick;
    this.shown = new Map(); // the text of each fragment that is in the page
    this.sheets = new Map(); // the SVG element of each sheet
    this.able = new Set();
    this.chosen = new Map();
    this.zoomed = null;
    board.addEventListener("click", (event) => this._clicked(event));
    panels.addEventListener("click", (event) => this._clicked(event));
    board.addEventListener("focusin", (event) => event.target.matches(".target") && this._focusable(event.target));
    board.addEventListener("keydown", (event) => this._key(event));
    this._drag(board);
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
    const last = new Map();
    for (const sheet of picture.sheets) {
      const svg = this._sheet(sheet, picture.fragments);
      const before = last.get(svg.parentNode);
      if (before && before.nextElementSibling !== svg) before.after(svg);
      last.set(svg.parentNode, svg);
    }
    this._targets();
    this._mark();
  }

  _sheet({ id, box, fragments }, texts) {
    let svg = this.sheets.get(id);
    if (!svg) {
      const root = this.roots[id] ?? this.roots.panels;
      svg = svgElement("svg", { "data-sheet": id });
      for (const old of root.querySelectorAll(`:scope > svg[data-sheet="${CSS.escape(id)}"]`)) old.remove();
      root.append(svg);
      this.sheets.set(id, svg);
    }
    const view = box.join(" ");
    if (id === "board") {
      this.box = box;
      svg.style.setProperty("--ratio", box[2] / box[3]); // so that nothing beyond the board shows beside it
      if (!this.zoomed) svg.setAttribute("viewBox", view);
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
      this.layer = svgElement("g", { class: "targets" });
      this.targets = new Map();
      for (const outline of map.element.querySelectorAll("[data-id]")) {
        const id = outline.dataset.id;
        const use = outline.matches("use") ? outline : outline.querySelector(":scope > .shape");
        const target = svgElement("use", { href: use.getAttribute("href"), class: "target", "data-place": id, role: "button", tabindex: "-1" });
        if (outline.hasAttribute("transform")) target.setAttribute("transform", outline.getAttribute("transform"));
        this.targets.set(id, target);
        this.layer.append(target);
      }
      svg.append(this.layer);
      const first = this.targets.get(focused) ?? this.targets.values().next().value;
      first?.setAttribute("tabindex", "0");
      if (focused && this.targets.has(focused)) first.focus({ preventScroll: true });
    } else if (svg.lastElementChild !== this.layer) svg.append(this.layer);
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

  /** Say which ids can be picked, and which have been picked, with a count or nothing beside each. */
  offer(able, chosen = new Map()) {
    this.able = able;
    this.chosen = chosen;
    this._mark();
  }

  _mark() {
    for (const [id, target] of this.targets ?? []) {
      const can = this.able.has(id);
      const chosen = this.chosen.get(id);
      const state = `${can} ${chosen}`;
      if (target.marked === state) continue;
      target.marked = state;
      target.classList.toggle("can", can);
      target.classList.toggle("chosen", chosen !== undefined);
      const said = `${chosen === undefined ? "" : `, chosen${chosen ? `: ${chosen}` : ""}`}${can ? ", can be chosen" : ""}`;
      target.setAttribute("aria-label", target.label + said);
    }
    const any = this.able.size + this.chosen.size > 0;
    if (!any && !this.marked) return; // a replay, in which nothing can be picked: most versions are shown like this
    this.marked = any;
    for (const svg of this.sheets.values()) {
      for (const element of svg.querySelectorAll("[data-id]")) {
        if (element.closest("#map")) continue;
        element.classList.toggle("can", this.able.has(element.dataset.id));
        element.classList.toggle("chosen", this.chosen.has(element.dataset.id));
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
    if (small && !this.zoomed && event.detail !== 0) return this.zoom(event.clientX, event.clientY);
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
      next.other.focus();
    }
  }

  /** The place that has the focus, or that the next step by arrow keys begins from, or null. */
  get place() {
    return [...(this.targets?.values() ?? [])].find((target) => target.getAttribute("tabindex") === "0")?.dataset.place ?? null;
  }

  focus() {
    [...(this.targets?.values() ?? [])].find((target) => target.getAttribute("tabindex") === "0")?.focus();
  }

  /** Zoom to a point of the window, or, if that is done already, show the whole board. */
  zoom(x, y) {
    const svg = this.sheets.get("board");
    if (!svg) return;
    const [left, top, wide, high] = this.box;
    if (this.zoomed) {
      this.zoomed = null;
      svg.setAttribute("viewBox", this.box.join(" "));
    } else {
      const seen = svg.getBoundingClientRect();
      const part = 0.45;
      const [across, down] = [((x ?? seen.x + seen.width / 2) - seen.x) / seen.width, ((y ?? seen.y + seen.height / 2) - seen.y) / seen.height];
      this.zoomed = { part, x: left + wide * clamp(across - part / 2, 0, 1 - part), y: top + high * clamp(down - part / 2, 0, 1 - part) };
      this._pan(0, 0);
    }
    this.onZoom?.(this.zoomed !== null);
  }

  _pan(across, down) {
    const [left, top, wide, high] = this.box;
    const { part } = this.zoomed;
    this.zoomed.x = clamp(this.zoomed.x - across * wide * part, left, left + wide * (1 - part));
    this.zoomed.y = clamp(this.zoomed.y - down * high * part, top, top + high * (1 - part));
    this.sheets.get("board").setAttribute("viewBox", `${this.zoomed.x} ${this.zoomed.y} ${wide * part} ${high * part}`);
  }

  _drag(root) {
    let from = null;
    root.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      from = this.zoomed ? event : null;
    });
    root.addEventListener("pointermove", (event) => {
      if (!from || !this.zoomed) return;
      if (!this.dragged && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < 6) return;
      this.dragged = true;
      const seen = this.sheets.get("board").getBoundingClientRect();
      this._pan((event.clientX - from.clientX) / seen.width, (event.clientY - from.clientY) / seen.height);
      from = event;
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) root.addEventListener(end, () => (from = null));
  }
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
