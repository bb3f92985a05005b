"""Take screenshots with a Chromium: of drawn boards (`./run pictures --png`) and of every page (`./run pictures --pages`).

For the pages, a private service plays a match of each game. Every page is photographed light and dark, wide and at the size of a telephone.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from games.kernel import Game
from tools import private
from tools.browsers import FLAGS
from web.picture import TALL

PHONE = 390  # CSS pixels
WINDOWS: dict[str, ViewportSize] = {"wide": {"width": 1440, "height": 900}, "phone": {"width": PHONE, "height": 844}}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SETTLED = 400  # milliseconds after the last answer, for pictures that fade in
PATIENCE = 600  # long polls


@contextmanager
def _opened(browser: str) -> Iterator[Browser]:
    """Open the Chromium at a path for a block."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=list(FLAGS))
        try:
            yield opened
        finally:
            opened.close()


def photograph_drawings(browser: str, drawings: Iterable[Path]) -> None:
    """Make an image beside each SVG file. Tall drawings get the width of a telephone, at twice its resolution."""
    with _opened(browser) as opened:
        for path in drawings:
            wide, high = map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', path.read_text(encoding="utf-8"))[0])
            across = PHONE if f"-{TALL}-" in path.name else int(wide)
            size: ViewportSize = {"width": across, "height": int(high * across / wide) + 1}
            page = opened.new_page(viewport=size, device_scale_factor=2 if across == PHONE else 1)
            html = path.with_suffix(".html")
            html.write_text(f'<body style="margin:0"><img src="{path.name}" width="{across}" style="display:block">', encoding="utf-8")
            page.goto(html.resolve().as_uri())
            page.bring_to_front()
            page.wait_for_timeout(SETTLED)  # a page that was never shown has no picture
            page.screenshot(path=path.with_suffix(".png"))
            page.close()
            html.unlink()


def photograph_cover(browser: str, path: Path) -> None:
    """Make an image of the middle of a cover, of the size that chats show of a link."""
    with _opened(browser) as opened:
        page = opened.new_page(viewport={"width": 800, "height": 420})
        page.set_content(
            f'<body style="margin:0"><div style="height:420px;display:grid;place-items:center;overflow:hidden">{path.read_text("utf-8")}'
        )
        page.add_style_tag(content="svg{width:800px;height:auto}")
        page.wait_for_timeout(SETTLED)
        page.screenshot(path=path.with_suffix(".png"))


def photograph_pages(browser: str, games: Sequence[Game], to: Path) -> None:
    """Write an image of every page into a folder, and print the names of the files."""
    with tempfile.TemporaryDirectory() as data, private.service(Path(data)) as place, _opened(browser) as opened:
        with httpx.Client(base_url=place.url, timeout=60) as client:
            key = client.post("/v1/players", json={"name": "Ada"}).json()["key"]
            client.headers["Authorization"] = f"Bearer {key}"
            pages = {"lobby": "/"}
            for game in games:
                pages.update(_pages(client, game))
        for name, path in pages.items():
            for image in _photographs(opened, place.url, key, name, path, to):
                print(image.name)


def _pages(client: httpx.Client, game: Game) -> Iterator[tuple[str, str]]:
    """Yield the name and the address of each page of a game. Three of them show moments of a finished match."""
    seats = list(game.seats.ids)
    over = _played(client, game.id, dict.fromkeys(seats, "ai:greedy"))
    version = client.get(f"/v1/matches/{over}").json()["version"]
    mine = client.post("/v1/matches", json={"game": game.id, "seats": {**dict.fromkeys(seats, "ai:greedy"), seats[0]: "me"}}).json()["id"]
    _wait(client, mine, lambda standing: seats[0] in standing["to_act"])
    yield f"{game.id}-rules", f"/games/{game.id}"
    yield f"{game.id}-play", f"/m/{mine}"
    yield f"{game.id}-set-up", f"/m/{over}?at=2&viewer=spectator"
    yield f"{game.id}-middle", f"/m/{over}?at={version * 2 // 3}&viewer=spectator"
    yield f"{game.id}-end", f"/m/{over}?viewer=spectator"
    yield f"{game.id}-embed", f"/embed/{over}"


def _played(client: httpx.Client, game: str, seats: dict[str, str]) -> str:
    """Let artificial players play a match to its end. Return its id."""
    match: str = client.post("/v1/matches", json={"game": game, "seats": seats}).json()["id"]
    _wait(client, match, lambda standing: standing["status"] == "over")
    return match


def _wait(client: httpx.Client, match: str, ready: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until `ready` is true of the standing of a match. Raises RuntimeError if that takes too long."""
    for _ in range(PATIENCE):
        standing = client.get(f"/v1/matches/{match}").json()
        if ready(standing):
            return
        client.get(f"/v1/matches/{match}/entries", params={"after": standing["version"], "limit": 1, "wait": 9})
    raise RuntimeError(f"{match} did not get far enough in time")


def _photographs(browser: Browser, url: str, key: str, name: str, path: str, to: Path) -> Iterator[Path]:
    for window, size in WINDOWS.items():
        for theme in SCHEMES:
            context = browser.new_context(base_url=url, viewport=size, color_scheme=theme, reduced_motion="reduce")
            context.add_init_script(f"if (location.host) localStorage.setItem('warledger.key', '{key}')")
            page = context.new_page()
            page.goto(path)
            if path.startswith("/m/"):
                page.locator("#log li").first.wait_for(state="attached")
            page.wait_for_timeout(SETTLED)
            image = to / f"page-{name}-{window}-{theme}.png"
            page.screenshot(path=image, full_page=window == "phone" or not path.startswith(("/m/", "/games/")))
            yield image
            context.close()
