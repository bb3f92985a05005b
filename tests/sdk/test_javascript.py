"""sdk/js: its own tests under Node, without a server and against one; its size; and that its types are those of openapi.yaml."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sdk.python.warledger_client import Receipts
from service.api.openapi import described
from tests.docs.test_examples import install
from tools import node, private, release, typescript

SDK = private.ROOT / "sdk" / "js"
TESTS = Path(__file__).parent / "javascript"
NODE = node.binary() or ""
BUDGET = 20_000

with_node = pytest.mark.skipif(not NODE, reason="there is no Node here: install the packages for tests, or Node 20.3")


def ended(*command: str | Path, **environment: str) -> str:
    """Run a command to its end. Return what it prints."""
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


def bot() -> str:
    """Return the bot in README.md."""
    code = re.search(r"```js\n(// bot.mjs.*?)```", (SDK / "README.md").read_text(), re.DOTALL)
    assert code
    return code[1]


@with_node
def test_what_needs_no_server() -> None:
    ended(NODE, "--test", *[TESTS / f"{name}.test.mjs" for name in ("alone", "comparing", "signing")])


@with_node
def test_both_clients_read_the_same_folder(tmp_path: Path) -> None:
    key = Receipts(tmp_path).signing_key("p1")
    program = f'import {{ Folder }} from "{SDK}/folder.js"; console.log((await new Folder(process.argv[1]).signingKey("p1")).publicKey);'
    assert ended(NODE, "--input-type=module", "--eval", program, tmp_path).strip() == key.public
    other = program.replace('"p1"', '"p2"')
    assert ended(NODE, "--input-type=module", "--eval", other, tmp_path).strip() == Receipts(tmp_path).signing_key("p2").public


@with_node
def test_what_a_server_answers(place: private.Place) -> None:
    ended(NODE, "--test", TESTS / "served.test.mjs", WARLEDGER_URL=place.url)


def test_what_a_browser_loads_is_small() -> None:
    """As it is, with comments, each module by itself: no bundler has made it smaller."""
    modules = [path.read_bytes() for path in SDK.glob("*.js") if path.name != "folder.js"]
    assert 0 < sum(len(gzip.compress(module)) for module in modules) < BUDGET


def test_the_types_are_those_of_the_description() -> None:
    assert (SDK / "types.d.ts").read_text() == typescript.module(described()), "run ./run openapi"


def test_a_package_has_every_module_and_its_types() -> None:
    package = json.loads((SDK / "package.json").read_text())
    named = {path for export in package["exports"].values() for path in export.values()}
    assert all((SDK / path).is_file() for path in named)
    assert "dependencies" not in package


@with_node
@pytest.mark.parametrize(
    "game", ["war", *(pytest.param(game, marks=pytest.mark.soak) for game in ("war_of_the_worlds", "war_of_civilizations"))]
)
def test_a_bot_of_fifteen_lines_plays_a_match_of_any_game(place: private.Place, tmp_path: Path, game: str) -> None:
    code = bot()
    assert len(code.strip().splitlines()) <= 15
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "warledger-client").symlink_to(SDK)
    (tmp_path / "bot.mjs").write_text(code.replace("http://127.0.0.1:8000", place.url))
    assert "winners" in ended(NODE, tmp_path / "bot.mjs", game)


@with_node
def test_the_package_of_a_release_installs_and_has_all_that_it_exports(tmp_path: Path) -> None:
    (tmp_path / "package.tgz").write_bytes(release.npm_package(SDK, 1_790_000_000))
    assert release.npm_package(SDK, 1_790_000_000) == (tmp_path / "package.tgz").read_bytes()
    install(tmp_path, "install", "./package.tgz")
    (tmp_path / "program.mjs").write_text(
        'import { Client } from "warledger-client"; import { Folder } from "warledger-client/folder"; console.log(Client, Folder);'
    )
    assert ended(NODE, tmp_path / "program.mjs") == "[class Client] [class Folder]\n"
    named = {path.name for path in (tmp_path / "node_modules" / "warledger-client").iterdir()}
    assert named == {"package.json", "README.md", *(path.name for path in SDK.glob("*.js")), *(path.name for path in SDK.glob("*.d.ts"))}


@pytest.mark.soak
def test_the_bot_under_deno_with_the_modules_of_the_server(place: private.Place, tmp_path: Path) -> None:
    deno = shutil.which("deno")
    if deno is None:
        install(tmp_path, "install", "deno@2.9.6")
        deno = str(tmp_path / "node_modules" / ".bin" / "deno")
    code = bot().replace("http://127.0.0.1:8000", place.url).replace('"warledger-client"', f'"{place.url}/sdk/warledger.js"')
    (tmp_path / "bot.mjs").write_text(code)
    host = place.url.removeprefix("http://")
    assert "winners" in ended(deno, "run", f"--allow-net={host}", f"--allow-import={host}", tmp_path / "bot.mjs", "war")
