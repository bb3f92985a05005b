"""Pages of another origin than the service: the page of docs/web-app.md, and the board of the examples.

Pages that are closed, and whose players are called back; and pages without the server, which show replays that were opened.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.browser.conftest import PATIENCE, Api, Open
from tests.conftest import within
from tests.pushing import Browser as PushBrowser
from tests.pushing import claims
from tests.workers.receiving import Receiver
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
def visit(browser: Browser, service: private.Place, origin: str, tmp_path: Path) -> Iterator[Visit]:
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


# A browser that is not told of a push service of its own: its subscription leads to ours.
SUBSCRIPTION = """((endpoint, keys) => {
  const made = { endpoint, unsubscribe: async () => localStorage.removeItem("made"), toJSON: () => ({ endpoint, keys }) };
  Object.assign(PushManager.prototype, {
    getSubscription: async () => (localStorage.getItem("made") ? made : null),
    subscribe: async ({ applicationServerKey }) => (localStorage.setItem("made", applicationServerKey), made),
  });
})(%s)"""
HEARD = """() => {
  globalThis.heard = [];
  AudioScheduledSourceNode.prototype.start = function () { heard.push(this.frequency.value); };
  AudioScheduledSourceNode.prototype.stop = () => {};
}"""
# The source of the service worker, run in a page, with what a page does not have. Browsers without a window show no notifications.
WORKER = """async (given) => {
  const [done, heard] = [[], {}];
  const addEventListener = (name, hear) => (heard[name] = hear);
  const navigator = { setAppBadge: async () => done.push("badge"), storage: { estimate: async () => ({ usage }) } };
  let usage = 0;
  const registration = { showNotification: async (title, { body, data, tag, renotify }) => done.push([title, body, data, tag, renotify]) };
  const clients = { matchAll: async () => [], claim: async () => {}, openWindow: async (path) => done.push(path) };
  const hears = (name, event) => new Promise((resolve) => heard[name]({ waitUntil: resolve, ...event }));
  %s;
  %s;
  return done;
}"""
CALLED = """await hears("push", { data: { json: () => JSON.parse(given) } });
await hears("notificationclick", { notification: { close() {}, data: done.at(-1)[2] } })"""
FILLED = """const add = async (name) => done.push([await room(name), await caches.open(name), (await caches.keys()).length]);
for (const place of Array(MATCHES + 5).keys()) await add(`${mark} m${place}`);
usage = MOST + 1;
await add(`${mark} large`);
await caches.delete(`${mark} large`);
for (const name of await caches.keys()) if (name !== SHELL) await caches.delete(name);
await add(`${mark} larger`)"""
BEGUN = """await hears("activate", {})"""
# A push service that is away: no subscription can be ended.
UNREACHABLE = """Object.assign(PushManager.prototype, { getSubscription: async () => ({
  endpoint: "https://push.example/", unsubscribe: async () => { throw new DOMException("", "NetworkError"); } }) })"""


def with_worker(page: Page) -> Page:
    """Wait until the service worker is in charge of the page."""
    page.evaluate("async () => void (await navigator.serviceWorker.ready)")
    within(PATIENCE / 1000, lambda: page.evaluate("navigator.serviceWorker.controller !== null"))
    return page


def in_worker(page: Page, service: private.Place, steps: str, given: str = "") -> Any:
    """Let the service worker hear events, and return what it has done."""
    return page.evaluate(WORKER % (requests.get(f"{service.url}/worker.js", timeout=15).text, steps), given)


def forget(page: Page, name: str) -> None:
    """Let the browser forget its key."""
    page.get_by_role("button", name=name).click()
    page.get_by_role("button", name="Forget it here").click()
    page.get_by_role("button", name="Forget it", exact=True).click()


def test_a_player_is_called_back_from_a_closed_page(open_page: Open, service: private.Place, ada: Api, push_service: Receiver) -> None:
    ben, browser = Api(service.url, "Ben"), PushBrowser()
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "open", "blue": "me"}, "options": {"first_seat": "red"}})["id"]
    ben.ask("POST", f"/v1/matches/{match}/seats/red")
    page = with_worker(open_page(f"/m/{match}", ada.key, service_workers="allow", permissions=["notifications"]))
    expect(page.locator("#play")).to_contain_text("Waiting for Ben")
    script = SUBSCRIPTION % ", ".join([json.dumps(f"{push_service.origin}/ada"), json.dumps(browser.keys)])
    page.context.add_init_script(script)
    page.evaluate(script)
    page.get_by_role("button", name="Ada").click()
    page.get_by_text("Calls and sounds").click()
    page.get_by_role("button", name="Call me").last.click()
    expect(page.locator("#calls")).to_contain_text("This device is called")
    page.evaluate(HEARD)
    sounds = page.get_by_role("checkbox", name="Sounds")
    expect(sounds).not_to_be_checked()
    sounds.check()
    within(PATIENCE / 1000, lambda: page.evaluate("heard") == [587, 880])
    sounds.uncheck()
    assert page.evaluate("localStorage.getItem('warledger.sounds')") is None
    key = page.evaluate("localStorage.getItem('made')")
    other = page.context.new_page()
    other.goto("/check")
    page.close()

    while "red" in ben.ask("GET", f"/v1/matches/{match}")["to_act"]:
        choices = ben.ask("GET", f"/v1/matches/{match}/choices")["choices"]
        ben.ask("POST", f"/v1/matches/{match}/actions", next(one["action"] for one in choices if "at_table" not in one))
    got = push_service.wait(1, "/ada")[0]
    text = browser.read(got.body)
    assert claims(got.headers["authorization"], key)["aud"] == push_service.origin
    assert json.loads(text)["data"]["seat"] == "blue"
    path = f"/m/{match}"
    assert in_worker(other, service, CALLED, text.decode()) == ["badge", ["War!", "It is your turn.", path, path, True], path]
    invited = {"type": "invited", "data": {"match": match, "game": "war"}}
    told = ["War!", "A seat is kept for you.", path, "invitations", False]
    assert in_worker(other, service, CALLED, json.dumps(invited)) == [told, path], "strangers can fill one notification"

    forget(other, "Ada")
    within(PATIENCE / 1000, lambda: ada.ask("GET", "/v1/players/me/hooks")["hooks"] == [])
    within(PATIENCE / 1000, lambda: other.evaluate("localStorage.getItem('made')") is None)


def test_an_opened_replay_can_be_read_without_the_server(open_page: Open, service: private.Place, finished: str, ada: Api) -> None:
    page = with_worker(open_page("/", ada.key, service_workers="allow"))
    page.goto(f"/m/{finished}")
    expect(page.locator("#log li")).not_to_have_count(0)
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    expect(page.locator("#offline")).to_contain_text("nothing new can come")
    page.reload()
    expect(page.locator("#offline")).to_contain_text("as it was when you last opened it")
    page.get_by_role("button", name="First version").click()
    expect(page.locator("#log [aria-current]")).to_have_attribute("data-version", "1")
    asked = "([path, headers]) => fetch(path, { headers }).then(({ status }) => status, () => null)"
    headers = {"Authorization": f"Bearer {ada.key}"}
    assert [page.evaluate(asked, [f"/v1/matches/{finished}", sent]) for sent in (headers, {})] == [200, None], "what a key sees is for it"
    page.goto("/")
    page.locator("#offline a").click()
    expect(page.locator("#the-board svg").first).to_be_visible()
    page.context.set_offline(False)
    page.reload()
    expect(page.locator("#offline")).to_be_hidden()
    page.evaluate("async () => void (await caches.open('000000000000 shell'))")
    in_worker(page, service, BEGUN)  # what a new release does
    kept = "async () => (await caches.keys()).map((name) => name.split(' ')[1])"
    assert page.evaluate(kept) == ["shell", finished]
    ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}, "options": {"first_seat": "red"}})
    page.goto("/")
    expect(page).to_have_title(re.compile(r"^\(1\) Warledger"))
    page.evaluate(UNREACHABLE)
    forget(page, "Ada")
    expect(page).to_have_title(re.compile("^Warledger"))
    within(PATIENCE / 1000, lambda: page.evaluate(kept) == ["shell"])
    assert page.evaluate("localStorage.getItem('warledger.key')") is None
    filled = [(room, caches) for room, _, caches in in_worker(page, service, FILLED)]
    assert filled[18:25] == [(True, caches) for caches in (20, 21, 21, 21, 21, 21, 21)], "the newest 20, and the files of the pages"
    assert filled[25:] == [(True, 21), (False, 2)]
