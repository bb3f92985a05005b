"""Evidence in a browser: receipts are kept, compared, offered to the page that checks files, and raise the alarm."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from events.notary.signer import Signer
from tests.browser.conftest import Api, Open
from tests.browser.hands import drop, play_by_clicks
from tools import private

AGREES = re.compile("[1-9][0-9]* receipts? agrees? with this match's history. The log continues what you saw on ")


def without_findings(page: Page) -> None:
    """Let axe look at the page, light and dark."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_receipts_are_kept_and_compared_and_a_server_that_retells_a_match_is_found_out(
    open_page: Open, service: private.Place, finished: str
) -> None:
    page = open_page(f"/m/{finished}")
    line = page.locator("#evidence")
    expect(line).to_contain_text("From now on this browser keeps receipts")
    page.reload()
    expect(line).to_contain_text(AGREES)
    signer = Signer(service.data / "keys")

    def retold(route: Route) -> None:
        version = int(route.request.url.rpartition("/")[2])
        route.fulfill(json={"match": finished, "version": version, "receipt": signer.receipt(finished, version, "ab" * 32, 5)})

    page.route("**/receipts/*", retold)
    page.reload()
    alarm = page.get_by_role("alert", name="This server has contradicted itself").or_(page.locator(".alarm"))
    expect(alarm).to_contain_text("The server has changed the history of this match: it signed another version")
    expect(line).to_have_text("What this browser has kept disagrees with the server.")
    without_findings(page)
    with page.expect_download() as waiting:
        alarm.get_by_role("button", name="Save the proof").click()
    proof = Path(waiting.value.path()).read_text()
    assert len(json.loads(proof)["receipts"]) == 2
    alarm.get_by_role("link", name="Check it").click()
    page.get_by_text("2 receipts of 1 match").wait_for()
    drop(page, [proof], waiting.value.suggested_filename)
    expect(page.get_by_role("list", name="Receipts").get_by_role("listitem")).to_contain_text(["So the server has told two histories."] * 2)
    page.goto(f"/m/{finished}")
    alarm.get_by_role("button", name="Forget what was kept").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget it").click()
    expect(alarm).to_have_count(0)


def test_receipts_of_moves_are_compared_with_a_file(open_page: Open, ada: Api) -> None:
    body = {"game": "war", "seats": {"red": "me", "blue": "ai:random"}, "options": {"first_seat": "red"}}
    match = ada.ask("POST", "/v1/matches", body)["id"]
    page = open_page(f"/m/{match}", ada.key)
    assert play_by_clicks(page, 3) > 1
    page.reload()
    expect(page.locator("#evidence")).to_contain_text(AGREES)
    expect(page.locator("#evidence")).not_to_contain_text("not sent by this browser")
    ada.ask("POST", f"/v1/matches/{match}/actions", {"type": "resign"})
    expect(page.locator("#live")).to_have_attribute("data-state", "over")
    expect(page.locator("#evidence")).to_contain_text(AGREES)
    expect(page.locator("#evidence")).to_contain_text("1 move of your seats was not sent by this browser")
    page.get_by_role("button", name="I did not make them").click()
    expect(page.locator(".alarm")).to_contain_text("Moves in your name that you did not make")
    expect(page.locator("#evidence")).to_contain_text(AGREES)
    without_findings(page)
    page.get_by_role("button", name="Check this match").click()
    receipts = page.get_by_role("list", name="Receipts")
    expect(receipts).to_contain_text(re.compile("[3-9] receipts that this browser keeps agree with the file."))
    expect(receipts).to_contain_text("The log is the one that this browser saw on ")
    page.goto("/check")
    page.get_by_role("button", name="Compare them with this server").click()
    expect(page.locator("#kept").get_by_role("status")).to_contain_text(re.compile("[3-9] receipts agree with what this server shows now."))
    receipt = ada.ask("GET", f"/v1/matches/{match}/receipts/2")["receipt"]
    page.get_by_role("button", name="Paste …").click()
    page.get_by_role("dialog").get_by_role("textbox").fill(receipt)
    page.get_by_role("dialog").get_by_role("button", name="Check it").click()
    expect(page.locator("#audit").get_by_role("status")).to_contain_text("1 receipt agrees with what this server signs now.")
    without_findings(page)


def test_a_browser_that_keeps_nothing_goes_on_and_says_so(open_page: Open, finished: str) -> None:
    page = open_page("/check")
    page.context.add_init_script("Object.defineProperty(window, 'indexedDB', { get: () => { throw new Error('private'); } })")
    page.goto(f"/m/{finished}")
    expect(page.locator("#evidence")).to_contain_text("This browser keeps nothing, so receipts are compared only while this page is open.")
    page.goto("/check")
    expect(page.locator("#kept")).to_contain_text("No receipt yet")


def test_a_server_whose_entries_do_not_follow_is_found_out(open_page: Open, ada: Api) -> None:
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
    ada.ask("GET", f"/v1/matches/{match}/entries?after=1&wait=9")
    page = open_page(f"/m/{match}", ada.key)
    expect(page.locator("#evidence")).to_contain_text("From now on")

    def changed(route: Route) -> None:
        answer: dict[str, Any] = route.fetch().json()
        for entry in answer["entries"]:
            entry["at"] += 1
        route.fulfill(json=answer)

    choices = ada.ask("GET", f"/v1/matches/{match}/choices")["choices"]
    ada.ask("POST", f"/v1/matches/{match}/actions", choices[0]["action"])
    page.route("**/entries?*", changed)
    page.reload()
    expect(page.locator(".alarm")).to_contain_text("does not follow from what this browser has kept of it")
    page.unroute_all(behavior="ignoreErrors")


def test_moves_are_signed_by_a_key_of_the_browser(open_page: Open, ada: Api) -> None:
    body = {"game": "war", "seats": {"red": "me", "blue": "ai:random"}, "options": {"first_seat": "red"}, "signed": "required"}
    match = ada.ask("POST", "/v1/matches", body)["id"]
    page = open_page(f"/m/{match}", ada.key)
    expect(page.locator("#signing")).to_have_text("Your moves are signed with the key of this browser.")
    assert play_by_clicks(page, 2) > 1
    listed = ada.ask("GET", "/v1/players/me/signing-keys")["keys"]
    assert [key["name"] for key in listed] == ["Chrome on Linux"]
    page.locator("#account").click()
    keys = page.locator("#signing-keys")
    keys.get_by_text("Keys that sign your moves").click()
    expect(keys.get_by_role("listitem")).to_contain_text(["this browser, since"])
    without_findings(page)
    keys.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog", name="Nothing can be signed").get_by_role("button", name="Revoke it").click()
    expect(keys.get_by_role("listitem")).to_contain_text(["revoked on"])
    page.get_by_role("button", name="Close").click()
    assert play_by_clicks(page, 2) > 1  # with another key, which the page makes and registers
    old, new = [key["key"] for key in ada.ask("GET", "/v1/players/me/signing-keys")["keys"]]
    entries = ada.ask("GET", f"/v1/matches/{match}/entries")["entries"]
    mine = [entry for entry in entries if entry["actor"] == "red"]
    assert list(dict.fromkeys(entry["signed"]["key"] for entry in mine)) == [old, new]
    page.locator("#log").get_by_role("button", name=f"Version {mine[-1]['version']}", exact=True).click()
    expect(page.locator("#log [aria-current]")).to_contain_text(f"signed, key {new[:8]}")
    page.keyboard.press("End")
    page.get_by_text("At the table").click()
    page.locator("#play .attable button", has_text=re.compile("resign", re.IGNORECASE)).click()
    page.get_by_role("dialog", name="Are you sure?").get_by_role("button", name=re.compile("resign", re.IGNORECASE)).click()
    expect(page.locator("#live")).to_have_attribute("data-state", "over")
    expect(page.locator("#evidence")).to_contain_text(AGREES)
    expect(page.locator("#evidence")).not_to_contain_text("not sent by this browser")
    page.get_by_role("button", name="Check this match").click()
    expect(page.locator("#audit").get_by_role("status")).to_contain_text("All that could be checked here holds")
    page.get_by_text("What was checked, and what was not").click()
    expect(page.locator("#audit")).to_contain_text(re.compile("[2-9] moves? of red .*signed by the key that this player registered on"))


def test_a_browser_that_cannot_sign_says_so_and_what_to_do_where_moves_must_be_signed(open_page: Open, ada: Api) -> None:
    body = {"game": "war", "seats": {"red": "me", "blue": "me"}, "signed": "required"}
    match = ada.ask("POST", "/v1/matches", body)["id"]
    page = open_page("/check", ada.key)
    page.context.add_init_script("Object.defineProperty(crypto, 'subtle', { value: undefined })")
    page.goto(f"/m/{match}")
    expect(page.locator("#signing")).to_contain_text("Moves are not signed: browsers sign only on pages that came over https.")
    expect(page.locator("#play .urgent")).to_contain_text("In this match moves must be signed.")
    without_findings(page)
