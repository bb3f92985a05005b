"""A browser, a whole service, and pages that may ask no other host and must say nothing in the console.

Browser and service end with a file: they would go on working until the last test of all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

from service.http.settings import settings_from_environment
from tests.conftest import within
from tests.workers.receiving import Receiver, receiving
from tools import browsers, private

PATIENCE = 30_000  # milliseconds until something must have happened, on a machine that is busy
WINDOW = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
# Cut connections and refusals, which tests bring about; a move that somebody was quicker than, which is sent again; workers.
TOLD = ("net::ERR_", "status of 422", "status of 412", "blocked by Playwright")

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = browsers.chromium(fetch=True)
    if path is None:
        reason = f"there is no Chromium: install one of {', '.join(browsers.NAMES)}, name one in CHROMIUM, or install npm"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(browsers.FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def push_service() -> Iterator[Receiver]:
    """A push service of our own, to which the service may send."""
    with receiving() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, push_service: Receiver) -> Iterator[private.Place]:
    """A service whose log has its first leaf. Before that it has no checkpoint, and the browser would say so."""
    pyodide = str(settings_from_environment().pyodide.resolve())  # of the checkout, if it was fetched
    environment = {"WARLEDGER_PYODIDE": pyodide, "WARLEDGER_HOOK_ORIGINS": push_service.origin}
    with private.service(tmp_path_factory.mktemp("browser") / "data", "--web", "1", "--workers", "1", environment=environment) as running:
        body = {"game": "war", "seats": {"red": "me", "blue": "open"}}
        Api(running.url, "Eve").ask("POST", "/v1/matches", body)
        within(PATIENCE / 1000, lambda: requests.get(f"{running.url}/log/checkpoint", timeout=15).ok)
        yield running


class Api:
    """A player of the service without a browser."""

    def __init__(self, url: str, name: str, admin_key: str = "") -> None:
        """Make the player: a referee, if the admin key is given."""
        self.url = url
        self.key = admin_key
        self.key = self.ask("POST", "/v1/players", {"name": name, **({"role": "referee"} if admin_key else {})})["key"]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        answer = requests.request(method, self.url + path, json=body, headers=headers, timeout=15)
        assert answer.ok, answer.text
        return answer.json()


@pytest.fixture
def ada(service: private.Place) -> Api:
    return Api(service.url, "Ada")


Open = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, service: private.Place) -> Iterator[Open]:
    """Return a function that opens a page of the service, for a player perhaps. What the pages do wrong fails the test at its end."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(told in message.text for told in TOLD):
            wrong.append(f"console: {message.text}")

    def asked(request: Request) -> None:
        if not request.url.startswith((service.url, "data:", "blob:")):
            wrong.append(f"asked elsewhere: {request.url}")
        if "wl_" in request.url:
            wrong.append(f"a key in an address: {request.url}")

    def opened(path: str, key: str | None = None, **settings: Any) -> Page:
        context = browser.new_context(base_url=service.url, **{**WINDOW, "service_workers": "block", **settings})
        contexts.append(context)
        if key is not None:
            context.add_init_script(f"if (location.host) localStorage.setItem('warledger.key', '{key}')")
        context.on("request", asked)
        context.on("console", heard)
        context.on("weberror", lambda error: wrong.append(f"error: {error.error}"))
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def finished(service: private.Place) -> str:
    """Return a match between artificial players that is over."""
    return played_out(service, "war_of_the_worlds", {"round_limit": 3})


def played_out(service: private.Place, game: str, options: dict[str, Any]) -> str:
    """Let artificial players play a match to its end, and return its id."""
    creator = Api(service.url, "Grace")
    seats = creator.ask("GET", f"/v1/games/{game}")["seats"][:2]
    match: str = creator.ask("POST", "/v1/matches", {"game": game, "seats": dict.fromkeys(seats, "ai:random"), "options": options})["id"]
    for _ in range(100):
        standing = creator.ask("GET", f"/v1/matches/{match}")
        if standing["status"] == "over":
            return match
        creator.ask("GET", f"/v1/matches/{match}/entries?after={standing['version']}&limit=1&wait=5")
    raise AssertionError("the match did not end")
