"""The pages in a browser, as people use them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import requests
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Api
from tests.browser.hands import POINT, play_by_clicks, play_by_keys
from tools import private

Open = Callable[..., Page]

SHORT: dict[str, dict[str, Any]] = {"war": {}, "war_of_the_worlds": {"round_limit": 1}, "war_of_civilizations": {"round_limit": 5}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def begin_in_the_lobby(page: Page, game: str, options: dict[str, Any]) -> None:
    """Give a name, fill in the form for a new match against artificial players, and wait for its page."""
    page.locator(f"[data-create={game}]").click()
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Start playing").click()
    form = page.get_by_role("dialog", name="A new match")
    for select in form.locator(f"fieldset[data-when='game {game}'] .seat select").all()[1:2]:
        select.select_option("ai:random")
    form.get_by_text("Options of the game").locator("visible=true").click()
    for name, value in options.items():
        form.locator(f"fieldset[data-when='game {game}'] [name='options.{name}']").fill(str(value))
    form.get_by_role("button", name="Set up the board").click()
    page.wait_for_url("**/m/*")


def give_up(page: Page) -> None:
    """Resign, as the page offers it."""
    page.get_by_text("At the table").click()
    page.locator("#play .attable button", has_text=re.compile("resign", re.IGNORECASE)).click()
    page.get_by_role("dialog", name="Are you sure?").get_by_role("button", name=re.compile("resign", re.IGNORECASE)).click()


@pytest.mark.parametrize("game", [pytest.param(game, marks=() if game == "war" else pytest.mark.soak) for game in SHORT])
def test_a_match_is_played_from_the_lobby_to_its_end_by_clicks(open_page: Open, game: str) -> None:
    page = open_page("/")
    begin_in_the_lobby(page, game, SHORT[game])
    moves = play_by_clicks(page, 12)
    assert moves > 3
    if page.locator("#live").get_attribute("data-state") != "over":
        give_up(page)
    expect(page.locator("#live")).to_have_attribute("data-state", "over")
    expect(page.locator("#the-heading")).to_contain_text("won")


def test_a_match_is_played_by_keys_alone(open_page: Open, ada: Api) -> None:
    seats = {"aliens": "me", "humans": "ai:random"}
    match = ada.ask("POST", "/v1/matches", {"game": "war_of_the_worlds", "seats": seats, "options": SHORT["war_of_the_worlds"]})["id"]
    page = open_page(f"/m/{match}", ada.key)
    assert play_by_keys(page) > 3
    expect(page.locator("#live")).to_have_attribute("data-state", "over")


def test_a_click_during_which_the_match_moves_on_is_not_lost(open_page: Open, ada: Api, service: private.Place) -> None:
    body = {"game": "war", "seats": {"red": "me", "blue": "open"}, "options": {"first_seat": "red"}}
    match = ada.ask("POST", "/v1/matches", body)["id"]
    ben = Api(service.url, "Ben")
    taken = ben.ask("POST", f"/v1/matches/{match}/seats/blue", {})["version"]
    ada.ask("GET", f"/v1/matches/{match}/entries?after={taken}&limit=1&wait=5")
    page = open_page(f"/m/{match}", ada.key)
    page.locator("#play .choices button").first.hover()
    page.mouse.down()
    with page.expect_response(lambda answer: "/choices" in answer.url):
        offered = ben.ask("POST", f"/v1/matches/{match}/actions", {"type": "offer", "what": "draw"})["version"]
    expect(page.locator("#version")).to_have_text(f"{offered} / {offered}")
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    page.mouse.up()
    expect(page.locator("#play .pick")).to_have_count(1)
    expect(page.locator("#play .urgent")).to_contain_text("draw")


@pytest.mark.soak
@pytest.mark.parametrize("play", [play_by_clicks, play_by_keys])
@pytest.mark.parametrize("game", SHORT)
def test_whole_matches_are_played_by_clicks_and_by_keys(open_page: Open, ada: Api, game: str, play: Callable[[Page], int]) -> None:
    seats = dict(zip(ada.ask("GET", f"/v1/games/{game}")["seats"], ("me", "ai:random"), strict=False))
    match = ada.ask("POST", "/v1/matches", {"game": game, "seats": seats, "options": SHORT[game]})["id"]
    page = open_page(f"/m/{match}", ada.key)
    assert play(page) > 3
    expect(page.locator("#live")).to_have_attribute("data-state", "over")


def test_a_finished_match_is_replayed_by_keys_by_the_bar_and_by_a_link(open_page: Open, finished: str, service: private.Place) -> None:
    page = open_page(f"/m/{finished}?at=5&viewer=aliens")
    version = page.locator("#version")
    last = Api(service.url, "Eve").ask("GET", f"/v1/matches/{finished}")["version"]
    expect(version).to_have_text(f"5 / {last}")
    expect(page.locator("#eyes")).to_have_value("aliens")
    expect(page.locator("#log [aria-current]")).to_have_attribute("data-version", "5")
    board = page.locator("#the-board")
    missed = page.locator(".target").evaluate_all(f"(all) => all.map((one) => one.dataset.place).filter((id) => !({POINT})(id))")
    assert missed == [], "a click meets each place, also a sea whose middle is land"
    before = board.inner_html()
    for key, at in (("ArrowRight", 6), ("ArrowRight", 7), (",", 6), ("ArrowLeft", 5), ("End", last), ("Home", 1)):
        page.keyboard.press(key)
        expect(version).to_have_text(f"{at} / {last}")
    expect(page).to_have_url(re.compile(r"at=1\b"))
    page.locator("#scrub").fill("5")
    expect(version).to_have_text(f"5 / {last}")
    expect(page.locator("#log [aria-current]")).to_have_attribute("data-version", "5")
    assert board.inner_html() == before, "the same version is the same picture, whichever way one came"
    page.keyboard.press("]")
    assert page.locator("#log [aria-current]").inner_text() != ""
    page.keyboard.press("t")
    expect(page.locator("#textboard")).to_contain_text("War of the Worlds")
    page.keyboard.press("t")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#log [aria-current] .rule").first.click()
    expect(page.locator("#rule-text")).not_to_be_empty()
    page.keyboard.press("Escape")
    page.keyboard.press("End")
    page.locator(".target[data-place=west_highlands]").focus()
    page.keyboard.press("w")
    change = page.locator("#why-list button").first
    change.wait_for()
    at = (change.text_content() or "").removeprefix("Version ")
    change.click()
    expect(version).to_have_text(f"{at} / {last}")


def test_a_match_is_watched_live_through_a_cut_connection(open_page: Open, ada: Api) -> None:
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
    page = open_page(f"/m/{match}?viewer=spectator")
    expect(page.locator("#live-text")).to_have_text("live")

    def act() -> int:
        ada.ask("GET", f"/v1/matches/{match}/entries?after=1&limit=1&wait=5")
        choices = ada.ask("GET", f"/v1/matches/{match}/choices")["choices"]
        version: int = ada.ask("POST", f"/v1/matches/{match}/actions", choices[0]["action"])["version"]
        return version

    newest = act()
    expect(page.locator("#version")).to_have_text(f"{newest} / {newest}")
    page.context.set_offline(True)
    act()
    newest = act()
    page.context.set_offline(False)
    expect(page.locator("#version")).to_have_text(f"{newest} / {newest}")
    page.keyboard.press("Home")
    newest = act()
    expect(page.locator("#live-text")).to_have_text("1 new")
    expect(page.locator("#version")).to_have_text(f"1 / {newest}")
    page.locator("#live").click()
    expect(page.locator("#version")).to_have_text(f"{newest} / {newest}")


def test_the_title_is_marked_while_it_is_the_readers_turn(open_page: Open, ada: Api, service: private.Place) -> None:
    ben = Api(service.url, "Ben")
    body = {"game": "war", "seats": {"red": "me", "blue": "open"}, "options": {"first_seat": "red"}}
    match = ada.ask("POST", "/v1/matches", body)["id"]
    taken = ben.ask("POST", f"/v1/matches/{match}/seats/blue", {})["version"]
    ada.ask("GET", f"/v1/matches/{match}/entries?after={taken}&limit=1&wait=5")
    page = open_page(f"/m/{match}", ada.key)
    seen = []
    for _ in range(4):
        standing = ada.ask("GET", f"/v1/matches/{match}")
        expect(page.locator("#version")).to_have_text(f"{standing['version']} / {standing['version']}")
        mine = standing["to_act"] == ["red"]
        expect(page).to_have_title(re.compile("^● " if mine else "^[^●]"))
        page.keyboard.press("Home")  # the mark tells of the match, not of the version that is shown
        expect(page.locator("#version")).to_have_text(f"1 / {standing['version']}")
        expect(page).to_have_title(re.compile("^● " if mine else "^[^●]"))
        page.keyboard.press("End")
        player = ada if mine else ben
        choice = player.ask("GET", f"/v1/matches/{match}/choices")["choices"][0]
        player.ask("POST", f"/v1/matches/{match}/actions", choice["action"])
        seen.append(mine)
    assert len(set(seen)) == 2, seen


def test_a_seat_is_taken_by_a_link_and_a_key_is_brought_back(open_page: Open, ada: Api, service: private.Place) -> None:
    made = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}, "code": True})
    match = made["id"]
    page = open_page(f"/m/{match}", ada.key)
    table = page.get_by_role("region", name="The table")
    expect(table.get_by_role("img", name="QR code")).to_be_visible()
    link = table.locator(".key").inner_text()
    assert made["code"] in link
    expect(page.locator("#the-board")).to_be_hidden()
    expect(page.get_by_role("button", name="Sit down")).to_have_count(0)
    page.goto("/?status=open")
    expect(page.locator(f"#list .match:has([href='/m/{match}'])")).to_contain_text("a free seat")
    page = open_page(link)
    page.get_by_role("button", name="Sit down as Blue").click()
    page.get_by_text("I have a key already").click()
    page.get_by_label("Your key").fill(Api(service.url, "Bob").key)
    page.get_by_role("button", name="Bring it back").click()
    expect(page.locator("#account")).to_have_text("Bob")
    expect(page.locator("#players")).to_contain_text("Bob")
    expect(page.locator("#the-board")).to_be_visible()
    expect(page.locator("#players li", has_text="Bob").get_by_text("here now")).to_have_count(1)
    assert "wl_" not in page.content()


def test_a_match_is_set_up_with_all_that_the_form_has(open_page: Open, ada: Api, service: private.Place) -> None:
    bob = Api(service.url, "Bob").ask("GET", "/v1/players/me")["id"]
    page = open_page(f"/?new=war&invite={bob}", ada.key)
    form = page.locator("#create")
    form.locator("[name='seats.green']").select_option("ai:novice")
    page.get_by_role("button", name="Green earlier").click()
    form.evaluate("(form) => form.querySelectorAll('details').forEach((details) => (details.open = true))")
    war = form.locator("[data-when='game war']")
    war.locator("[name='options.first_seat']").select_option("green")
    war.get_by_label("wheel").check()
    war.locator("[name='options.starting_cards']").check()
    war.locator("[name='options.map_number']").fill("7")
    form.locator("[name='clock.kind']").select_option("bank")
    form.locator("[name='clock.seconds']").locator("visible=true").fill("15")
    form.locator("[name='time_out.policy']").select_option("forfeit")
    form.locator("[name='spectators']").select_option(label="everybody, some moves late")
    form.locator("[name='spectators.delay']").fill("5")
    form.locator("[name=signed]").check()
    form.locator("[name=name]").fill("Club night")
    form.locator("[name=tags]").fill("club, friday")
    with page.expect_request(lambda request: request.url.endswith("/v1/matches") and request.method == "POST") as sent:
        form.get_by_role("button", name="Set up the board").click()
    assert len(ada.ask("GET", "/v1/players/me/signing-keys")["keys"]) == 1, "the key is in the log before the match begins"
    assert sent.value.post_data_json == {
        "game": "war",
        "seats": {"red": "me", "blue": f"player:{bob}", "green": "ai:novice"},
        "order": ["red", "green", "blue"],
        "options": {"first_seat": "green", "removed_symbols": ["wheel"], "starting_cards": True, "map_number": 7},
        "clock": {"kind": "bank", "seconds": 900, "increment": 10},
        "time_out": {"policy": "forfeit"},
        "spectators": {"delay": 5},
        "signed": "required",
        "name": "Club night",
        "tags": ["club", "friday"],
    }
    page.wait_for_url("**/m/*")
    left = Api(service.url, "Eve")
    eve = left.ask("GET", "/v1/players/me")["id"]
    requests.delete(f"{service.url}/v1/players/me?confirm={eve}", headers={"Authorization": f"Bearer {left.key}"}, timeout=15)
    page.goto(f"/?new=war&invite={eve}")
    expect(page.locator("#told")).to_have_text("This player has left.")


EARLY = """async (match) => {
  const { heard } = await import(new URL("phrases.js", document.querySelector("script[type=module]").src));
  await heard({ match, standing: null, words: { names: { blue: "Blue" } }, write() {} }, { seat: "blue", phrase: "hello" });
}"""
"""What a page does with a phrase that comes before it knows who sits at the table."""


@pytest.mark.soak
def test_a_stranger_is_heard_once_the_reader_chooses_to_also_after_the_end(open_page: Open, ada: Api, service: private.Place) -> None:
    ben = Api(service.url, "Ben")
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}})["id"]
    ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:random"}})  # an AI is nobody's friend
    ben.ask("POST", f"/v1/matches/{match}/seats/blue", {})
    pages = {name: open_page(f"/m/{match}", player.key) for name, player in (("Ada", ada), ("Ben", ben))}
    for page in pages.values():
        page.get_by_text("Say something").click()
    pages["Ben"].get_by_role("button", name="Good luck!").click()
    expect(pages["Ben"].locator(".said")).to_have_text("Ben Good luck!")
    expect(pages["Ada"].locator("#told")).to_contain_text("You hear strangers only if you choose to")
    pages["Ada"].evaluate(EARLY, match)
    expect(pages["Ada"].locator("#told")).to_contain_text("Blue says something")
    pages["Ada"].get_by_label("Hear Ben").check()
    ben.ask("POST", f"/v1/matches/{match}/actions", {"type": "resign"})
    expect(pages["Ada"].locator("#live")).to_have_attribute("data-state", "over")
    pages["Ben"].get_by_role("button", name="Well played!").click()
    expect(pages["Ada"].locator(".said")).to_have_text("Ben Well played!")
    found = Axe().run(pages["Ada"])
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize(
    "path",
    ["/", "/m/{match}", "/embed/{match}", *(pytest.param(path, marks=pytest.mark.soak) for path in ("/games/war", "/check", "/puzzles"))],
)
def test_nothing_scrolls_sideways_on_a_telephone(open_page: Open, finished: str, path: str) -> None:
    page = open_page(path.format(match=finished), **PHONE)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


OVERFLOWING = """() => [...document.querySelectorAll("button, .button, summary, h1, h2, h3, label, select, .tag, #play p")]
  .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
  .filter((element) => getComputedStyle(element).overflowX === "visible" && getComputedStyle(element).display !== "inline")
  .map((element) => element.textContent)"""


def test_pages_in_russian_stay_inside_their_boxes_on_a_telephone_and_axe_finds_nothing(open_page: Open, finished: str) -> None:
    page = open_page("/", **PHONE)
    page.get_by_role("button", name="Menu").click()
    with page.expect_navigation():
        page.get_by_label("Language").select_option("ru")
    expect(page.locator("html")).to_have_attribute("lang", "ru")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.headers.get("accept-language", "")) if "/frames?" in request.url else None)
    for path in ("/", "/m/{match}", "/games/war", "/embed/{match}", "/check"):
        page.goto(path.format(match=finished))
        page.wait_for_load_state("networkidle")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390, path
        assert page.evaluate(OVERFLOWING) == [], path
        if path in ("/", "/m/{match}"):
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
    assert asked
    assert set(asked) == {"ru"}


def test_the_board_in_a_frame_follows_the_match(open_page: Open, ada: Api) -> None:
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
    ada.ask("GET", f"/v1/matches/{match}/entries?after=1&wait=9")  # the map is laid out
    page = open_page(f"/embed/{match}")
    page.locator("#the-board [data-id]").first.wait_for()
    units = page.locator("#the-board [data-id^=units_]")
    before = units.count()
    choice = next(one for one in ada.ask("GET", f"/v1/matches/{match}/choices")["choices"] if not one.get("at_table"))
    ada.ask("POST", f"/v1/matches/{match}/actions", choice["action"])
    expect(units).not_to_have_count(before)


LETTERS = """() => {
  const sizes = [];
  for (const text of document.querySelectorAll("#the-board svg text, #the-fight svg text, #the-board svg use[href^='#b-']")) {
    const box = text.getBoundingClientRect();
    if (!box.width || text.closest(".targets")) continue;
    const { a, b } = text.getScreenCTM();
    const badge = text.tagName === "use" && document.querySelector(`${text.getAttribute("href")} text`);
    sizes.push([Math.hypot(a, b) * parseFloat(getComputedStyle(badge || text).fontSize), (badge || text).textContent]);
  }
  return sizes.length ? sizes.sort(([one], [other]) => one - other)[0] : [0, "no letters"];
}"""  # the size of the smallest letters of a board in CSS pixels, and the letters
LEAST = 10.99
WINDOWS = ({"width": 1280, "height": 800}, {"width": 768, "height": 1024}, {"width": 390, "height": 844})


@pytest.mark.parametrize(
    "matches",
    [
        (("war_of_civilizations", (6,)), ("war_of_the_worlds", (2,))),
        pytest.param((("war_of_civilizations", (2, 3, 4, 5)), ("war", (2, 3, 4))), marks=pytest.mark.soak),
    ],
)
def test_every_letter_of_a_board_can_be_read_on_every_window(open_page: Open, ada: Api, finished: str, matches: tuple[Any, ...]) -> None:
    page = open_page("/", ada.key)
    paths = [f"/m/{finished}?at=60"]
    for game, numbers in matches:
        seats = ada.ask("GET", f"/v1/games/{game}")["seats"]
        for number in numbers:
            paths.append(f"/m/{ada.ask('POST', '/v1/matches', {'game': game, 'seats': dict.fromkeys(seats[:number], 'me')})['id']}")
    for path in paths:
        page.goto(path)
        page.locator(".target").first.wait_for(state="attached")
        page.locator("#log li").first.wait_for(state="attached")
        for window in WINDOWS:
            page.set_viewport_size(window)
            page.evaluate(FRAME)
            for key in ("", "z", "+"):
                if key:
                    page.keyboard.press(key)
                size, letters = page.evaluate(LETTERS)
                assert size >= LEAST, f"{letters} has {size} pixels at {path}, {window}, after {key}"


FRAME = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def test_the_land_of_who_is_to_act_is_in_view_and_keys_buttons_and_taps_zoom(open_page: Open, ada: Api) -> None:
    seats = dict.fromkeys(ada.ask("GET", "/v1/games/war_of_civilizations")["seats"], "me")
    match = ada.ask("POST", "/v1/matches", {"game": "war_of_civilizations", "seats": seats})["id"]
    page = open_page(f"/m/{match}", ada.key, **PHONE)
    place, whole = page.locator(".target.can").first, page.locator("#whole")
    expect(whole).to_be_visible()
    expect(place).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(whole).to_be_hidden()
    small = place.bounding_box()
    assert small is not None
    page.touchscreen.tap(small["x"] + small["width"] / 2, small["y"] + small["height"] / 2)
    expect(whole).to_be_visible()
    large = place.bounding_box()
    assert large is not None
    assert large["width"] > 1.8 * small["width"]
    page.touchscreen.tap(large["x"] + large["width"] / 2, large["y"] + large["height"] / 2)
    expect(page.locator("#play .pick")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("button", name="Whole board").click()
    expect(whole).to_be_hidden()
    page.get_by_role("button", name="Zoom in").click()
    expect(whole).to_be_visible()
    page.get_by_role("button", name="Zoom out").click()
    expect(whole).to_be_hidden()


def test_a_fight_is_shown_with_its_rules_for_its_stretch_of_the_replay(open_page: Open, ada: Api) -> None:
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "ai:random", "blue": "ai:random"}})["id"]
    rolled = after = 0
    while not rolled:
        for entry in ada.ask("GET", f"/v1/matches/{match}/entries?after={after}&wait=5")["entries"]:
            after = entry["version"]
            if any(event["type"] == "attack_rolled" for event in entry["events"]):
                rolled = rolled or after
    page = open_page(f"/m/{match}?at={rolled}&viewer=spectator")
    fight = page.locator("#the-fight")
    expect(fight).to_contain_text("Fight for")
    fight.get_by_text("WAR-ATT-07").click()
    expect(page.locator("#rule-text")).not_to_be_empty()
    page.keyboard.press("Escape")
    page.get_by_text("The fight", exact=True).click()
    expect(fight).to_be_hidden()
    page.keyboard.press("Home")
    expect(page.locator(".fight")).to_be_hidden()


@pytest.mark.parametrize(
    "path",
    ["/", "/m/{match}?at=40", *(pytest.param(path, marks=pytest.mark.soak) for path in ("/embed/{match}", "/games/war", "/puzzles"))],
)
def test_axe_finds_nothing(open_page: Open, finished: str, path: str) -> None:
    page = open_page(path.format(match=finished), color_scheme="light")
    page.wait_for_load_state("networkidle")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.soak
def test_a_puzzle_is_tried_by_keys_and_its_answer_is_shown(open_page: Open, ada: Api, finished: str) -> None:
    page = open_page("/puzzles", key=ada.key)
    puzzle = next(found for version in range(2, 60) if (found := made(page, ada, f"/v1/matches/{finished}/puzzles?version={version}")))
    page.goto(f"/puzzles/{puzzle}")
    expect(page.locator("h1")).to_contain_text("best turn")
    expect(page.locator("#play .choices")).to_be_visible()
    while not page.locator("#play [data-keep=send]").count():
        page.keyboard.press("1")
    page.keyboard.press("Enter")
    verdict = page.locator("#verdict")
    expect(verdict).to_contain_text("How it may go on", timeout=120_000)
    page.get_by_role("button", name="Show the answer").click()
    expect(verdict.locator("h2")).to_contain_text("The best:")
    assert Axe().run(page).violations_count == 0
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove this puzzle").click()
    page.wait_for_url("**/puzzles")


def made(page: Page, player: Api, path: str) -> str | None:
    """Return the id of the puzzle of a decision when a worker has made it, or None if it makes none."""
    while (answer := requests.post(player.url + path, headers={"Authorization": f"Bearer {player.key}"}, timeout=30)).status_code == 202:
        page.wait_for_timeout(500)
    return answer.json().get("id")


def begin_a_guide(page: Page, game: str) -> Locator:
    """Begin the guided match of a game by one click, give a name, and return where the guide speaks."""
    page.locator(f"[data-guide={game}]").click()
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Start playing").click()
    page.wait_for_url("**/m/*")
    return page.get_by_role("group", name="Guide")


def test_a_guide_marks_what_it_names_and_lets_its_reader_go_other_ways(open_page: Open) -> None:
    page = open_page("/games/war")
    guide, send = begin_a_guide(page, "war"), page.locator("[data-keep=send]")
    expect(guide).to_contain_text("Step 1 of 16")
    expect(page.locator(".attable")).to_have_count(1)
    expect(page.locator(".attable button", has_text="Hand the seat over")).to_have_count(0)
    expect(page.locator(".target.wanted")).to_have_attribute("data-place", "c2")
    page.locator(".target.wanted").click()
    expect(send).to_contain_text("Place a unit on C2")
    send.click()
    expect(guide).to_contain_text("Step 2 of 16")
    guide.get_by_role("button", name="Do it for me: Place a unit on D3").click()
    expect(guide).to_contain_text("Step 3 of 16")
    page.locator(".target.can:not(.wanted)").first.click()
    send.click()
    expect(guide).to_contain_text("You have left the guide")
    guide.get_by_role("button", name="Take it back").click()
    expect(guide).to_contain_text("Step 3 of 16")
    page.get_by_text("At the table").click()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_words_and_buttons_say_what_they_mean_to_the_pointer_the_keys_and_a_tap(open_page: Open, ada: Api) -> None:
    match = ada.ask("POST", "/v1/matches", {"guide": "war_of_the_worlds"})["id"]
    page = open_page(f"/m/{match}", ada.key, has_touch=True, color_scheme="dark")
    page.locator(".target.can").first.wait_for()
    word, note, about = page.locator("[data-term=income]").first, page.get_by_role("tooltip"), page.locator("#play .about")
    meant = "What the buildings of this side give"
    word.hover()
    expect(note).to_contain_text(meant)
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    word.focus()
    expect(note).to_contain_text(meant)
    page.locator("#play .choices button").first.focus()
    expect(note).to_be_hidden()
    expect(about).to_contain_text("Play: A card does one of its options.")
    word.tap()
    expect(note).to_contain_text(meant)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.locator("#play .choices button", has_text="Swap").hover()
    expect(about).to_contain_text("Swap: Once in a turn")
    expect(about.locator("a")).to_have_text("WOW-OFR-08")
    page.locator("#play .choices button", has_text="Swap").tap()
    expect(page.locator("#play .ask")).to_contain_text("Which card?")
    expect(about).to_contain_text("Swap: Once in a turn")
    expect(page.locator("#play .ask a")).to_have_text("WOW-OFR-08")


@pytest.mark.soak
@pytest.mark.parametrize("settings", [{}, PHONE], ids=["wide", "telephone"])
@pytest.mark.parametrize("game", SHORT)
def test_every_guide_is_played_to_its_end_by_what_it_marks(open_page: Open, game: str, settings: dict[str, Any]) -> None:
    page = open_page("/", **settings)
    guide, version = begin_a_guide(page, game), page.locator("#version")
    last = re.compile(r"Step (\d+) of \1[.]")
    while not last.search(guide.text_content() or ""):  # which waits for the guide while others act
        before, marked = version.text_content(), page.locator("#play .wanted:not(:disabled)")
        if not marked.count():
            marked = page.locator(".target.wanted, #the-panels .wanted")
        if marked.count():
            marked.first.click(force=True)
        elif (send := page.locator("[data-keep=send]:not(:disabled)")).count():
            send.click()
            expect(version).not_to_have_text(str(before))
    assert Axe().run(page).violations_count == 0


def test_what_is_not_possible_says_its_rule_and_reason_to_the_pointer_the_keys_and_a_tap(open_page: Open, ada: Api) -> None:
    seats = {"aliens": "me", "humans": "ai:random"}
    match = ada.ask("POST", "/v1/matches", {"game": "war_of_the_worlds", "seats": seats})["id"]
    page = open_page(f"/m/{match}", ada.key)
    turn, line = page.locator("#play .blocked button", has_text="End the turn"), page.locator("#why-not")
    turn.wait_for()
    expect(line).to_be_hidden()
    turn.hover()
    expect(line).to_contain_text("the turn cannot end yet")
    expect(line.locator("a")).to_have_text("WOW-TRN-05")
    for way in (turn.focus, lambda: turn.click(force=True)):
        line.evaluate("(line) => line.remove()")
        page.locator("#play .choices button").first.focus()
        way()
        expect(line).to_contain_text("the turn cannot end yet")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_arrow_keys_go_from_place_to_place_and_each_tells_its_content(open_page: Open, ada: Api) -> None:
    options = {"map_number": 4, "removed_symbols": ["wheel", "arrow"], "first_seat": "red"}  # on another map a walk may go to and fro
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}, "options": options})["id"]
    page = open_page(f"/m/{match}", ada.key)
    page.locator(".target.can").first.wait_for()
    page.keyboard.press("b")
    seen = set()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
        label = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
        assert label
        seen.add(label)
    assert len(seen) > 3
    place = page.locator(".target.can").first
    place.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#play .pick")).to_be_visible()


def test_a_refusal_is_shown_with_its_rule(open_page: Open, ada: Api) -> None:
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
    page = open_page(f"/m/{match}", ada.key)
    place = page.locator(".target.can").first
    place.wait_for()
    page.route("**/actions*", lambda route: route.continue_(post_data={"type": "place_unit", "tile": "z9"}))
    place.click(force=True)
    page.locator("#play [data-keep=send]").click()
    expect(page.locator("#play .wrong")).to_contain_text("WAR-")


def test_a_turn_is_drafted_undone_step_by_step_and_sent_at_once(open_page: Open, ada: Api) -> None:
    seats = {"humans": "ai:random", "aliens": "me"}
    match = ada.ask("POST", "/v1/matches", {"game": "war_of_the_worlds", "seats": seats})["id"]
    page = open_page(f"/m/{match}", ada.key)
    for _ in range(2):
        while not page.locator("#play [data-keep=draft]").count():
            page.locator("#play .choices button").first.click()
        page.locator("#play [data-keep=draft]").click()
        page.locator("#play [data-keep=draft]").wait_for(state="detached")
    steps = page.locator("#play .draft li")
    expect(steps).to_have_count(2)
    before = ada.ask("GET", f"/v1/matches/{match}")["version"]
    page.reload()
    expect(steps).to_have_count(2)
    page.keyboard.press("Backspace")
    expect(steps).to_have_count(1)
    page.locator("#play [data-keep=send]").click()
    expect(page.locator("#play .draft")).to_have_count(0)
    expect(page.locator("#version")).to_have_text(f"{before + 1} / {before + 1}")


def test_two_seats_of_one_player_are_played_in_turns(open_page: Open, ada: Api) -> None:
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
    page = open_page(f"/m/{match}", ada.key)
    seen = set()
    for _ in range(3):
        page.locator(".target.can").first.wait_for()
        seen.add(page.locator("#eyes").input_value())
        assert play_by_clicks(page, 1) == 1
    assert seen == {"red", "blue"}


def test_an_offer_is_answered_and_clocks_run(open_page: Open, ada: Api, service: private.Place) -> None:
    bob = Api(service.url, "Bob")
    clock = {"kind": "bank", "seconds": 900, "increment": 10}
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}, "clock": clock})["id"]
    bob.ask("POST", f"/v1/matches/{match}/seats/blue", {})
    page = open_page(f"/m/{match}", ada.key)
    expect(page.locator("#players .clock")).to_have_count(2)
    bob.ask("POST", f"/v1/matches/{match}/actions", {"type": "offer", "what": "draw"})
    page.get_by_role("button", name="Agree: a draw").click()
    expect(page.locator("#live")).to_have_attribute("data-state", "over")
    expect(page.get_by_role("button", name="Rematch with the seats turned")).to_be_visible()


def test_a_practice_match_begins_from_a_version_of_a_finished_one(open_page: Open, ada: Api, finished: str) -> None:
    page = open_page(f"/m/{finished}?at=12&viewer=humans", ada.key)
    page.get_by_role("button", name="Practise from here").click()
    page.wait_for_url(lambda address: finished not in address)
    match = page.url.rsplit("/", 1)[1]
    standing = ada.ask("GET", f"/v1/matches/{match}")
    assert "player" in standing["seats"]["humans"]


def test_a_dispute_is_raised_from_the_replay_and_judged_on_its_page(open_page: Open, ada: Api, service: private.Place) -> None:
    bob = Api(service.url, "Bob")
    rex, quin = (Api(service.url, name, service.admin_key) for name in ("Rex", "Quin"))
    options = {"map_number": 4, "removed_symbols": ["wheel", "arrow"], "first_seat": "red"}
    body = {"game": "war", "seats": {"red": "me", "blue": "open"}, "options": options, "signed": "required"}  # so every step is signed
    match = ada.ask("POST", "/v1/matches", body)["id"]
    bob.ask("POST", f"/v1/matches/{match}/seats/blue", {})
    page = open_page(f"/m/{match}", ada.key)
    page.locator(".target.can").first.wait_for()
    play_by_clicks(page, 1)
    page.get_by_role("button", name="One entry back").click()
    disputed = int(page.locator("#version").inner_text().split()[0])
    page.get_by_role("button", name="Dispute", exact=True).click()
    question = page.get_by_role("dialog", name="Dispute what happened")
    expect(question.get_by_label("Version")).to_have_value(str(disputed))
    assert Axe().run(page).violations_count == 0
    question.get_by_label("Version").fill(str(disputed + 1))
    place = question.get_by_label("What it is about").locator("option").nth(1)
    tile, name = place.get_attribute("value"), place.inner_text()
    question.get_by_label("What it is about").select_option(tile)
    question.get_by_label("What is wrong?").fill("Too lucky.")
    page.route("**/disputes*", lambda route: route.fulfill(status=422, json={"code": "x", "detail": "Not now."}), times=1)
    question.get_by_role("button", name="Dispute it").click()
    expect(question.get_by_role("alert")).to_have_text("Not now.")
    question.get_by_role("button", name="Dispute it").click()
    expect(question).to_have_count(0)
    (one,) = ada.ask("GET", f"/v1/matches/{match}/disputes")["disputes"]
    assert (one["version"], one["steps"][0]["event"]["field"]) == (disputed + 1, f"/tiles/{tile}")
    page.get_by_role("link", name="Read it").click()
    expect(page.locator("#yours")).to_contain_text("Withdraw")

    other = open_page(f"/m/{match}", bob.key)
    other.get_by_role("link", name="Read and answer").click()
    other.get_by_label("What do you say to it?").fill("Pure luck.")
    other.get_by_role("button", name="State it").click()
    expect(other.locator("#steps")).to_contain_text("Pure luck.")

    desk = open_page("/", rex.key, **PHONE)
    desk.get_by_role("button", name="Menu").click()
    assert Axe().run(desk).violations_count == 0
    desk.get_by_role("link", name="Disputes").click()
    row = desk.get_by_role("link", name=re.compile(f"Red disputes version {disputed + 1}"))
    row.wait_for()
    assert Axe().run(desk).violations_count == 0
    row.click()
    expect(desk.locator("#report")).to_contain_text("nothing is wrong")
    expect(desk.locator("#report")).to_contain_text(f"Why is it so: Tiles, {name}")
    expect(desk.locator("#entries [aria-current]")).to_contain_text("This is disputed.")
    expect(desk.locator("#boards img")).to_have_count(2)
    desk.wait_for_function("() => [...document.querySelectorAll('#boards img')].every((picture) => picture.naturalWidth > 0)")
    for theme in ("light", "dark"):
        desk.emulate_media(color_scheme=theme)
        found = Axe().run(desk)
        assert found.violations_count == 0, found.generate_report()
    assert desk.evaluate("document.documentElement.scrollWidth <= innerWidth")
    desk.get_by_role("button", name="Take the case").focus()  # from here on by keys
    desk.keyboard.press("Enter")
    expect(desk.locator("#steps")).to_contain_text("takes the case")
    desk.get_by_label("The dispute is rejected").focus()
    for key in ("ArrowDown", "Tab", "ArrowDown", "Tab"):  # upheld; of the remedies the next one; its version
        desk.keyboard.press(key)
    expect(desk.get_by_label("From which version?")).to_be_focused()
    desk.keyboard.press("Tab")
    desk.keyboard.type("Play it again.")
    desk.keyboard.press("Tab")
    desk.keyboard.press("Enter")
    expect(desk.locator("#state")).to_contain_text("Without an appeal")
    expect(desk.locator("#yours")).to_be_hidden()

    other.reload()
    other.get_by_label("Why is the ruling wrong?").fill("It was fair.")
    other.get_by_role("button", name="Appeal").click()
    expect(other.locator("#state")).to_contain_text("Another referee must rule")
    desk.reload()
    expect(desk.locator("#yours")).to_contain_text("you cannot rule on the appeal")
    last = open_page(f"/m/{match}/disputes/1", quin.key)
    last.get_by_label("The dispute is upheld").check()
    last.get_by_label("A seat forfeits").check()
    last.get_by_label("Which seat?").select_option("blue")
    last.get_by_label("Your reasons").fill("Blue was told before.")
    last.get_by_role("button", name="Rule", exact=True).click()
    expect(last.locator("#state")).to_contain_text("It is settled")
    assert ada.ask("GET", f"/v1/matches/{match}")["outcome"]["winners"] == ["red"]
    entries = ada.ask("GET", f"/v1/matches/{match}/entries?after={disputed + 1}")["entries"]
    steps = {"dispute", "state_side", "take_dispute", "rule_dispute", "appeal"}
    assert {entry["action"]["type"] for entry in entries if "signed" in entry} == steps


def test_the_newest_version_says_which_artificial_player_is_thinking(open_page: Open, ada: Api) -> None:
    """The server says it here in the name of one that takes its time. An earlier version does not say it."""
    match = ada.ask("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
    page = open_page(f"/m/{match}", ada.key)
    page.locator(".target.can").first.wait_for()
    expect(page.locator("#players")).not_to_contain_text("thinking")

    now = {**ada.ask("GET", f"/v1/matches/{match}"), "thinking": {"seat": "blue", "level": "expert", "since": 1}}
    page.route(re.compile(f"/v1/matches/{match}$"), lambda route: route.fulfill(json=now))  # at once: the page asks again when a test ends
    page.reload()
    expect(page.locator("#players li", has_text="Blue")).to_contain_text("Blue, you, thinking")
    expect(page.locator("#players li", has_text="Red")).not_to_contain_text("thinking")
    page.get_by_role("button", name="One entry back").click()
    expect(page.locator("#players")).not_to_contain_text("thinking")
