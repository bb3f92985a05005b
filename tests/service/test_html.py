"""The pages as HTML: what they may load, what they never hold, how large they are, and what they say of failures."""

from __future__ import annotations

import gzip
import json
import re
import struct
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

import web
from events.platform import Platform
from games import GAMES
from games.picture import picture
from service.api.routes import OPERATIONS
from service.app import create_app
from service.http.addresses import networks
from service.http.settings import Settings
from service.http.static import of_pages
from table.data import LEVELS
from tests.service.conftest import Caller, worlds

STATIC = Path(next(iter(web.__path__))) / "static"
BUDGET = 60_000
# Loaded where a reader audits, disputes, asks what a level thinks, sees what is not possible, is guided, looks a word up, keeps pictures,
# begins a match, invites, says a phrase, looks at a player, solves a puzzle, or is called.
ON_REQUEST = {"analysing.css", "analysing.js", "animating.js", "auditing.css", "auditing.js", "checking.js", "disputing.js", "gifenc.js"}
ON_REQUEST |= {"blocked.js", "case.js", "desk.js", "disputes.css", "pictures.js", "reasons.js", "signkeys.js", "turning.js", "why.js"}
ON_REQUEST |= {"creating.js", "guiding.js", "inviting.js", "leanqr.js", "phrases.js", "player.css", "player.js", "terms.js"}
ON_REQUEST |= {"alarming.js", "calling.js", "foreign.js", "offline.js", "puzzle.css", "puzzle.js", "sounds.js"}


class Tags(HTMLParser):
    """Every tag of a page with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


@pytest.fixture
def client(anybody: Caller) -> FlaskClient:
    return anybody.client


@pytest.fixture
def match(platform: Platform, ada: Caller, ben: Caller) -> str:
    return worlds(platform, ada, ben)


def pages(match: str) -> list[str]:
    return [
        "/",
        "/?status=playing&game=war",
        f"/m/{match}",
        f"/m/{match}?at=5",
        f"/embed/{match}",
        f"/m/{match}/disputes/1",
        "/disputes",
        "/puzzles",
        *[f"/games/{game}" for game in GAMES],
        *[f"/games/{game}/rulings" for game in GAMES],
    ]


def test_pages_load_nothing_from_elsewhere_and_have_no_script_or_style_of_their_own(client: FlaskClient, match: str) -> None:
    for path in pages(match):
        answer = client.get(path)
        assert (answer.status_code, answer.mimetype) == (200, "text/html")
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert ("frame-ancestors *" in policy) == path.startswith("/embed/")
        found = Tags(answer.text).found
        for tag, attributes in found:
            assert tag != "style"
            assert "style" not in attributes
            assert not [name for name in attributes if name.startswith("on")]
            assert tag != "script" or (attributes["src"] or "").startswith("/static/")
            if tag in ("link", "img", "script") and attributes.get("rel") != "alternate":  # which no browser loads
                assert (attributes.get("href") or attributes.get("src") or "").startswith("/")
        ids = [attributes["id"] for _, attributes in found if "id" in attributes]
        assert len(ids) == len(set(ids)), path


def test_every_file_that_a_page_or_a_module_names_is_served(client: FlaskClient, match: str) -> None:
    for path in pages(match):
        for tag, attributes in Tags(client.get(path).text).found:
            address = attributes.get("src") or (attributes.get("href") if tag == "link" and attributes.get("rel") == "stylesheet" else None)
            if address is not None and not address.startswith("/v1/matches/"):
                answer = client.get(address)
                assert answer.status_code == 200, address
                assert "max-age" in answer.headers["Cache-Control"]
    for module in STATIC.glob("*.js"):
        for name in re.findall(r'from "\./([\w.]+)"', module.read_text("utf-8")):
            assert (STATIC / name).exists(), f"{module.name} imports {name}"


def test_every_page_names_the_icon_and_favicon_ico_is_the_same(client: FlaskClient, match: str) -> None:
    icon = client.get("/favicon.ico", headers={"Authorization": "Bearer of nothing"})
    assert (icon.status_code, icon.mimetype) == (200, "image/svg+xml")
    assert icon.data == (STATIC / "icon.svg").read_bytes()
    assert icon.headers["Cache-Control"] == "no-cache"
    assert "default-src 'none'" in icon.headers["Content-Security-Policy"]
    assert client.get("/favicon.ico", headers={"If-None-Match": icon.headers["ETag"]}).status_code == 304
    for path in [*pages(match), "/check", "/docs", "/m/mabcdefghijklmnop"]:
        links = [attributes for tag, attributes in Tags(client.get(path).text).found if tag == "link"]
        named = [link["href"] for link in links if link["rel"] == "icon"]
        assert len(named) == 1, path
        assert client.get(str(named[0])).data == icon.data


def test_the_service_worker_is_of_this_release_and_is_asked_for_anew(client: FlaskClient, match: str) -> None:
    answer = client.get("/worker.js")
    assert (answer.mimetype, answer.headers["Cache-Control"]) == ("text/javascript", "no-cache")
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; connect-src 'self'"
    assert client.get("/worker.js", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    release = json.loads(answer.text.partition("const RELEASE=")[2].partition(";\n")[0])
    assert f"{release['folder']}/match.js" in client.get(f"/m/{match}").text
    assert release["games"].items() >= {game.id: game.title for game in GAMES.values()}.items()
    for path in release["files"]:
        assert "immutable" in client.get(path).headers["Cache-Control"], path
    assert len(release["files"]) > 40


def test_the_pages_can_be_installed(client: FlaskClient, match: str) -> None:
    for path in pages(match):
        (address,) = [link["href"] for tag, link in Tags(client.get(path).text).found if tag == "link" and link["rel"] == "manifest"]
    answer = client.get(str(address))
    assert answer.mimetype == "application/manifest+json"
    manifest = json.loads(answer.data)
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == ("/", "/", "standalone")
    kinds = {icon["type"]: client.get(f"{str(address).rpartition('/')[0]}/{icon['src']}") for icon in manifest["icons"]}
    assert {kind: icon.mimetype for kind, icon in kinds.items()} == {"image/svg+xml": "image/svg+xml", "image/png": "image/png"}
    assert struct.unpack(">II", kinds["image/png"].data[16:24]) == (512, 512)


def test_pages_of_other_origins_load_the_client_from_an_address_that_stays(client: FlaskClient) -> None:
    names, seen = ["warledger.js"], set[str]()
    while names:
        answer = client.get(f"/sdk/{(name := names.pop())}")
        assert (answer.status_code, answer.mimetype) == (200, "text/javascript")
        assert (answer.headers["Access-Control-Allow-Origin"], answer.headers["Cache-Control"]) == ("*", "no-cache")
        assert client.get(f"/sdk/{name}", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
        seen.add(name)
        names += [found for found in re.findall(r'from "\./([\w.]+)"', answer.text) if found not in seen]
    assert len(seen) > 5
    assert client.get("/sdk/package.json").status_code == 404


def test_all_that_is_no_picture_is_small() -> None:
    files = of_pages(GAMES)
    parts = [files[path.name] for path in (*STATIC.glob("*.js"), *STATIC.glob("*.css")) if path.name not in ON_REQUEST]
    assert sum([len(gzip.compress(part)) for part in parts]) < BUDGET


def test_modules_are_sent_as_they_stand_but_for_comments_and_indents() -> None:
    for name, sent in of_pages(GAMES).items():
        if name.endswith(".js"):
            lines = [line.strip() for line in (STATIC / name).read_text("utf-8").splitlines()]
            assert not [line for line in lines if line.replace('"`"', "").count("`") % 2], f"a text of {name} spans lines"
            left = iter(lines)
            assert all(line in left for line in sent.decode().rstrip().split("\n")), name  # each in its turn
            assert sent.decode().count("`") >= sum([line.count("`") for line in lines if not line.startswith(("//", "*", "/*"))]), name


def test_a_page_is_a_spectators_and_holds_no_key(client: FlaskClient, match: str, ada: Caller) -> None:
    page = client.get(f"/m/{match}", headers={"Authorization": f"Bearer {ada.key}"})
    assert ada.key is not None
    assert ada.key not in page.text
    assert page.headers["Vary"] == "Authorization, Accept-Language, Cookie"
    assert client.get(f"/m/{match}?viewer=aliens").text == client.get(f"/m/{match}?viewer=aliens").text
    hands = re.findall(r'id="panel-aliens-hand[^"]*"', client.get(f"/m/{match}?viewer=humans").text)
    assert hands == re.findall(r'id="panel-aliens-hand[^"]*"', client.get(f"/m/{match}").text)


def test_a_failure_is_a_page_with_its_sentence(client: FlaskClient) -> None:
    for path, status in (("/m/mabcdefghijklmnop", 404), ("/games/chess", 404), ("/?status=wrong", 400), ("/?mine=true", 401)):
        answer = client.get(path)
        assert (answer.status_code, answer.mimetype) == (status, "text/html")
        assert "<h1>" in answer.text


def test_oembed_tells_how_to_show_a_match_of_this_server_alone(client: FlaskClient, match: str) -> None:
    told = client.get(f"/oembed?url=http://localhost/m/{match}&maxwidth=300").json
    assert (told["type"], told["version"], told["width"]) == ("rich", "1.0", 300)
    assert f'src="http://localhost/embed/{match}"' in told["html"]
    assert f"/oembed?url=http%3A//localhost/m/{match}" in client.get(f"/m/{match}").text
    for address in (
        f"http://elsewhere/m/{match}",
        "http://localhost/v1/games",
        f"javascript://localhost/m/{match}",
        "http://localhost/m/mabcdefghijklmnop",
    ):
        assert client.get("/oembed", query_string={"url": address}).status_code == 404


def test_a_match_is_told_in_chats_by_its_players_and_an_image_and_its_modules_are_asked_for_together(
    client: FlaskClient, match: str
) -> None:
    found = Tags(client.get(f"/m/{match}").text).found
    told = {attributes["property"]: attributes["content"] for tag, attributes in found if tag == "meta" and "property" in attributes}
    assert told["og:title"] == "War of the Worlds: The New Wave: Ada, Ben"
    image = client.get(str(told["og:image"]))
    assert (image.mimetype, image.data[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
    asked = {Path(str(attributes["href"])).name for tag, attributes in found if tag == "link" and attributes.get("rel") == "modulepreload"}
    assert {"board.js", "frames.js", "site.js", "asking.js"} <= asked
    assert asked.isdisjoint(ON_REQUEST)


def told(client: FlaskClient, match: str, origin: str, **environ: str) -> str:
    """Return what oEmbed and the page of a match tell of where the service is, and fail unless they agree."""
    answer = client.get(f"/oembed?url={origin}/m/{match}", environ_overrides=environ)
    assert answer.status_code == 200, answer.text
    found = answer.json["provider_url"].removesuffix("/")
    page = client.get(f"/m/{match}", environ_overrides=environ).text
    assert f'src="{found}/embed/{match}"' in answer.json["html"]
    assert f'<meta property="og:url" content="{found}/m/{match}">' in page
    assert f'href="{found}/oembed?url={quote(f"{found}/m/{match}")}"' in page
    return str(found)


def test_the_operators_address_is_told_whatever_a_client_says(platform: Platform, match: str) -> None:
    client = create_app(platform, Settings(log_requests=False, url="https://play.example")).test_client()
    for host in ("play.example", "evil.example", 'a"b', "127.0.0.1:8000"):
        lies = {"HTTP_HOST": host, "HTTP_X_FORWARDED_HOST": "evil.example", "HTTP_X_FORWARDED_PROTO": "http"}
        assert told(client, match, "http://play.example", **lies) == "https://play.example"
        assert client.get(f"/oembed?url=https://evil.example/m/{match}", environ_overrides=lies).status_code == 404
    assert client.get(f"/oembed?url=https://Play.example/m/{match}").headers["Cache-Control"].startswith("public")


def test_a_trusted_proxy_tells_where_the_service_is_and_nobody_else(platform: Platform, match: str) -> None:
    client = create_app(platform, Settings(log_requests=False, trusted_proxies=networks(["10.0.0.0/8"]))).test_client()
    behind = {"HTTP_HOST": "inside:8000", "HTTP_X_FORWARDED_PROTO": "https", "HTTP_X_FORWARDED_HOST": "Play.example"}
    assert told(client, match, "https://play.example", REMOTE_ADDR="10.0.0.1", **behind) == "https://play.example"
    assert told(client, match, "http://inside:8000", REMOTE_ADDR="192.0.2.1", **behind) == "http://inside:8000"
    several = {**behind, "HTTP_X_FORWARDED_PROTO": "http, https", "HTTP_X_FORWARDED_HOST": "evil.example, play.example"}
    assert told(client, match, "https://play.example", REMOTE_ADDR="10.0.0.1", **several) == "https://play.example"
    nonsense = {**behind, "HTTP_X_FORWARDED_PROTO": "javascript", "HTTP_X_FORWARDED_HOST": "a/b"}
    assert told(client, match, "http://inside:8000", REMOTE_ADDR="10.0.0.1", **nonsense) == "http://inside:8000"


def test_what_a_client_says_is_in_no_answer_that_caches_give_to_others(platform: Platform, client: FlaskClient, match: str) -> None:
    """Every public answer to a stranger is the same whatever host he names."""
    paths = ["/", "/games/war", "/check", f"/m/{match}", f"/embed/{match}", "/docs", "/openapi.json", "/openapi.yaml"]
    paths += [each.path for each in OPERATIONS if each.method == "GET" and each.key != "needed" and "{" not in each.path]
    paths += [f"/oembed?url=http://evil.example/m/{match}"]
    public = 0
    for path in paths:
        lies = {"HTTP_HOST": "evil.example", "HTTP_X_FORWARDED_HOST": "evil.example", "HTTP_X_FORWARDED_PROTO": "gopher"}
        answer = client.get(path, environ_overrides=lies)
        if "public" in answer.headers.get("Cache-Control", ""):
            public += 1
            assert b"evil.example" not in answer.data, path
            assert "evil.example" not in str(answer.headers), path
    assert public > 5
    refused = client.get("/oembed", query_string={"url": f"http://evil.example/m/{match}"}, environ_overrides={"HTTP_HOST": "evil.example"})
    assert refused.headers["Cache-Control"] == "private, no-cache"


def test_names_in_pages_are_text_and_nothing_else(client: FlaskClient, ada: Caller) -> None:
    assert ada.ask("PATCH", "/v1/players/me", {"name": '"><script>alert(1)</script>'}).status_code == 200
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}}).json["id"]
    for path in (f"/m/{match}", "/"):
        assert "<script>alert" not in client.get(path).text


def test_the_lobby_lists_what_its_filters_ask_for(client: FlaskClient, match: str, ada: Caller) -> None:
    assert match in client.get("/?part=list&status=playing&game=war_of_the_worlds").text
    assert match not in client.get("/?part=list&status=open").text
    assert match not in client.get("/?part=list&game=war").text
    assert ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}, "signed": "required"}).status_code == 201
    assert "moves must be signed" in client.get("/?part=list&status=open").text
    assert "moves must be signed" not in client.get("/?part=list&status=playing").text
    mine = client.get("/?part=list&mine=true", headers={"Authorization": f"Bearer {ada.key}"}).text
    assert match in mine
    assert "<html" not in mine


def test_every_rule_of_a_game_has_an_anchor(client: FlaskClient) -> None:
    for game in GAMES:
        page = client.get(f"/games/{game}").text
        for rule in client.get(f"/v1/games/{game}/rules").json["rules"]:
            assert f'id="{rule["id"]}"' in page


def test_the_lobby_the_rules_and_a_match_say_the_goal_of_the_game(client: FlaskClient, match: str) -> None:
    told = picture(GAMES["war_of_the_worlds"].folder)
    for path, times in (("/", 1), ("/?part=form", 1), ("/games/war_of_the_worlds", 1), (f"/m/{match}", 1)):
        text = client.get(path).text
        assert [text.count(one) for one in (told.goal, told.length, told.weight)] == [times] * 3


def test_artificial_players_have_the_names_of_their_levels(client: FlaskClient, ada: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:novice"}}).json["id"]
    form, page = client.get("/?part=form").text, client.get(f"/m/{match}").text
    assert '<option value="ai:strong">AI, Hard</option>' in form
    for told in LEVELS.values():
        assert f"<dt>{told.name}</dt><dd>{told.about}</dd>" in form
        assert f"AI, {told.name}" in page
    assert "AI, Easy <small>Blue" in page
    assert not re.search(rf"AI, ({'|'.join(LEVELS)})", form + page)


def test_pages_are_in_the_language_that_their_reader_has_chosen_or_else_prefers(client: FlaskClient, match: str) -> None:
    def language(path: str) -> str | None:
        answer = client.get(path, headers={"Accept-Language": "ru;q=0.9, en;q=0.5"})
        (page,) = [attributes for tag, attributes in Tags(answer.text).found if tag == "html"]
        assert answer.headers["Content-Language"] == page["lang"]
        assert bool({"Играть", "на Warledger"} & set(re.findall(r"Играть|на Warledger", answer.text))) == (page["lang"] == "ru")
        return page["lang"]

    assert {language(path) for path in ("/", f"/m/{match}", f"/embed/{match}", "/games/war", "/check")} == {"ru"}
    for chosen, shown in (("en", "en"), ("xx", "ru")):
        client.set_cookie("language", chosen)
        assert language(f"/m/{match}") == shown


def test_scripts_get_the_texts_that_modules_have_in_the_language_of_the_page(client: FlaskClient) -> None:
    assert "data-texts" not in client.get("/").text
    page = Tags(client.get("/", headers={"Accept-Language": "ru"}).text).found
    (address,) = [attributes["data-texts"] for tag, attributes in page if tag == "html"]
    assert {"rel": "preload", "href": address, "as": "fetch", "crossorigin": None} in [
        attributes for tag, attributes in page if tag == "link"
    ]
    answer = client.get(str(address))
    assert (answer.mimetype, "immutable" in answer.headers["Cache-Control"]) == ("application/json", True)
    assert answer.json["Version {version}"] == "Версия {version}"
    assert sorted(answer.json["{count} receipt"]) == ["few", "many", "one"]
    assert "Skip to the content" not in answer.json  # which only templates have
    (manifest,) = [attributes["href"] for tag, attributes in page if tag == "link" and attributes["rel"] == "manifest"]
    told = client.get(str(manifest))
    assert (told.mimetype, told.json["lang"], told.json["start_url"]) == ("application/manifest+json", "ru", "/")
    assert told.json["description"] != client.get(str(manifest).replace(".ru", "")).json["description"]


def test_the_service_worker_of_a_language_keeps_what_it_shows_apart(client: FlaskClient) -> None:
    def release(query: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(client.get(f"/worker.js{query}").text.partition("const RELEASE=")[2].partition(";\n")[0])
        return found

    english, russian = release(""), release("?language=ru")
    assert english == release("?language=en") == release("?language=xx")
    assert english["mark"] != russian["mark"]
    assert (english["texts"], russian["texts"]["It is your turn."]) == ({}, "Ваш ход.")
    (texts,) = set(russian["files"]) - set(english["files"])
    assert client.get(texts).json
