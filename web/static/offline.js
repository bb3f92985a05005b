// What can be read without the server: the replays that were opened last.

import { t } from "./language.js";
import { make } from "./site.js";

const TITLE = /<title>([^<]*?)( · Warledger)?<\/title>/;

/** Add links to the replays that the service worker has kept. */
export async function show(line) {
  const links = [];
  for (const name of (await caches.keys()).reverse()) {
    const path = `/m/${name.split(" ")[1]}`;
    const page = await caches.match(`/kept${path}`, { cacheName: name });
    if (page) links.push(make("a", { href: path }, TITLE.exec(await page.text())[1]));
  }
  if (links.length) line.append(" ", ...t.around("You can read {links}.", { links: links.flatMap((link, place) => (place ? [", ", link] : [link])) }));
}
