"""Measure the page of a match in a browser: its first picture, also over 3G, a step, a jump, and the memory of a whole replay.

The time of a step or jump is from the change of the scrub bar until the new picture is laid out, in a page that has loaded every frame.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.load import sorted_share
from benchmarks.pairs import Figure, figure
from benchmarks.place import Place, Run, own_id
from benchmarks.web import played
from events import recall
from games import GAMES
from tools import browsers

GAME = "war_of_civilizations"  # its matches are the longest
VERSIONS = 5000
STEPS = 300
FIRST = 1000.0  # milliseconds
STEP = 16.0  # milliseconds
HEAP = 20.0  # MB
SLOW = 4000.0  # milliseconds
THIRD_GENERATION = {"offline": False, "latency": 562.5, "downloadThroughput": 180_000, "uploadThroughput": 84_375}  # "Fast 3G" of Chromium
QUIET = 3.0  # seconds without a request after which a page has loaded every frame

SCRUB = """(versions) => {
  const bar = document.getElementById("scrub");
  const shown = document.getElementById("version");
  return versions.map((version) => {
    const began = performance.now();
    bar.value = version;
    bar.dispatchEvent(new Event("input", { bubbles: true }));
    document.getElementById("the-board").getBoundingClientRect();
    if (!shown.textContent.startsWith(`${version} `)) throw new Error(`version ${version} is not shown`);
    return performance.now() - began;
  });
}"""


def measured(run: Run) -> list[Figure]:
    """Measure the page of a long match that six seats play at random. Return nothing if there is no browser."""
    with run.place("pages") as place:
        return _measured(place, run.pairs)


def _measured(place: Place, rounds: int) -> list[Figure]:
    path = browsers.chromium(fetch=True)
    if path is None:
        print("there is no Chromium, so pages are not measured", file=sys.stderr)
        return []
    match = played(place.platform, own_id(place.caller()), GAMES[GAME], 1, VERSIONS)
    newest = recall.position(place.platform, match).version
    first, slow, steps, jumps, heaps = [], [], [], [], []
    address = f"http://{place.service[0]}:{place.service[1]}/m/{match}"
    with _browser(path) as browser:
        for round in range(rounds):
            page = _new_page(browser)
            slow_page = _new_page(browser)
            slow_page.context.new_cdp_session(slow_page).send("Network.emulateNetworkConditions", THIRD_GENERATION)
            slow.append(_first_picture(slow_page, address))
            slow_page.close()
            first.append(_first_picture(page, address))
            _load_all(page)
            begin = newest // 2
            steps.append(sorted_share(page.evaluate(SCRUB, list(range(begin, min(begin + STEPS, newest)))), 0.95))
            dice = random.Random(round)
            jumps.append(sorted_share(page.evaluate(SCRUB, [dice.randint(1, newest) for _ in range(STEPS)]), 0.5))
            heaps.append(_heap(page))
            page.close()
    return [
        figure(f"the page of {newest} versions, first picture", first, "ms", most=FIRST),
        figure("the same over 3G, nothing in the cache", slow, "ms", most=SLOW),
        figure("a step, 95th percentile", steps, "ms", most=STEP),
        figure("a jump to any version, median", jumps, "ms", most=STEP),
        figure("memory of the page with every frame", heaps, "MB", most=HEAP),
    ]


@contextmanager
def _browser(path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(browsers.FLAGS))
        yield opened
        opened.close()


def _new_page(browser: Browser) -> Page:
    """Return a page with a cache of its own."""
    return browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")


def _first_picture(page: Page, address: str) -> float:
    """Open a page. Return after how many milliseconds its board is shown."""
    began = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.locator("#the-board svg").first.wait_for()
    return (time.perf_counter() - began) * 1000


def _load_all(page: Page) -> None:
    """Wait until the page has made no request for a while."""
    asked = [time.monotonic()]
    page.on("requestfinished", lambda request: asked.append(time.monotonic()))
    while time.monotonic() < asked[-1] + QUIET:
        page.wait_for_timeout(200)


def _heap(page: Page) -> float:
    """Return the used JavaScript heap in MB."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used: Any = session.send("Runtime.getHeapUsage")["usedSize"]
    return float(used) / 1e6
