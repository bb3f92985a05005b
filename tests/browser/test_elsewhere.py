"""Pages of another origin than the service: the page of docs/web-app.md, and the board of the examples."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.browser.conftest import PATIENCE, Api
from tests.conftest import within
from tools import private

HERE = "http://127.0.0.1:8000"
Visit = Callable[..., Page]


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, format: str, *given: object) -> None:
        """Say nothing."""


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    """The origin of a server of files, which has none of the service's: another port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def logged(service: private.Place) -> None:
    """Wait until the server's log has its first leaf. Before that it has no checkpoint, and the browser would say so."""
    Api(service.url, "Lin").ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}})
    within(PATIENCE / 1000, lambda: requests.get(f"{service.url}/log/checkpoint", timeout=15).ok)


@pytest.fixture
def visit(browser: Browser, service: private.Place, logged: None, origin: str, tmp_path: Path) -> Iterator[Visit]:
    """Return a function that opens a page of the other origin, in a browser of its own. What the page says of errors fails the test."""
    contexts, wrong = [], []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "status of 413" not in message.text:  # which a test brings about
            wrong.append(f"{message.text} {message.location['url']}")

    def visited(content: str, fragment: str = "") -> Page:
        assert HERE in content
        (tmp_path / "page.html").write_text(content.replace(HERE, service.url))
        context = browser.new_context(reduced_motion="reduce")
        contexts.append(context)
        context.on("console", heard)
        context.on("weberror", lambda error: wrong.append(str(error.error)))
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{origin}/page.html{fragment}")
        return page

    yield visited
    for context in contexts:
        context.close()
    assert wrong == []


def test_the_page_of_the_docs_plays_from_another_origin(visit: Visit, service: private.Place) -> None:
    text = (private.ROOT / "docs" / "web-app.md").read_text(encoding="utf-8")
    (content,) = re.findall(r"```html\n(.*?)```", text, re.DOTALL)
    (commands,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    assert len((content + commands).splitlines()) <= 20
    page = visit(content)
    for _ in range(4):
        before = page.locator("#board").get_attribute("src")
        page.locator("#choices button").last.click()
        expect(page.locator("#board")).not_to_have_attribute("src", before or "")
    assert page.evaluate("board.naturalWidth") > 0
    assert str(page.evaluate("localStorage.getItem('key')")).startswith("wl_")
    assert page.evaluate(SIGNED, service.url) == [True, False]


SIGNED = """async (url) => {
  const { Client } = await import(`${url}/sdk/warledger.js`);
  const client = new Client(url, { key: localStorage.getItem("key") });
  const [{ id }] = (await client.get("/v1/matches", { player: "me" })).matches;
  const keys = [];
  for await (const { signed } of client.match(id).entries({ proof: true })) if (signed) keys.push(signed.key);
  const { key } = await client.signer();
  return [keys.length > 0 && keys.every((one) => one === key.publicKey), key.privateKey.extractable];
}"""
"""Whether the moves of the page's player are signed by the key in the database of its origin, and whether a program can read that key."""


@pytest.mark.soak
def test_a_whole_match_on_the_board_of_the_examples(visit: Visit, service: private.Place) -> None:
    page = visit((private.ROOT / "examples" / "board.html").read_text(encoding="utf-8"))
    page.get_by_role("button", name="War! against the machine").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("You play red")
    expect(page.locator("#board")).to_be_visible()
    # Click whatever comes last until the end: the page itself does so, since a match has dozens of turns.
    page.evaluate("setInterval(() => document.querySelector('#choices button:last-of-type')?.click(), 20)")
    expect(status).to_contain_text("Won by", timeout=60_000)
    match = page.url.partition("#")[2]
    played = Api(service.url, "Grace").ask("GET", f"/v1/matches/{match}")
    expect(status).to_contain_text(f"{played['version']} entries were checked")
    expect(page.locator("#log li").first).to_be_visible()
    kept = page.evaluate(
        """() => new Promise((resolve) => {
          indexedDB.open("warledger").onsuccess = ({ target }) => {
            const lines = target.result.transaction("lines").objectStore("lines").getAll();
            lines.onsuccess = () => resolve(lines.result.map(({ name }) => name));
          };
        })"""
    )
    assert {"server-keys.txt", f"{match}.jsonl"} == set(kept)
    assert len(kept) > 10


def test_friends_meet_on_the_board_of_the_examples(visit: Visit) -> None:
    content = (private.ROOT / "examples" / "board.html").read_text(encoding="utf-8")
    ada = visit(content)
    ada.get_by_role("button", name="War of the Worlds: The New Wave with a friend").click()
    expect(ada.get_by_role("status")).to_have_text("Somebody else must act.")
    ben = visit(content, f"#{ada.url.partition('#')[2]}")
    expect(ada.get_by_role("status")).to_have_text("You play aliens. What do you do?")
    for page in (ada, ben):
        expect(page.locator("#board")).to_be_visible()
        expect(page.locator("#log li")).not_to_have_count(0)
    known = ben.locator("#log li").count()
    ada.locator("#choices button").first.click()
    expect(ben.locator("#log li")).not_to_have_count(known)


def test_an_event_source_of_another_origin_hears_what_spectators_see_and_a_script_reads_why_something_failed(
    visit: Visit, service: private.Place, ada: Api
) -> None:
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}})["id"]
    page = visit(f"<!doctype html><link rel=icon href=data:,><title>{HERE}</title>")
    path = f"{service.url}/v1/matches/{match}/stream"
    heard = """(address) => new Promise((resolve) => {
      const source = new EventSource(address);
      source.addEventListener("entry", ({ data }) => (source.close(), resolve(JSON.parse(data).action.type)));
    })"""
    assert page.evaluate(heard, path) == "create_match"
    large = """async (address) => {
      const answer = await fetch(address, { method: "POST", body: "x".repeat(70000), headers: { "Content-Type": "application/json" } });
      return [answer.status, (await answer.json()).code, answer.headers.get("X-Request-Id").length];
    }"""
    assert page.evaluate(large, f"{service.url}/v1/players") == [413, "too_large", 16]
