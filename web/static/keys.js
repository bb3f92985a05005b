// What each key does, and where.

import { t } from "./language.js";

export const KEYS = [
  ["replay", "first", ["Home"], t("First version")],
  ["replay", "back", ["ArrowLeft", ","], t("One entry back")],
  ["replay", "on", ["ArrowRight", "."], t("One entry on")],
  ["replay", "turnBack", ["Shift+ArrowLeft", "<"], t("One turn back")],
  ["replay", "turnOn", ["Shift+ArrowRight", ">"], t("One turn on")],
  ["replay", "roundBack", ["["], t("One round back")],
  ["replay", "roundOn", ["]"], t("One round on")],
  ["replay", "last", ["End"], t("Newest version, and live")],
  ["replay", "autoplay", [" "], t("Play and pause")],
  ["look", "eyes", ["e"], t("Through the next seat's eyes")],
  ["look", "text", ["t"], t("Board as text, and back")],
  ["look", "closer", ["+", "="], t("Zoom in")],
  ["look", "farther", ["-"], t("Zoom out")],
  ["look", "zoom", ["z"], t("Your land, and the whole board")],
  ["look", "board", ["b"], t("To the board; arrow keys go from place to place there")],
  ["look", "why", ["w"], t("Why is the place that has the focus as it is?")],
  ["look", "log", ["l"], t("To the log")],
  ["look", "theme", ["d"], t("Light, dark, as the system")],
  ["look", "link", ["c"], t("Copy a link to this version")],
  ["play", "button", ["1", "2", "3", "4", "5", "6", "7", "8", "9"], t("The choice with this number")],
  ["play", "undo", ["Backspace"], t("Undo the last pick, or the last step of a draft")],
  ["play", "send", ["Enter"], t("Play it")],
  ["play", "draft", ["Shift+Enter"], t("Add it to a draft of the turn")],
  ["play", "actions", ["a"], t("To your choices")],
  ["help", "help", ["?"], t("This list")],
  ["help", "close", ["Escape"], t("Close; start your choice again")],
];

const COMMANDS = new Map(KEYS.flatMap(([, command, keys]) => keys.map((key) => [key, command])));
const ARROWS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]);

/** Return the command of a key that was pressed, or null. `where`: "field" to type in, "range", "button", "board" or "page". */
export function command(pressed, where) {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
  const name = pressed.shiftKey && pressed.key.length > 1 ? `Shift+${pressed.key}` : pressed.key;
  if (where === "field") return pressed.key === "Escape" ? "close" : null;
  if (where === "range" && ARROWS.has(pressed.key)) return null;
  if (where === "board" && (ARROWS.has(pressed.key) || pressed.key === "Enter" || pressed.key === " ")) return null;
  if (where === "button" && (pressed.key === "Enter" || pressed.key === " ")) return null;
  return COMMANDS.get(name) ?? null;
}

/** Return where a key was pressed, for `command`. */
function whereOf({ target, key }) {
  if (target.matches("input[type=range]")) return "range";
  if (target.matches("input, textarea, select")) return "field";
  if (target.closest(".target")) return "board";
  if (target.matches("button, a, summary")) return "button";
  return target.closest("#log, #textboard") && key.startsWith("Arrow") ? "field" : "page";
}

/** Carry out what keys and buttons (`data-do`) command. `moves`: what is done, by command; a page may have no use for some. */
export function steered(moves) {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
    const move = moves[command(event, whereOf(event))];
    if (!move) return;
    event.preventDefault();
    move(event);
  });
  for (const button of document.querySelectorAll("[data-do]")) button.onclick = (event) => moves[button.dataset.do](event);
}

/** Return the neighbour of a point in a direction ("ArrowLeft", …): the nearest of the points that lie more that way than aside. */
export function neighbour(points, from, direction) {
  const [across, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[direction];
  let best = null;
  let least = Infinity;
  for (const point of points) {
    const [x, y] = [point.x - from.x, point.y - from.y];
    const ahead = x * across + y * down;
    const aside = Math.abs(x * down) + Math.abs(y * across);
    if (ahead <= 1 || aside > ahead * 2) continue;
    const far = ahead + aside * 2;
    if (far < least) [best, least] = [point, far];
  }
  return best;
}
