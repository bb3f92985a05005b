"""The bots of `examples/`: clients made from openapi.yaml, types checked strictly, and matches played against a real service."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from events.modules import python_environment
from service.supervisor.serve import what_is_missing
from tests.conftest import within
from tools import private

EXAMPLES = private.ROOT / "examples"
DESCRIPTION = private.ROOT / "openapi.yaml"
GAMES = ("war", "war_of_the_worlds", "war_of_civilizations")
BIN = Path(sys.executable).parent
OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH")

Run = Callable[..., str]


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """Run a command to its end, and return what it prints."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with private.service(tmp_path_factory.mktemp("examples"), *private.SMALL) as place:
        yield place.url


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service whose answers have grown (`tests/docs/grown.py`): a second web server beside that of a service."""
    data = tmp_path_factory.mktemp("grown")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with private.service(data, *private.SMALL):
        environment = {**python_environment(), "WARLEDGER_DATA": str(data), "WARLEDGER_LOG_REQUESTS": "0"}
        command = [sys.executable, "-m", "service.supervisor.web", "--port", str(port), "--application", "tests.docs.grown:create"]
        web = subprocess.Popen(command, env=environment, cwd=private.ROOT)
        try:
            within(30, lambda: not what_is_missing(f"http://127.0.0.1:{port}"))
            yield f"http://127.0.0.1:{port}"
        finally:
            web.terminate()
            web.wait(20)


@pytest.fixture(scope="module")
def generated_bot(tmp_path_factory: pytest.TempPathFactory, typed_client: Path) -> Path:
    """A bot with a client that was made from openapi.yaml."""
    folder = tmp_path_factory.mktemp("python")
    shutil.copy(Path(__file__).with_name("generated_bot.py"), folder / "bot.py")
    (folder / "ledger_client").symlink_to(typed_client / "ledger_client")
    return folder


def npm() -> str:
    """Return the npm command. Skip the test without Node and npm."""
    node, found = shutil.which("node"), shutil.which("npm")
    if node is None or found is None:
        pytest.skip("node and npm are not installed")
    if int(run(node, "--version", folder=EXAMPLES).removeprefix("v").split(".")[0]) < 20:
        pytest.skip("node is older than version 20")
    return found


def install(folder: Path, *command: str) -> None:
    """Let npm install packages into a folder. Skip the test if they cannot be had."""
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    installed = subprocess.run([npm(), *command, *options], cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    if any(reason in installed.stderr for reason in OFFLINE):
        pytest.skip("the npm packages cannot be fetched")
    assert installed.returncode == 0, installed.stderr


NOTICED = """
// @ts-expect-error a seat of another game
await client.create("war", { red: "me", aliens: "me" });
// @ts-expect-error an option of another game
await client.create("war", { red: "me", blue: "me" }, { options: { round_limit: 3 } });
for await (const { events } of client.match("m").entries()) {
  // @ts-expect-error no event has this type
  if (events.some(({ type }) => type === "castled")) break;
}
for await (const news of client.news()) {
  if (news.kind === "turn") console.log(news.data.seat, news.data.deadline);
  // @ts-expect-error a match that is over has no deadline
  if (news.kind === "over") console.log(news.data.deadline);
}
"""


@pytest.fixture(scope="module")
def typescript_bot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The TypeScript bot, built, with the program in the README of the SDK. Skip without Node and npm, or without the packages."""
    folder = tmp_path_factory.mktemp("typescript")
    bot = folder / "examples" / "typescript_bot"
    shutil.copytree(EXAMPLES / "typescript_bot", bot, ignore=shutil.ignore_patterns("node_modules", "built"))
    shutil.copytree(private.ROOT / "sdk" / "js", folder / "sdk" / "js")
    program = re.search(r"```ts\n(.*?)```", (folder / "sdk" / "js" / "README.md").read_text(), re.DOTALL)
    assert program
    (bot / "dice.ts").write_text(program[1])
    (bot / "noticed.ts").write_text(
        f'import {{ Client }} from "warledger-client";\nconst client = new Client("http://localhost");{NOTICED}'
    )
    settings = json.loads((bot / "tsconfig.json").read_text())
    (bot / "tsconfig.json").write_text(json.dumps({**settings, "files": ["bot.ts", "dice.ts", "noticed.ts"]}))
    install(bot, "ci")
    run(npm(), "run", "build", "--", "--skipLibCheck", folder=bot)
    return bot


@pytest.mark.soak
def test_a_bot_over_a_generated_client_has_strict_types_without_a_cast(generated_bot: Path) -> None:
    run(BIN / "mypy", "--strict", "--follow-imports=silent", "bot.py", folder=generated_bot, MYPYPATH=str(generated_bot))
    assert not re.search(r"\bcast\b|\bAny\b|type: ignore", (generated_bot / "bot.py").read_text())


@pytest.mark.soak
def test_the_generated_client_in_python_has_strict_types(generated_bot: Path) -> None:
    """A model whose list had the model's own name would be an error."""
    assert "no issues found" in run(BIN / "mypy", "--strict", "ledger_client", folder=generated_bot)


@pytest.mark.soak
def test_the_types_for_typescript_are_sound(typescript_bot: Path) -> None:
    """The bot is built without a look at the declarations that it uses."""
    run(npm(), "exec", "tsc", "--", "--noEmit", folder=typescript_bot)


@pytest.mark.soak
def test_linters_find_nothing_in_the_description(tmp_path: Path) -> None:
    install(tmp_path, "install", "@stoplight/spectral-cli@6.16.3", "@redocly/cli@2.77.0")
    (tmp_path / ".spectral.yaml").write_text('extends: ["spectral:oas"]\n')
    commands, quiet = tmp_path / "node_modules" / ".bin", {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    assert "No results" in run(commands / "spectral", "lint", "--fail-severity", "hint", DESCRIPTION, folder=tmp_path)
    found = run(commands / "redocly", "lint", "--extends", "recommended", "--format", "json", DESCRIPTION, folder=tmp_path, **quiet)
    assert re.sub(r"\s", "", found[found.index("{") :]).startswith('{"totals":{"errors":0,"warnings":0,"ignored":0}')


@pytest.mark.soak
def test_strict_types_notice_a_wrong_seat(generated_bot: Path) -> None:
    wrong = (generated_bot / "bot.py").read_text().replace("(red=ME, blue=AI)", "(aliens=ME, blue=AI)")
    (generated_bot / "wrong.py").write_text(wrong)
    command = [BIN / "mypy", "--strict", "--follow-imports=silent", "wrong.py"]
    environment = {**os.environ, "MYPYPATH": str(generated_bot)}
    done = subprocess.run(command, cwd=generated_bot, env=environment, capture_output=True, text=True, check=False)
    assert 'Unexpected keyword argument "aliens"' in done.stdout


@pytest.mark.soak
@pytest.mark.parametrize("game", GAMES)
def test_a_bot_over_a_generated_client_plays_to_the_end(generated_bot: Path, url: str, game: str) -> None:
    check(url, run(sys.executable, "bot.py", url, "--game", game, folder=generated_bot, PYTHONSAFEPATH=""))


def test_the_typescript_bot_has_no_cast() -> None:
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", (EXAMPLES / "typescript_bot" / "bot.ts").read_text(), flags=re.DOTALL)
    assert not re.search(r"\bas\b|\bany\b|@ts-|!\.|<any>", code)


@pytest.mark.soak
@pytest.mark.parametrize("game", GAMES)
def test_the_typescript_bot_plays_to_the_end(typescript_bot: Path, url: str, game: str) -> None:
    printed = run("node", "built/bot.js", url, "--game", game, "--receipts", "kept", folder=typescript_bot)
    check(url, printed)
    receipts = typescript_bot / "kept" / f"{printed.split()[1]}.jsonl"
    command = [sys.executable, EXAMPLES / "check_chain.py", url, printed.split()[1], "--receipts", receipts]
    assert "form one chain" in run(*command, folder=EXAMPLES)


GROWN = """
import sys
from ledger_client import AuthenticatedClient, Client, models
from ledger_client.api.games import get_game
from ledger_client.api.history import get_entries
from ledger_client.api.matches import create_match
from ledger_client.api.play import act, get_state
from ledger_client.api.players import create_player

url = sys.argv[1]
key = create_player.sync(client=Client(url), body=models.PlayerRequest(name="Ada")).key
client = AuthenticatedClient(url, token=key)
seats = models.WarNewMatchSeats(red=models.SeatRequest.ME, blue=models.SeatRequest.AIGREEDY)
match = create_match.sync(client=client, body=models.WarNewMatch("war", seats))
print("status", match.status)
print("occupant", match.seats["blue"].ai, match.seats["blue"]["weather"])
print("levels", [level.id for level in get_game.sync("war", client=client).levels][-1])
while (page := get_entries.sync(match.id, client=client, after=1, wait=9)).version < 2:
    pass
events = [event for entry in page.entries for event in entry.events]
print("event", *{(event.type_, event["to"]) for event in events if isinstance(event, models.OtherType)})
assert len({type(event) for event in events}) > 3 and all(event["weather"] == "rain" for event in events if "weather" in event)
assert page.entries[0]["weather"] == "rain"
state = get_state.sync(match.id, client=client)
print("state", type(state).__name__, state["weather"], type(state.view).__name__, state.view.phase, state.view["weather"])
refused = [act.sync(match.id, client=client, body=models.WarEndMoves("end_moves")) for _ in range(5)]
print("code", *(one.code for one in refused if isinstance(one, models.Problem) and one.code == "too_wet"))
"""


def test_a_client_of_today_reads_answers_that_have_grown(generated_bot: Path, grown: str) -> None:
    (generated_bot / "grown.py").write_text(GROWN)
    printed = run(sys.executable, "grown.py", grown, folder=generated_bot, PYTHONSAFEPATH="").splitlines()
    assert printed == [
        "status adjourned",
        "occupant grandmaster rain",
        "levels grandmaster",
        "event ('weather_changed', 'rain')",
        "state WarState rain WarView monsoon rain",
        "code too_wet",
    ]


SDK_GROWN = """
import random, sys
from warledger_client import Client

client = Client(sys.argv[1], sign=False)  # a signature is over a chain that was checked
client.register("Ada")
match = client.create("war", {"red": "me", "blue": "ai:greedy"})
print("status", match.last["status"])
codes = set()
for turn in match.turns(check=False):  # what has grown is in no record, so the digests do not cover it
    turn.act(random.choice(turn.choices))
    codes |= {turn.refused.code} if turn.refused else set()
    if codes:
        match.act({"type": "resign"})
print("codes", *sorted(codes))
print("won", *match.outcome["winners"])
"""


def test_the_python_sdk_goes_on_with_answers_that_have_grown(grown: str, tmp_path: Path) -> None:
    printed = run(sys.executable, "-c", SDK_GROWN, grown, folder=tmp_path, PYTHONPATH=str(private.ROOT / "sdk" / "python")).splitlines()
    assert printed[:2] == ["status adjourned", "codes too_wet"]
    assert printed[2].startswith("won ")


@pytest.mark.soak
@pytest.mark.parametrize("game", GAMES[:1])
def test_the_typescript_bot_goes_on_with_answers_that_have_grown(typescript_bot: Path, grown: str, game: str) -> None:
    """The chain is left unchecked: what has grown here is shown, and stands in no entry."""
    check(grown, run("node", "built/bot.js", grown, "--game", game, "--unchecked", folder=typescript_bot))


def check(url: str, printed: str) -> None:
    """Fail unless a bot has printed every entry of its match, up to its outcome."""
    first, *entries, last = printed.splitlines()
    match = requests.get(f"{url}/v1/matches/{first.removeprefix('match ')}", timeout=10).json()
    assert match["status"] == "over"
    versions = [int(line.split()[0]) for line in entries]
    assert versions == list(range(1, len(entries) + 1))
    assert last == f"won by {' and '.join(match['outcome']['winners'])}: {match['outcome']['reason']}"
