"""Every page, dialog and state that `./run pictures --pages` photographs: what must be true of each of them, however it is looked at."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize

from games import GAMES
from tools import private
from tools.photographs import SCHEMES, WINDOWS, Moment, Readers, moments

ZOOMED: ViewportSize = {"width": 720, "height": 450}  # a window of 1440 by 900 at a zoom of 200 %
SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"
MOVING = "() => document.getAnimations().filter((one) => one.playState === 'running').length"
# What has the focus after each press of Tab, until it comes round: its place among all that can have it, or -1.
ROUND = """() => {
  const all = [...document.querySelectorAll("button, a[href], input, select, textarea, summary, [tabindex='0']")];
  const seen = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0 && !one.closest("[inert]");
  const inside = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  globalThis.reachable = all.filter((one) => inside.contains(one) && seen(one) && !(one.type === "radio" && !one.checked));
  return reachable.length;
}"""
AT = "() => reachable.indexOf(document.activeElement)"
NAME = "(place) => reachable[place].outerHTML.slice(0, 120)"


def without_findings(page: Page, name: str) -> list[str]:
    """Let axe look at a page in both schemes. Return what it finds."""
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for one in Axe().run(page).response["violations"]:
            found.append(f"{name}, {scheme}: {one['id']}: {one['nodes'][0]['html'][:200]}")
    return found


def out_of_reach(page: Page) -> list[str]:
    """Return what can be used and is not reached by Tab. A dialog may let the focus go to the bar of the browser."""
    count = page.evaluate(ROUND)
    reached = set()
    for _ in range(count + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(AT))
    return [page.evaluate(NAME, place) for place in range(count) if place not in reached]


def findings(readers: Readers, moment: Moment) -> list[str]:
    """Return what is wrong with a page in its state."""
    wrong = []
    for window, size in {**WINDOWS, "zoomed": ZOOMED}.items():
        name = f"{moment.name}, {window}"
        with readers.open(moment, size) as page:
            if page.evaluate(SIDEWAYS) > 0:
                wrong.append(f"{name}: it scrolls sideways")
            if page.evaluate(MOVING):
                wrong.append(f"{name}: something moves")
            if window in ("wide", "phone"):
                wrong += without_findings(page, name)
            if window == "wide":
                wrong += [f"{name}: Tab does not reach {one}" for one in out_of_reach(page)]
    return wrong


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_every_page_dialog_and_state_is_accessible(browser: Browser, service: private.Place) -> None:
    """By axe in both schemes, by keys, with reduced motion, at a zoom of 200 %, and on a tablet and a telephone."""
    readers = Readers(browser, service.url)
    wrong = [one for moment in moments(service, list(GAMES.values())) for one in findings(readers, moment)]
    assert wrong == []


@pytest.mark.soak
@pytest.mark.parametrize("name", ["fight", "waiting", "war_of_civilizations-end"])
def test_a_printed_match_has_its_board_and_nothing_to_press(browser: Browser, service: private.Place, name: str) -> None:
    readers = Readers(browser, service.url)
    for moment in moments(service, list(GAMES.values()), f"^{name}$"):
        with readers.open(moment, WINDOWS["wide"]) as page:
            page.emulate_media(media="print")
            shown = "#the-table" if name == "waiting" else "#the-board svg"
            assert page.locator(shown).first.is_visible()
            assert [
                one for one in page.locator("button").all() if one.is_visible() and one.locator("xpath=ancestor::ol").count() == 0
            ] == []
