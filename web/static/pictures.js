// The board to take along: as SVG, as PNG, and a stretch of the match as GIF. All three are made in the tab.

import { ask } from "./asking.js";
import { Animation, sized, stretch } from "./animating.js";
import { t } from "./language.js";
import { make, save } from "./site.js";

const WIDE = 1600; // pixels of a PNG
const SMALL = 720; // pixels of a GIF
const MOST = 100; // pictures of a GIF
const STEP = 700; // milliseconds of a picture, three times as long for the last one

/** Put the downloads into an element. `viewer()` and `version()` say what the page shows; `viewer()` may be null. */
export function mount(element, { match, viewer, version }) {
  const said = make("p", { class: "note", role: "status" });
  const from = make("input", { type: "number", min: 1, required: true });
  const to = make("input", { type: "number", min: 1, required: true });
  const stop = make("button", { type: "button", class: "small", hidden: true }, t("Stop"));
  let making = null;

  /** Do something that makes a file; another one, or the reader, may stop it. */
  async function produce(work) {
    making?.abort();
    const mine = (making = new AbortController());
    stop.hidden = false;
    try {
      said.textContent = t("Drawing …");
      const [blob, name] = await work(mine.signal, (text) => (said.textContent = text));
      save(blob, name);
      said.textContent = `${name}, ${size(blob.size)}`;
    } catch (problem) {
      if (mine === making) said.textContent = problem.name === "AbortError" ? "" : problem.message;
    }
    if (mine === making) stop.hidden = true;
  }

  async function svg(at, signal) {
    const query = new URLSearchParams({ at, shape: "board", theme: theme(), ...(viewer() ? { viewer: viewer() } : {}) });
    return (await ask(`/v1/matches/${match}/state.svg?${query}`, { accept: "image/svg+xml", signal })).text();
  }

  const name = (at, kind) => `${match}-${at}.${kind}`;

  async function asSvg(signal) {
    const at = version();
    return [new Blob([await svg(at, signal)], { type: "image/svg+xml" }), name(at, "svg")];
  }

  async function asPng(signal) {
    const at = version();
    const image = await drawn(await svg(at, signal));
    const canvas = painted(image, sized(WIDE, (WIDE * image.height) / image.width, WIDE));
    return [await new Promise((resolve) => canvas.toBlob(resolve, "image/png")), name(at, "png")];
  }

  async function asGif(signal, tell) {
    const versions = stretch(Number(from.value), Number(to.value), MOST);
    const gif = await import("./gifenc.js");
    let animation = null;
    for (const [place, at] of versions.entries()) {
      tell(t("Drawing picture {number} of {count} …", { number: place + 1, count: versions.length }));
      const image = await drawn(await svg(at, signal));
      signal.throwIfAborted();
      const [width, height] = animation ? [animation.width, animation.height] : sized(image.width, image.height, SMALL);
      animation ??= new Animation(gif, width, height);
      const pixels = painted(image, [width, height]).getContext("2d").getImageData(0, 0, width, height).data;
      animation.add(pixels, place === versions.length - 1 ? 3 * STEP : STEP);
    }
    return [new Blob([animation.bytes()], { type: "image/gif" }), `${match}-${versions[0]}-${versions.at(-1)}.gif`];
  }

  const form = make(
    "form",
    { class: "row" },
    ...t.around("A GIF of versions {from} to {to}", { from: make("label", { "aria-label": t("From version") }, from), to: make("label", { "aria-label": t("To version") }, to) }),
    make("button", { class: "small" }, "GIF"),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    produce(asGif);
  };
  stop.onclick = () => making?.abort();
  const details = make(
    "details",
    { class: "downloads" },
    make("summary", {}, t("Take the board along")),
    make(
      "p",
      { class: "row" },
      make("button", { type: "button", class: "small", onclick: () => produce(asSvg) }, "SVG"),
      make("button", { type: "button", class: "small", onclick: () => produce(asPng) }, "PNG"),
    ),
    form,
    make("p", { class: "row" }, said, stop),
  );
  details.ontoggle = () => {
    to.value = version();
    from.value = Math.max(1, version() - 19);
  };
  element.replaceChildren(details);
}

/** Return the colours of the page: a picture has none of its own that follow its reader. */
function theme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Return an SVG as an image that can be painted. */
async function drawn(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(url);
  }
}

function painted(image, [width, height]) {
  const canvas = make("canvas", { width, height });
  canvas.getContext("2d", { willReadFrequently: true }).drawImage(image, 0, 0, width, height);
  return canvas;
}

const size = (bytes) => (bytes < 100_000 ? t.number(Math.ceil(bytes / 1000), { style: "unit", unit: "kilobyte" }) : t.number(bytes / 1_000_000, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 }));
