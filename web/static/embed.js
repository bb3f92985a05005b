// The board of a match in a frame of another page: what a spectator sees, live.

import { Board } from "./board.js";
import { follow } from "./following.js";
import { Frames, linesOf } from "./frames.js";
import { language } from "./language.js";

const page = document.getElementById("main");
const api = `/v1/matches/${page.dataset.match}`;
const hidden = document.createElement("div");
const board = new Board({
  heading: document.getElementById("the-heading"),
  board: document.getElementById("the-board"),
  fight: document.getElementById("the-fight"),
  panels: hidden,
  onPick: () => {},
});
let newest = Number(page.dataset.newest);

async function show() {
  const frames = new Frames();
  const query = new URLSearchParams({ after: newest - 1, limit: 1, shape: "page", viewer: "spectator" });
  const response = await fetch(`${api}/frames?${query}`, { headers: { Accept: "application/x-ndjson", "Accept-Language": language } });
  if (!response.ok) return;
  for await (const line of linesOf(response.body)) frames.add([line]);
  const picture = frames.at(newest);
  if (picture) board.show(picture);
}

let soon = 0;
const stop = new AbortController();
addEventListener("pagehide", () => stop.abort());
follow({
  open: (last) => fetch(`${api}/stream?after=${last}&viewer=spectator`, { headers: { "Accept-Language": language }, signal: stop.signal }),
  last: newest,
  signal: stop.signal,
  onEvent: ({ event, id }) => {
    if (event !== "entry") return;
    newest = Number(id);
    clearTimeout(soon);
    soon = setTimeout(show, 100);
  },
});
show(); // so that what is too small to be read is replaced
