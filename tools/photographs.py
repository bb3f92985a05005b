"""Take screenshots with a Chromium: of drawn boards (`./run pictures --png`) and of every page (`./run pictures --pages`).

For the pages, a private service plays matches of each game. Its pages, dialogs and states are photographed light and dark, on a wide
window, a tablet and a telephone (docs/pages.md).
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

from games.kernel import Game
from tools import private
from tools.browsers import FLAGS
from web.languages import ENGLISH, Words, words_of
from web.picture import TALL

PHONE = 390  # CSS pixels
WINDOWS: dict[str, ViewportSize] = {
    "wide": {"width": 1440, "height": 900},
    "tablet": {"width": 768, "height": 1024},
    "phone": {"width": PHONE, "height": 844},
}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SETTLED = 400  # milliseconds after the last answer, for pictures that fade in
PATIENCE = 600  # long polls
MOST_CLICKS = 12  # until an action is ready
THINKING = 120_000  # milliseconds


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


class Moment(NamedTuple):
    """What is photographed: a page, and what is done on it before. `key`: the reader's, or none. `dialog`: it covers the page."""

    name: str
    path: str
    key: str = ""
    act: Callable[[Page], object] = lambda page: None
    dialog: bool = False


def photograph_pages(browser: str, games: Sequence[Game], to: Path, only: str = "", language: str = ENGLISH) -> None:
    """Write images of pages, dialogs and states into a folder, and print the names of the files that match the pattern `only`."""
    with tempfile.TemporaryDirectory() as data, private.service(Path(data)) as place, _opened(browser) as opened:
        readers = Readers(opened, place.url, language)
        for moment in moments(place, games, only, language):
            for image in _photographs(readers, moment, to):
                print(image.name, flush=True)


def moments(place: private.Place, games: Sequence[Game], only: str = "", language: str = ENGLISH) -> Iterator[Moment]:
    """Yield every page, dialog and state whose name matches a pattern. Each is to be opened before the next one is asked for."""
    said = words_of(language)
    ada, ben = (_Player(place.url, name) for name in ("Ada", "Ben"))
    rex = _Player(place.url, "Rex", place.admin_key)
    of_games = (moment for game in games for moment in _moments_of(ada, game, only))
    site = _moments_of_the_site(ada, ben, said), _moments_of_a_finished_match(ada, only, said), _moments_of_a_dispute(ada, ben, rex, only)
    for moment in chain(*site, _moments_of_puzzles(ada, only, said), of_games):
        if re.search(only, moment.name):
            yield moment


class Readers:
    """Those who read pages of a service in a language: each has one browser for all pages, as each registers a key that signs moves."""

    def __init__(self, browser: Browser, url: str, language: str = ENGLISH) -> None:
        self._browser = browser
        self._url = url
        self.language = language
        self._contexts: dict[str, BrowserContext] = {}

    @contextmanager
    def open(self, moment: Moment, size: ViewportSize) -> Iterator[Page]:
        """Open a page of a size in its state for a block."""
        if moment.key not in self._contexts:
            self._contexts[moment.key] = _reader(self._browser, self._url, moment.key, self.language)
        context = self._contexts[moment.key]
        page = context.new_page()
        try:
            page.set_viewport_size(size)
            page.set_default_timeout(THINKING)
            page.goto(moment.path)
            if page.locator("#log").count():
                page.locator("#log li").first.wait_for(state="attached")
            page.wait_for_timeout(SETTLED)
            moment.act(page)
            yield page
        finally:
            context.set_offline(False)
            page.close()


def _reader(browser: Browser, url: str, key: str, language: str) -> BrowserContext:
    """Return a browser of somebody."""
    context = browser.new_context(base_url=url, locale=language, reduced_motion="reduce", service_workers="block")
    if key:
        context.add_init_script(f"if (location.host) localStorage.setItem('warledger.key', '{key}')")
    return context


class _Player(httpx.Client):
    """A player of the private service."""

    def __init__(self, url: str, name: str, admin_key: str = "") -> None:
        """Make the player: a referee, if the admin key is given."""
        super().__init__(base_url=url, timeout=60, headers={"Authorization": f"Bearer {admin_key}"} if admin_key else {})
        made = self.send_json("/v1/players", {"name": name, **({"role": "referee"} if admin_key else {})})
        self.player, self.key = made["id"], made["key"]
        self.headers["Authorization"] = f"Bearer {self.key}"

    def send_json(self, path: str, body: dict[str, Any]) -> Any:
        """Return the answer to a POST. Raises httpx.HTTPStatusError."""
        return self.post(path, json=body).raise_for_status().json()

    def puzzle_of(self, match: str, version: int) -> str | None:
        """Return the id of the puzzle of a decision, or None if it makes none."""
        for _ in range(THINKING // 1000):
            answer = self.post(f"/v1/matches/{match}/puzzles", params={"version": version})
            if answer.status_code != 202:
                return answer.json().get("id")
            time.sleep(1)
        return None

    def create(self, game: str, seats: dict[str, str], **settings: Any) -> str:
        """Create a match. Return its id."""
        match: str = self.send_json("/v1/matches", {"game": game, "seats": seats, **settings})["id"]
        return match


def _moments_of_the_site(ada: _Player, ben: _Player, said: Words) -> Iterator[Moment]:
    """Yield what does not differ from game to game. It is shown with matches of War!. `said`: the language of the pages."""
    tables = [ada.create("war", {"red": "me", "blue": "open"}) for _ in range(2)]  # who met at another table hear each other
    for table in tables:
        ben.send_json(f"/v1/matches/{table}/seats/blue", {})
    ben.send_json(f"/v1/matches/{tables[1]}/actions", {"type": "resign"})
    table = tables[0]
    waiting = ada.create("war", {"red": "me", "blue": "open"}, code=True)

    def open_form(page: Page) -> None:
        page.locator("[data-create=war]").click()
        page.locator("#create").wait_for()

    def open_whole_form(page: Page) -> None:
        open_form(page)
        for details in page.locator("#create details").all():
            details.evaluate("details => (details.open = true)")
        page.locator("#create").evaluate("dialog => { dialog.style.maxHeight = dialog.style.height = 'none' }")
        needed = page.locator("#create").evaluate("dialog => dialog.scrollHeight")
        size = page.viewport_size or WINDOWS["wide"]
        page.set_viewport_size({"width": size["width"], "height": needed + 80})

    def invite_in_form(page: Page) -> None:
        open_form(page)
        page.locator("#create [data-when='game war'] .seat select").nth(1).select_option("?")
        page.get_by_role("dialog", name=said("Whom do you invite?")).wait_for()

    def open_account(page: Page) -> None:
        page.locator("#account").click()

    def open_calls(page: Page) -> None:
        open_account(page)
        page.get_by_text(said("Calls and sounds")).click()
        page.get_by_text(said("Keys that sign your moves")).click()

    def at_the_table(page: Page) -> None:
        page.get_by_text(said("At the table")).click()

    def hand_over(page: Page) -> None:
        at_the_table(page)
        page.get_by_role("button", name=said("Hand the seat over …")).click()

    def speak(page: Page) -> None:
        page.get_by_text(said("Say something")).click()
        ben.post(f"/v1/matches/{table}/phrases?seat=blue", json={"phrase": "good_luck"}).raise_for_status()
        page.locator(".said").wait_for()

    def forget(page: Page) -> None:
        open_account(page)
        page.locator("#forget-key").click()

    def resign(page: Page) -> None:
        at_the_table(page)
        page.locator("#play .attable button").first.click()

    def sit_with_a_code(page: Page) -> None:
        page.locator(f"[data-join='{waiting}']").first.click()

    offered = ada.create("war", {"red": "me", "blue": "open"})
    ben.send_json(f"/v1/matches/{offered}/seats/blue", {})
    ben.send_json(f"/v1/matches/{offered}/actions", {"type": "offer", "what": "draw"})
    yield Moment("stranger-lobby", "/")
    yield Moment("stranger-account", "/", act=open_account, dialog=True)
    yield Moment("stranger-match", f"/m/{waiting}")
    yield Moment("lobby", "/", ada.key)
    yield Moment("account", "/", ada.key, open_calls, dialog=True)
    yield Moment("create", "/", ada.key, open_form, dialog=True)
    yield Moment("create-all", "/", ada.key, open_whole_form, dialog=True)
    yield Moment("create-invite", "/", ada.key, invite_in_form, dialog=True)
    yield Moment("player", f"/p/{ben.player}", ada.key)
    yield Moment("player-own", f"/p/{ada.player}", ada.key)
    yield Moment("waiting", f"/m/{waiting}", ada.key)
    yield Moment("table", f"/m/{table}", ada.key, at_the_table)
    yield Moment("hand-over", f"/m/{table}", ada.key, hand_over, dialog=True)
    yield Moment(
        "dispute", f"/m/{table}", ada.key, lambda page: page.get_by_role("button", name=said("Dispute"), exact=True).click(), dialog=True
    )
    yield Moment("phrases", f"/m/{table}", ada.key, speak)
    yield Moment("offline", f"/m/{table}", ada.key, lambda page: page.context.set_offline(True))
    yield Moment("check", "/check")
    yield Moment("rulings", "/games/war/rulings")
    yield Moment("missing", "/m/nowhere")
    yield Moment("forget-key", "/", ada.key, forget, dialog=True)
    yield Moment("resign", f"/m/{table}", ada.key, resign, dialog=True)
    yield Moment("offer", f"/m/{offered}", ada.key)
    yield Moment("code", "/?status=open", ben.key, sit_with_a_code, dialog=True)


def _moments_of_a_finished_match(ada: _Player, only: str, said: Words) -> Iterator[Moment]:
    """Yield what there is to see of a match that is over, of War!."""
    if not any(re.search(only, name) for name in ("fight", "keys", "rule", "text", "hint", "why", "analysis", "audit")):
        return
    over = _played(ada, "war", ["red", "blue"])
    fight = _fight_of(ada, over)
    practice = ada.send_json("/v1/matches", {"fork_of": over, "at": 20})["id"]
    ada.send_json(f"/v1/matches/{over}/analysis", {})

    def analyse(page: Page) -> None:
        page.get_by_role("button", name=said("Analyse this match")).click()
        page.locator("#analysis polyline").first.wait_for(timeout=THINKING)
        page.locator("#analysis").scroll_into_view_if_needed()

    def audit(page: Page) -> None:
        page.get_by_role("button", name=said("Check this match")).click()
        page.get_by_text(said("What was checked, and what was not")).wait_for()
        page.locator("#audit").scroll_into_view_if_needed()

    def hint(page: Page) -> None:
        page.locator("#play [data-keep=hint]").click()
        page.locator("dialog[open] li").first.wait_for(timeout=THINKING)

    def why(page: Page) -> None:
        page.locator(".target").first.focus()
        page.keyboard.press("w")
        page.locator("#why-list button").first.wait_for()

    yield Moment("hint", f"/m/{practice}", ada.key, hint, dialog=True)
    yield Moment("why", f"/m/{over}", ada.key, why, dialog=True)
    yield Moment("analysis", f"/m/{over}", ada.key, analyse)
    yield Moment("audit", f"/m/{over}", ada.key, audit)
    yield Moment("fight", f"/m/{over}?at={fight}&viewer=spectator", ada.key)
    yield Moment("keys", f"/m/{over}", ada.key, lambda page: page.locator("[data-do=help]").click(), dialog=True)
    yield Moment("rule", f"/m/{over}", ada.key, lambda page: page.locator("#log .rule").last.click(), dialog=True)
    yield Moment("text", f"/m/{over}", ada.key, lambda page: page.locator("#text").click())


def _moments_of_puzzles(ada: _Player, only: str, said: Words) -> Iterator[Moment]:
    """Yield the list of puzzles and one of them, of War of the Worlds, untried and after the answer was shown."""
    if not any(re.search(only, name) for name in ("puzzles", "puzzle", "puzzle-answer")):
        return
    match = _played(ada, "war_of_the_worlds", ["aliens", "humans"])
    puzzle = next(found for version in range(2, 99) if (found := ada.puzzle_of(match, version)) is not None)

    def answer(page: Page) -> None:
        page.get_by_role("button", name=said("Show the answer")).click()
        page.locator("#verdict h2").wait_for()

    yield Moment("puzzles", "/puzzles", ada.key)
    yield Moment("puzzle", f"/puzzles/{puzzle}", ada.key)
    yield Moment("puzzle-answer", f"/puzzles/{puzzle}", ada.key, answer)


def _moments_of_a_dispute(ada: _Player, ben: _Player, rex: _Player, only: str) -> Iterator[Moment]:
    """Yield what the seats and a referee see of a dispute, until it is settled."""
    if not any(re.search(only, name) for name in ("case-seat", "case-referee", "case-ruled", "disputed", "desk")):
        return
    match = ada.create("war", {"red": "me", "blue": "open"}, options={"first_seat": "red"})
    ben.send_json(f"/v1/matches/{match}/seats/blue", {})
    _wait(ada, match, lambda standing: standing["to_act"] == ["red"])
    version = ada.send_json(f"/v1/matches/{match}/actions", ada.get(f"/v1/matches/{match}/choices").json()["choices"][0]["action"])[
        "version"
    ]
    ada.send_json(f"/v1/matches/{match}/disputes", {"version": version, "text": "The unit should stand one tile farther to the left."})
    ben.send_json(f"/v1/matches/{match}/disputes/1/statements", {"text": "It stands where you have put it."})
    yield Moment("disputed", f"/m/{match}", ada.key)
    yield Moment("case-seat", f"/m/{match}/disputes/1", ada.key)
    yield Moment("desk", "/disputes", rex.key)
    rex.send_json(f"/v1/matches/{match}/actions", {"type": "take_dispute", "dispute": 1})
    yield Moment("case-referee", f"/m/{match}/disputes/1", rex.key)
    rex.send_json(f"/v1/matches/{match}/disputes/1/ruling", {"verdict": "rejected", "text": "The entry says so."})
    yield Moment("case-ruled", f"/m/{match}/disputes/1", ada.key)


def _moments_of(ada: _Player, game: Game, only: str) -> Iterator[Moment]:
    """Yield the pages of a game: its rules, a guided match, a turn, and moments of a finished match."""
    if not any(
        re.search(only, f"{game.id}-{name}") for name in ("rules", "guide", "play", "term", "draft", "set-up", "middle", "end", "embed")
    ):
        return
    seats = list(game.seats.ids)
    over = _played(ada, game.id, seats)
    version = ada.get(f"/v1/matches/{over}").json()["version"]
    mine = ada.create(game.id, {**dict.fromkeys(seats, "ai:greedy"), seats[0]: "me"})
    _wait(ada, mine, lambda standing: seats[0] in standing["to_act"])
    guided = ada.send_json("/v1/matches", {"guide": game.id})["id"]

    def explain(page: Page) -> None:
        page.locator("[data-term]").first.click()

    def draft(page: Page) -> None:
        for _ in range(MOST_CLICKS):
            page.locator("#play .choices [data-number], #play [data-keep=draft], #play .draft li").first.wait_for()
            if page.locator("#play .draft li").count():  # the browser has kept it
                return
            if page.locator("#play [data-keep=draft]").count():
                page.locator("#play [data-keep=draft]").click()
                page.locator("#play .draft li").wait_for()
            else:
                page.locator("#play .choices [data-number]").first.click()

    yield Moment(f"{game.id}-rules", f"/games/{game.id}", ada.key)
    yield Moment(f"{game.id}-guide", f"/m/{guided}", ada.key, lambda page: page.locator("#play .guide").wait_for())
    yield Moment(f"{game.id}-play", f"/m/{mine}", ada.key, lambda page: page.locator("#play .choices button").first.wait_for())
    yield Moment(f"{game.id}-term", f"/m/{mine}", ada.key, explain)
    yield Moment(f"{game.id}-draft", f"/m/{mine}", ada.key, draft)
    yield Moment(f"{game.id}-set-up", f"/m/{over}?at=2&viewer=spectator", ada.key)
    yield Moment(f"{game.id}-middle", f"/m/{over}?at={version * 2 // 3}&viewer=spectator", ada.key)
    yield Moment(f"{game.id}-end", f"/m/{over}?viewer=spectator", ada.key)
    yield Moment(f"{game.id}-embed", f"/embed/{over}")


def _played(player: _Player, game: str, seats: Sequence[str]) -> str:
    """Let artificial players play a match to its end. Return its id."""
    match = player.create(game, dict.fromkeys(seats, "ai:greedy"))
    _wait(player, match, lambda standing: standing["status"] == "over")
    return match


def _fight_of(player: _Player, match: str) -> int:
    """Return the version of the first rolled fight of a match of War!."""
    after = 0
    while entries := player.get(f"/v1/matches/{match}/entries", params={"after": after, "limit": 100}).json()["entries"]:
        for entry in entries:
            if any(event["type"] == "attack_rolled" for event in entry["events"]):
                version: int = entry["version"]
                return version
        after = entries[-1]["version"]
    raise RuntimeError(f"nobody fights in {match}")


def _wait(player: _Player, match: str, ready: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until `ready` is true of the standing of a match. Raises RuntimeError if that takes too long."""
    for _ in range(PATIENCE):
        standing = player.get(f"/v1/matches/{match}").json()
        if ready(standing):
            return
        player.get(f"/v1/matches/{match}/entries", params={"after": standing["version"], "limit": 1, "wait": 9})
    raise RuntimeError(f"{match} did not get far enough in time")


def _photographs(readers: Readers, moment: Moment, to: Path) -> Iterator[Path]:
    in_language = "" if readers.language == ENGLISH else f"-{readers.language}"
    for window, size in WINDOWS.items():
        with readers.open(moment, size) as page:
            whole = not moment.dialog and (window != "wide" or not moment.path.startswith(("/m/", "/games/")))
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                page.wait_for_timeout(SETTLED)
                image = to / f"page-{moment.name}-{window}-{scheme}{in_language}.png"
                page.screenshot(path=image, full_page=whole)
                yield image
