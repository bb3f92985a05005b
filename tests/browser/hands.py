"""Hands that play in a page: by clicks on whatever can be clicked, or by keys alone. They know no game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

# What can be done now: a button that sends, a place that can be picked, a button that chooses, one that counts up, or nothing.
SEEN = """() => {
  const middle = (element) => { const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
  const play = document.getElementById("play");
  const version = document.getElementById("version").textContent;
  const live = document.getElementById("live").dataset.state;
  const seen = { version, live, send: null, places: [], buttons: [], more: [], busy: play.getAttribute("aria-busy") === "true" };
  if (play.hidden || seen.busy) return seen;
  const first = play.querySelector("[data-keep=send]");
  if (first && !first.disabled) { first.scrollIntoView({ block: "nearest" }); seen.send = middle(first); }
  for (const button of play.querySelectorAll(".choices [data-number]")) {
    seen.buttons.push(button.textContent);
  }
  for (const button of play.querySelectorAll(".count button:last-of-type:not(:disabled)")) seen.more.push(middle(button));
  for (const place of document.querySelectorAll(".target.can:not(.chosen)")) seen.places.push(place.dataset.place);
  return seen;
}"""
# A point of the screen where a click meets a place, or null. The middle of its box may belong to another place: a sea lies around land.
POINT = """(id) => {
  const place = [...document.querySelectorAll(".target")].find((one) => one.dataset.place === id);
  if (!place) return null;
  place.scrollIntoView({ block: "center" });
  const box = place.getBoundingClientRect();
  const steps = [0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875];
  const points = steps.flatMap((down) => steps.map((right) => [box.x + box.width * right, box.y + box.height * down]));
  return points.find(([x, y]) => document.elementFromPoint(x, y) === place) ?? null;
}"""
ENDS = ("End", "Go on", "Stop")
MOST = 4000  # looks at the page


class Stuck(AssertionError):
    """Nothing could be done for a long time."""


def play_by_clicks(page: Page, moves: int | None = None) -> int:
    """Play by clicks until the match is over, or until so many moves were sent. Return how many were sent."""
    picked = 0  # places and buttons since the last action was sent

    def act(seen: dict[str, Any], sent: int) -> bool:
        nonlocal picked
        if seen["send"]:
            page.mouse.click(*seen["send"])
            picked = 0
        elif seen["more"]:
            page.mouse.click(*seen["more"][0])
        elif seen["places"] and (not seen["buttons"] or (sent + picked) % 2):
            if point := page.evaluate(POINT, seen["places"][sent % len(seen["places"])]):
                page.mouse.click(*point)
            picked += 1
        elif seen["buttons"]:
            page.locator("#play .choices [data-number]").nth(_button(seen["buttons"], sent)).click()
            picked += 1
        else:
            return False
        return True

    return _play(page, act, moves)


def play_by_keys(page: Page, moves: int | None = None) -> int:
    """Play by keys alone until the match is over, or until so many moves were sent. Return how many were sent."""

    def act(seen: dict[str, Any], sent: int) -> bool:
        if seen["send"]:
            page.evaluate("() => document.activeElement.blur()")
            page.keyboard.press("Enter")
        elif seen["more"]:
            page.evaluate("() => document.querySelector('.count button:last-of-type:not(:disabled)').focus()")
            page.keyboard.press("Enter")
        elif seen["buttons"]:
            page.keyboard.press(str(_button(seen["buttons"][:9], sent) + 1))
        else:
            return False
        return True

    return _play(page, act, moves)


def _play(page: Page, act: Callable[[dict[str, Any], int], bool], moves: int | None) -> int:
    """Look at the page and act on it again and again. `act`: gets what is seen and how many moves were sent, sends if that can be done,
    and returns False if nothing can be done now."""
    sent = idle = 0
    at = ""  # the version at which an action was sent that the page does not show yet
    for _ in range(MOST):
        seen = page.evaluate(SEEN)
        if seen["live"] == "over" or (moves is not None and sent >= moves):
            return sent
        idle += 1
        if idle % 100 == 0 and seen["version"] == at:  # the page was laid out anew just before the click, which has met nothing
            sent, at = sent - 1, ""
        if seen["version"] == at or not act(seen, sent):
            page.wait_for_timeout(30)
        elif seen["send"]:
            sent, idle, at = sent + 1, 0, seen["version"]
        if idle > 300:
            raise Stuck(seen)
    raise Stuck("the match does not end")


def _button(words: list[str], sent: int) -> int:
    """Return the place of the button to choose: two times of three one that ends something, if there is one, else each in its turn."""
    ends = [place for place, text in enumerate(words) if any(end in text for end in ENDS)]
    return ends[0] if ends and sent % 3 else sent % len(words)


DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const event = { bubbles: true, cancelable: true, dataTransfer: data };
  for (const kind of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(kind, event));
}"""


def drop(page: Page, lines: list[str], name: str = "record.ndjson") -> None:
    """Drop a file with these lines on the page."""
    page.evaluate(DROP, [name, "".join(lines)])
