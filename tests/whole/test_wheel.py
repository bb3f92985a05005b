"""The wheel, installed into an empty environment: it serves, a match is played and audited, and the programs of two pages of docs/ run.

The packages that it needs are those of the tests; one test of `./run soak` fetches them. Where matches are judged, only PyNaCl is there.
"""

from __future__ import annotations

import ast
import csv
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import NamedTuple
from zipfile import ZipFile

import pytest
from werkzeug.serving import make_server

from events import accounts, play
from events.notary import bulk, collecting
from events.platform import Platform
from games import GAMES
from record.rules import content_hash
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import within
from tests.service.test_bulk import collected
from tools import private
from tools.processes import family
from tools.release import version_of
from tools.wheel import FOLDERS, NotMovable, files, moved

VERSION = version_of(private.ROOT)
PACKAGES = Path(sysconfig.get_path("purelib"))
PAGE = (private.ROOT / "docs" / "data-scientist.md").read_text(encoding="utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0]
AGENT = (private.ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
PROGRAMS = {text.split()[1]: text for text in re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)}
NAMING = {"full_name", "map", "removesuffix"}  # the functions that are given the name that a module has in a checkout
FOR_JUDGES = ("nacl", "cffi", "_cffi_backend*", "pycparser")

LOADED = """
import json, pickle, sys
from warledger.games import GAMES
from warledger.record.positions import Position
from warledger.record.rules import content_hash
from warledger.service.app import create_app
from warledger.service.pages.pyodide import rules_archive
from warledger.workers import queues
print(json.dumps({
    "modules": sorted({name.partition(".")[0] for name in sys.modules}),
    "rules": {id: content_hash(game) for id, game in GAMES.items()},
    "pickled": pickle.dumps(Position, 0).decode(),
    "ticket": queues.TICKET,
    "zipped": [name for name in __import__("zipfile").ZipFile(__import__("io").BytesIO(rules_archive())).namelist()],
}))
"""


class Place(NamedTuple):
    """An environment with the wheel in it, and a folder to work in."""

    site: Path
    folder: Path

    def run(self, *words: str, program: str = "warledger") -> subprocess.CompletedProcess[str]:
        """Run a program of the environment to its end."""
        command = [self.site.parents[2] / "bin" / program, *words]
        return subprocess.run(command, cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=120)


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a stranger: without the modules of this checkout, and without settings."""
    kept = {name for name in os.environ if not name.startswith(("PYTHON", "WARLEDGER_"))} | {"WARLEDGER_HOME"}
    return {name: os.environ[name] for name in kept if name in os.environ} | more


def venv(folder: Path) -> Path:
    """Make an empty environment, and return the folder of its packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return next(folder.glob("lib/python3*/site-packages"))


def install(folder: Path, *words: str) -> None:
    """Install packages into an environment."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "bin" / "python", "install", "--quiet"]
    subprocess.run([*pip, *words], check=True, env=environment(), cwd="/")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], check=True, cwd=private.ROOT, env=environment()
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def place(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """An environment with the wheel, which finds the packages of the tests and the client."""
    folder = tmp_path_factory.mktemp("installed")
    site = venv(folder / "env")
    install(folder / "env", "--no-deps", "--no-index", "--no-compile", str(wheel))
    (site / "packages.pth").write_text(f"{PACKAGES}\n{private.ROOT / 'sdk' / 'python'}\n")
    return Place(site, folder)


@pytest.fixture(scope="module")
def judge(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """An environment with the wheel and PyNaCl, and with nothing else."""
    folder = tmp_path_factory.mktemp("judge")
    site = venv(folder / "env")
    (site / "warledger.pth").write_text(f"{place.site}\n")
    (folder / "env/bin/warledger").symlink_to(place.site.parents[2] / "bin" / "warledger")
    for name in FOR_JUDGES:
        for found in PACKAGES.glob(name):
            (site / found.name).symlink_to(found)
    return Place(site, folder)


@pytest.fixture(scope="module")
def service(place: Place) -> Iterator[private.Place]:
    """The service, as the command of the wheel starts it."""
    data = place.folder / "data"
    command = [place.site.parents[2] / "bin" / "warledger", "serve", "--port", "0", *private.SMALL]
    process = subprocess.Popen(
        command, cwd=place.folder, env=environment(WARLEDGER_KEYS="keys"), stdout=subprocess.DEVNULL, start_new_session=True
    )
    within(60, lambda: (data / "serve.json").exists() or process.poll() is not None)
    yield private.Place(json.loads((data / "serve.json").read_text())["url"], (data / "admin.key").read_text().strip(), data, process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


@pytest.fixture(scope="module")
def dossiers(place: Place, service: private.Place) -> list[Path]:
    """The files of the matches that the page plays with the service."""
    assert SHELL.startswith("pip install warledger\nwarledger serve &\n")
    script = SHELL.partition("&\n")[2].replace("http://127.0.0.1:8000", service.url)
    path = f"{place.site.parents[2] / 'bin'}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", "-eu", "-c", script], cwd=place.folder, env=environment(PATH=path), check=True, timeout=120)
    return [place.folder / "greedy.ndjson", place.folder / "random.ndjson"]


def test_the_wheel_has_every_file_of_its_folders_in_one_package(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    assert {name.partition("/")[0] for name in names} == {"warledger", f"warledger-{VERSION}.dist-info"}
    files = {path for folder in FOLDERS for path in (private.ROOT / folder).rglob("*") if path.is_file()}
    there = {f"warledger/{path.relative_to(private.ROOT).as_posix()}" for path in files if path.suffix not in (".py", ".pyc")}
    assert there - names == set()
    assert {
        "warledger/events/store/append.lua",
        "warledger/games/war/RULES.md",
        "warledger/verify/verify.mjs",
        "warledger/sdk/js/warledger.js",
        "warledger/py.typed",
    } <= names
    assert not names & {f"warledger/tools/{name}.py" for name in ("test", "mutate", "pin", "release", "prepare", "wheel", "sdk")}


def test_its_modules_are_there_once_and_its_rules_are_those_of_the_checkout(place: Place) -> None:
    done = place.run("-c", LOADED, program="python")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {folder.partition("/")[0] for folder in FOLDERS}.isdisjoint(found["modules"])
    assert found["rules"] == {id: content_hash(game) for id, game in GAMES.items()}
    assert "warledger.record.positions" in found["pickled"]
    assert found["ticket"] == "warledger.workers.jobs.work"
    assert "record/redeciding.py" in found["zipped"]
    assert not [name for name in found["zipped"] if name.startswith("warledger")]


def test_it_serves_and_what_was_played_is_audited(place: Place, service: private.Place, dossiers: list[Path]) -> None:
    commands = [process.command for process in family(service.process.pid)]
    assert [command for command in commands if "-server" not in command and not command.startswith("warledger.")] == []
    match = json.loads(dossiers[0].read_text().partition("\n")[0])["match"]
    audited = place.run("audit", match, "--json")
    assert json.loads(audited.stdout)["ok"] is True, audited.stderr
    shown = place.run("show", match, "--as", "red")
    assert "seen by red" in shown.stdout, shown.stderr
    own = [path for path in place.site.rglob("*") if path.is_file() and path.suffix != ".pyc" and "dist-info" not in str(path)]
    assert (place.folder / "keys").is_dir()  # a relative setting means the same folder for every part
    assert {path.name for path in own if path.stat().st_mtime > dossiers[0].stat().st_mtime} == set()


@pytest.mark.soak
def test_an_agent_plays_as_its_page_says(place: Place, service: private.Place) -> None:
    (shell,), (program,) = (re.findall(rf"^```{kind}\n(.*?)^```$", AGENT, re.DOTALL | re.MULTILINE) for kind in ("sh", "python"))
    assert len([line for line in (shell + program).splitlines() if line]) <= 20
    assert shell.startswith("pip install 'warledger[mcp]'\nwarledger serve &\n")
    (place.folder / "agent.py").write_text(program)
    path = f"{place.site.parents[2] / 'bin'}{os.pathsep}{os.environ['PATH']}"
    script = shell.partition("&\n")[2].replace("http://127.0.0.1:8000", service.url)
    done = subprocess.run(
        ["sh", "-eu", "-c", script], cwd=place.folder, env=environment(PATH=path), capture_output=True, text=True, timeout=120
    )
    assert "The match is over at version" in done.stdout, done.stdout + done.stderr


def test_its_inner_modules_run_and_its_texts_name_its_command(place: Place) -> None:
    worker = place.run("-m", "warledger.workers.run", "--help", program="python")
    assert worker.stdout.startswith("usage: warledger worker ")
    helped = place.run()
    assert "warledger serve" in helped.stdout
    assert "./run" not in helped.stdout
    assert (place.run("pin").returncode, place.run("--version").stdout) == (2, f"{VERSION}\n")


@pytest.mark.soak
def test_a_tournament_of_two_bots_is_played_in_twenty_lines_as_its_page_says(place: Place, tmp_path: Path) -> None:
    page = (private.ROOT / "docs" / "tournament.md").read_text(encoding="utf-8")
    script, printed = re.findall(r"^```(?:sh)?\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[:2]
    assert len(script.splitlines()) <= 20
    assert script.startswith("pip install warledger\n")
    path = f"{place.site.parents[2] / 'bin'}{os.pathsep}{os.environ['PATH']}"
    shell = ["sh", "-eu", "-c", script.partition("\n")[2]]
    done = subprocess.run(shell, cwd=tmp_path, env=environment(PATH=path), capture_output=True, text=True, timeout=120)
    assert done.stdout == printed * 2, done.stderr
    assert len(list((tmp_path / "cup/matches").glob("*.ndjson"))) == 10


def test_a_match_is_judged_where_there_is_no_service(judge: Place, dossiers: list[Path]) -> None:
    absent = "import importlib.util as u; print([name for name in ('redis', 'flask', 'rq', 'orjson', 'httpx') if u.find_spec(name)])"
    assert judge.run("-c", absent, program="python").stdout == "[]\n"
    judged = judge.run("-c", PROGRAMS["judge.py"], str(dossiers[0]), program="python")
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert re.search(r"\(war\), won by \w+.*: holds\n", judged.stdout)
    assert re.search(r"\n\d+ entries decided again: 0 differ; dice verified, rules \w+\n$", judged.stdout)
    lines = dossiers[0].read_bytes().splitlines(keepends=True)
    (judge.folder / "forged.ndjson").write_bytes(b"".join(lines[:9] + lines[10:]))
    forged = judge.run("-c", PROGRAMS["judge.py"], "forged.ndjson", program="python")
    assert forged.returncode == 1


def test_any_moment_is_shown_to_anybody_where_there_is_no_service(judge: Place, dossiers: list[Path]) -> None:
    seen = judge.run("-c", PROGRAMS["moment.py"], str(dossiers[0]), "20", "red", program="python")
    assert seen.returncode == 0, seen.stderr
    assert "seen by red" in seen.stdout
    assert re.search(r"\n\w+ has [1-9]\d* choices\n", seen.stdout)
    assert (judge.folder / "moment.svg").read_text().startswith("<svg ")


def test_decisions_become_a_table_where_there_is_no_service(judge: Place, dossiers: list[Path]) -> None:
    done = judge.run("-c", PROGRAMS["decisions.py"], *map(str, dossiers), program="python")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(StringIO(done.stdout)))
    assert len({row["match"] for row in rows}) == 2
    assert all(int(row["choices"]) >= 1 and float(row["seconds"]) >= 0 for row in rows)


@pytest.mark.soak
def test_a_bot_that_thinks_plays_by_the_rules_of_the_wheel(place: Place, service: private.Place) -> None:
    words = ["--game", "war_of_civilizations", "--rival", "ai:random", "--seconds", "0.01"]
    played = place.run(str(private.ROOT / "examples" / "thinking_bot.py"), service.url, *words, program="python")
    assert re.search(r"won by \w+: \w+\n$", played.stdout), played.stderr


def test_bulk_files_are_downloaded_and_checked_where_there_is_no_service(
    judge: Place, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The download breaks off in a part, and goes on there. A byte that differs is found."""
    monkeypatch.setattr(collecting, "LARGE", 20_000)
    ann, bob = (accounts.register(platform, name)[0].id for name in ("Ann", "Bob"))
    for _ in range(3):
        match = play.create(platform, ann, "war", {"red": "me", "blue": f"player:{bob}"}, {}).match
        play.act_at_table(platform, match, bob, {"type": "take_seat", "seat": "blue"})
        play.play(platform, match, "system", [{"type": "advance"}])
        play.act_at_table(platform, match, "red", {"type": "resign"})
    collected(platform, monkeypatch)
    app = create_app(platform, Settings(log_requests=False))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    url, month = f"http://127.0.0.1:{server.port}", bulk.files(platform)[0].month
    try:
        download = ("-c", PROGRAMS["bulk.py"], url, "war", month)
        done = judge.run(*download, program="python")
        assert done.stdout.endswith("holds\n"), done.stdout + done.stderr
        parts = sorted((judge.folder / f"war-{month}").glob("*.ndjson"))
        whole = parts[0].read_bytes()
        parts[0].write_bytes(whole[:100])
        assert judge.run(*download, *platform.signer.vkeys(), program="python").returncode == 0
        assert parts[0].read_bytes() == whole
        winners = judge.run("-c", PROGRAMS["winners.py"], f"war-{month}", program="python")
        assert winners.stdout == "blue has won 3 of 3 matches\n", winners.stderr
        parts[0].write_bytes(whole.replace(b"resign", b"rasign"))
        assert judge.run(*download, program="python").stderr.endswith("is damaged: delete it, and start again\n")
    finally:
        server.shutdown()


def test_commands_run_without_the_packages_of_the_service_or_name_one(judge: Place, dossiers: list[Path]) -> None:
    verified = judge.run("-m", "warledger", "verify", str(dossiers[0]), program="python")
    assert "everything that was checked holds" in verified.stdout, verified.stderr
    serve = judge.run("-m", "warledger", "serve", program="python")
    assert (serve.returncode, serve.stdout) == (1, "")
    assert serve.stderr.startswith("The command serve needs the package ")
    agents = judge.run("-m", "warledger", "mcp", "--url", "http://127.0.0.1:1", program="python")
    assert (agents.returncode, agents.stdout) == (1, "")
    assert agents.stderr.endswith(": pip install 'warledger[mcp]'\n")
    assert "pip install 'warledger[mcp]'" in judge.run("-m", "warledger", "mcp", "--help", program="python").stdout


@pytest.mark.parametrize("code", ["import games.kernel\n", "import record\n", "x = 1; from games import GAMES\n"])
def test_an_import_that_cannot_be_moved_is_refused(code: str) -> None:
    with pytest.raises(NotMovable):
        moved(Path("record/x.py"), code)


def test_every_package_is_in_the_wheel_but_those_of_a_checkout() -> None:
    project = tomllib.loads((private.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(project["tool"]["importlinter"]["root_packages"]) - {"warledger", "benchmarks"} <= {
        folder.partition("/")[0] for folder in FOLDERS
    }


def test_no_module_is_named_in_a_text_without_its_full_name() -> None:
    """What runs or imports a module by its name would not find it in a wheel."""
    found = []
    for path in (path for path in files(private.ROOT) if path.suffix == ".py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        calls = [
            node for node in nodes if isinstance(node, ast.Call) and NAMING & {getattr(node.func, "id", ""), getattr(node.func, "attr", "")}
        ]
        allowed = {id(inner) for call in calls for inner in ast.walk(call)}
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in allowed and isinstance(node.value, str)]
        modules = [text.partition(":")[0].replace(".", "/") for text in texts if re.fullmatch(r"\w+(\.\w+)+(:\w+)?", text)]
        found += [f"{path.name}: {module}" for module in modules if (private.ROOT / f"{module}.py").exists()]
    assert found == []


def test_only_imports_and_names_of_the_command_change() -> None:
    code = '"""Not from games.\n\n    >>> from games import GAMES\n    """\nfrom table.data import X\nY = "./run audit"\n'
    changed = '"""Not from games.\n\n    >>> from warledger.games import GAMES\n    """\nfrom warledger.table.data import X\n'
    assert moved(Path("record/x.py"), code) == changed + 'Y = "./run audit"\n'
    assert moved(Path("tools/x.py"), code).endswith('Y = "warledger audit"\n')


@pytest.mark.soak
def test_the_wheel_brings_all_packages_that_it_needs(wheel: Path, tmp_path: Path) -> None:
    site = venv(tmp_path / "env")
    install(tmp_path / "env", str(wheel))
    done = Place(site, tmp_path).run("demo")
    assert "Every check passed." in done.stdout, done.stderr
