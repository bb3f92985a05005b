"""The audit in a tab, by the same verify.mjs that anybody can run with Node; and the board to take along."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import requests
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from record.entries import START, link, parse
from service.http.settings import settings_from_environment
from service.pages import pyodide
from tests.browser.conftest import Api, Open
from tests.browser.hands import drop
from tools import private

PYTHON = 60_000  # milliseconds; it is loaded first

FRAMES = """async (bytes) => {
  const decoder = new ImageDecoder({ data: new Uint8Array(bytes), type: "image/gif" });
  await decoder.tracks.ready;
  const { frameCount } = decoder.tracks.selectedTrack;
  const { image } = await decoder.decode({ frameIndex: frameCount - 1 });
  return [frameCount, image.displayWidth];
}"""


def recorded(service: private.Place, match: str) -> list[str]:
    """Return the lines of the record of a match."""
    answer = requests.get(f"{service.url}/v1/matches/{match}/record", headers={"Accept": "application/x-ndjson"}, timeout=15)
    assert answer.ok, answer.text
    return answer.text.splitlines(keepends=True)


def test_a_tampered_file_that_is_dropped_on_the_page(open_page: Open, service: private.Place, finished: str) -> None:
    lines, page = recorded(service, finished), open_page("/check")
    page.get_by_text("Or drop files anywhere").wait_for()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    drop(page, lines)
    verdict = page.locator("#audit").get_by_role("status")
    expect(verdict).to_contain_text(f"All that could be checked here holds: {len(lines) - 1} entries, {len(lines) - 1} digests")
    lines[15] = lines[15].replace('"at":', '"at":1', 1)
    drop(page, lines)
    expect(verdict).to_contain_text("Version 15 is the first that fails: The digest of version 15 does not follow")
    expect(page.get_by_role("list", name="Findings")).to_contain_text("digest_broken")
    lines = recorded(service, finished)
    drop(page, lines[:15])
    expect(verdict).to_contain_text("but the file ends at version 14, before the match was over: 14 entries")
    drop(page, ["\x89PNG\r\n\x1a\n"], "board.png")
    expect(verdict).to_have_text("board.png is not the file of a match. Give a dossier or a record, as text that begins with “{”.")
    assert [url for url in sent if not re.search("/(static|sdk)/", url)] == []


def test_a_record_is_checked_as_the_browser_has_saved_it(open_page: Open, finished: str) -> None:
    page = open_page("/check")
    saved = page.context.new_page().goto(f"/v1/matches/{finished}/record")
    assert saved is not None
    assert saved.headers["content-type"] == "application/json"
    text = saved.text()
    entries = len(json.loads(text)["entries"])
    page.get_by_text("Or drop files anywhere").wait_for()
    drop(page, [text])
    verdict = page.locator("#audit").get_by_role("status")
    expect(verdict).to_contain_text(f"All that could be checked here holds: {entries} entries, {entries} digests")
    drop(page, [text.replace('"at":', '"at":1', 1)])
    expect(verdict).to_contain_text("Version 1 is the first that fails: The digest of version 1 does not follow")


def test_the_match_of_the_page_is_checked(open_page: Open, finished: str) -> None:
    page = open_page(f"/m/{finished}")
    page.get_by_role("button", name="Check this match").click()
    verdict = page.locator("#audit").get_by_role("status")
    expect(verdict).to_contain_text("All that could be checked here holds")
    expect(verdict).to_contain_text(re.compile("[0-9] signatures"))
    page.get_by_text("What was checked, and what was not").click()
    expect(page.locator("#audit")).to_contain_text("as everybody may see it now")
    expect(page.locator("#audit")).not_to_contain_text("Whose keys")


def test_findings_are_pinned_to_their_versions_on_the_bar(open_page: Open, service: private.Place, finished: str) -> None:
    lines, page = recorded(service, finished), open_page(f"/m/{finished}")
    for at in (12, 18):
        lines[at] = lines[at].replace('"at":', '"at":1', 1)
    page.get_by_role("button", name="Check this match").wait_for()
    drop(page, lines)
    expect(page.locator("#audit").get_by_role("status")).to_contain_text("Version 12 is the first that fails")
    assert [pin.get_attribute("title") for pin in page.locator("#marks i").all()] == ["Version 12", "Version 18"]
    page.locator("#audit").get_by_role("button", name="Version 18").click()
    expect(page.locator("#version")).to_have_text(re.compile("^18 / "))
    page.get_by_text("What was checked, and what was not").click()
    found = Axe().run(page, context="#audit")
    assert found.violations_count == 0, found.generate_report()
    page.locator("#audit").get_by_role("button", name="Version 18").click()
    page.locator("#marks i").first.click()
    expect(page.locator("#version")).to_have_text(re.compile("^12 / "))


@pytest.mark.soak
def test_a_match_that_is_over_is_analysed_and_its_turning_points_are_shown(open_page: Open, ada: Api, finished: str) -> None:
    ada.ask("POST", f"/v1/matches/{finished}/analysis")
    page = open_page(f"/m/{finished}")  # whoever has no key may read what somebody else has asked for
    page.get_by_role("button", name="Analyse this match").click()
    part = page.locator("#analysis")
    expect(part.get_by_role("status")).to_contain_text("Luck is no error", timeout=60_000)
    expect(part.get_by_role("img")).to_have_attribute("aria-label", re.compile("What each seat could expect, from version 1 to [0-9]+"))
    assert part.locator("polyline").count() == 2
    for button in part.get_by_role("list", name="Turning points").get_by_role("button").all()[:1]:
        button.click()
        expect(page.locator("#version")).to_have_text(re.compile(f"^{button.inner_text().split()[1]} / "))
    found = Axe().run(page, context="#analysis")
    assert found.violations_count == 0, found.generate_report()


def test_a_hint_is_given_in_a_practice_match(open_page: Open, ada: Api, finished: str) -> None:
    fork = ada.ask("POST", "/v1/matches", {"fork_of": finished, "at": 12})["id"]
    page = open_page(f"/m/{fork}", ada.key)
    page.get_by_role("button", name="Hint", exact=True).click()
    hint = page.get_by_role("dialog")
    expect(hint).to_contain_text("AI, Hard, would do this", timeout=30_000)
    found = Axe().run(page, context="dialog[open]")
    assert found.violations_count == 0, found.generate_report()
    hint.get_by_role("button", name="Close").click()
    expect(hint).to_have_count(0)


@pytest.mark.soak
def test_downloads_of_the_board(open_page: Open, finished: str) -> None:
    page = open_page(f"/m/{finished}?at=20")
    page.get_by_text("Take the board along").click()
    page.get_by_label("From version").fill("4")
    files: dict[str, bytes] = {}
    for kind in ("SVG", "PNG", "GIF"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=kind, exact=True).click()
        files[waiting.value.suggested_filename] = Path(waiting.value.path()).read_bytes()
    svg, png, gif = files[f"{finished}-20.svg"], files[f"{finished}-20.png"], files[f"{finished}-4-20.gif"]
    assert svg.startswith(b"<svg ")
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(png[16:20]) == 1600
    count, width = page.evaluate(FRAMES, list(gif))
    assert 2 <= count <= 17  # a picture that is as the one before is none of its own
    assert 600 <= width <= 720


@pytest.fixture
def at_hand() -> None:
    if pyodide.at_hand(settings_from_environment().pyodide) is None:
        pytest.skip("Pyodide is not at hand: `./run pyodide` fetches it")


def linked(lines: list[str]) -> list[str]:
    """Return the lines of a record with every digest computed anew, as whoever knows the secret can."""
    entries = [parse(line.encode()) for line in lines[1:]]
    blind, digest = bytes.fromhex(json.loads(lines[0])["blind"]), START
    forged = [lines[0]]
    for entry in entries:
        again, raw = link(digest, entry, blind)
        digest = again.digest
        forged.append(raw.decode() + "\n")
    return forged


@pytest.mark.usefixtures("at_hand")
def test_a_record_whose_digests_were_all_computed_anew_is_decided_otherwise(open_page: Open, service: private.Place, finished: str) -> None:
    lines, page = recorded(service, finished), open_page("/check")
    page.get_by_text("Or drop files anywhere").wait_for()
    again, verdict = page.get_by_role("button", name="Decide every action again"), page.locator("#audit").get_by_role("status")
    expect(again).to_be_hidden()
    drop(page, lines)
    expect(verdict).to_contain_text("All that could be checked here holds")
    again.click()
    expect(verdict).to_have_text(f"The rules decide every action as it stands: {len(lines) - 1} entries.", timeout=PYTHON)
    page.get_by_text("What was checked, and what was not").click()
    expect(page.locator("#audit")).to_contain_text("so it was here")
    version = next(at for at, line in enumerate(lines) if at > 12 and '"actor":"humans"' in line)
    lines[version] = lines[version].replace('"actor":"humans"', '"actor":"aliens"')
    drop(page, linked(lines))
    expect(verdict).to_contain_text("All that could be checked here holds")
    again.click()
    expect(verdict).to_contain_text(f"Version {version} is the first that the rules decide otherwise: The rules refuse", timeout=PYTHON)
    expect(page.get_by_role("list", name="Findings")).to_contain_text("not_legal")


@pytest.mark.usefixtures("at_hand")
def test_the_match_of_the_page_is_decided_again_and_other_work_ends_that(open_page: Open, service: private.Place, finished: str) -> None:
    page = open_page(f"/m/{finished}")
    verdict, again = page.locator("#audit").get_by_role("status"), page.get_by_role("button", name="Decide every action again")
    again.click()
    expect(verdict).to_contain_text("Loading Python")
    page.get_by_role("button", name="Check this match").click()
    expect(verdict).to_contain_text("All that could be checked here holds")
    assert page.workers == []
    again.click()
    expect(verdict).to_contain_text("The rules decide every action as it stands", timeout=PYTHON)
    found = Axe().run(page, context="#audit")
    assert found.violations_count == 0, found.generate_report()
