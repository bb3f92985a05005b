"""Mutation testing: change one place of the code at a time, and see whether a test fails. `./run mutate [GROUP...]`.

mutmut makes the mutants and runs the tests of a group that reach the changed function. A mutant that survives is tried again in a new
process with the wider tests of its group, because mutmut cannot change code that ran at import or results in a cache. In this second trial
the laws play LAW_MATCHES matches each (an environment variable; 10), and the first failure ends the trial.
tests/survivors.yaml lists the mutants that do not change the behaviour, each with the reason. They do not count. The score of a group is
the share of the others that the tests kill. A mutant that takes longer than CLOCK is killed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import yaml

from games import GAMES
from games.kernel import Game

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutate"
SURVIVORS = "tests/survivors.yaml"
LEAST = 90.0  # percent
CLOCK = 300  # seconds for the second trial of a mutant
LAWS = ("tests/games/test_laws.py", "tests/games/test_leaving.py")
LAW_MATCHES = "10"
_RECORD = """
import importlib, json, sys
from mutmut.state import state
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps(sorted(state()._stats)))
"""
_NOBODY = "nobody"  # no mutant has this name
_LIVED = (0, 5, 33)  # exit codes in mutmut's files: every test passed, no test ran, no test reaches the function


class Group(NamedTuple):
    """A part of the code, the tests that mutmut runs on its mutants, and wider tests for the mutants that survive.

    `chosen` is a -k expression of pytest that selects tests.
    """

    files: tuple[str, ...]
    tests: tuple[str, ...]
    wider: tuple[str, ...] = ()
    chosen: str = ""


_NO_MUTANT = "read_as_it_was_written or contains_no_id"  # tests of recordings and of the text of the code


def _prefix(game: Game) -> str:
    """Return the first part of the ids of a game's rules, such as `WAR`."""
    rules = game.folder / "RULES.md"
    found = re.search(r"\b([A-Z]{2,4})-[A-Z]{2,4}-[0-9]{2}\b", rules.read_text(encoding="utf-8") if rules.exists() else "")
    return found[1] if found is not None else game.id


_PREFIXES = {game.id: _prefix(game) for game in GAMES.values()}


def _rules(game: str) -> Group:
    """Return the group of a game's rules, without modules that only draw or evaluate positions."""
    aside = {"board.py", "document.py", "guess.py", "scene.py", "sight.py", "worth.py"}
    files = sorted((ROOT / "games" / game).rglob("*.py"))
    others = [f"{prefix}- or [{name}] or [{name}: or -{name}]" for name, prefix in _PREFIXES.items() if name != game]
    return Group(
        tuple(file.relative_to(ROOT).as_posix() for file in files if file.name not in aside),
        (f"tests/games/{game}", "tests/games/test_scenarios.py", "tests/games/test_records.py"),
        LAWS,
        f"not ({' or '.join([*others, _NO_MUTANT])})",
    )


def _table() -> Group:
    """Return the group of the table's rules, without modules that only draw or read data."""
    aside = {"board.py", "data.py", "document.py", "__init__.py"}
    files = tuple(f"table/{file.name}" for file in sorted((ROOT / "table").glob("*.py")) if file.name not in aside)
    return Group(files, ("tests/table",), ("tests/service/test_openapi.py",))


_GAMES = (
    "tests/games/test_kernel.py",
    "tests/games/test_lifecycle.py",
    "tests/games/test_documents.py",
    "tests/games/test_schema.py",
    "tests/games/test_chance.py",
    "tests/games/test_records.py",
    "tests/games/test_scenarios.py",
)
GROUPS = {
    **{game: _rules(game) for game in _PREFIXES},
    "table": _table(),
    "kernel": Group(
        ("games/kernel.py", "games/lifecycle.py", "games/documents.py", "games/schema.py"), _GAMES, LAWS, f"not ({_NO_MUTANT})"
    ),
    "choices": Group(("games/choices.py",), _GAMES, LAWS, f"not ({_NO_MUTANT})"),
    "chance": Group(("games/chance.py", "record/dice.py"), (*_GAMES, "tests/record/test_dice.py"), LAWS, f"not ({_NO_MUTANT})"),
    "sight": Group(
        ("games/*/sight.py", "service/sight.py"),
        (
            *(f"tests/games/{game}" for game in _PREFIXES),
            "tests/games/test_scenarios.py",
            "tests/games/test_sight.py",
            "tests/service/test_sight.py",
            "tests/service/test_playing.py",
            "tests/service/test_spectators.py",
            "tests/service/test_matches.py",
            "tests/service/test_invitations.py",
        ),
        ("tests/service/test_secrecy.py", "tests/service/test_history.py", "tests/service/test_proofs.py"),
        "not busy and not process and not order_of_the_deck and not log_line",
    ),
    "log": Group(
        ("events/store/log.py", "record/entries.py", "events/play.py", "events/deciding.py", "events/requests.py"),
        (
            "tests/record/test_entries.py",
            "tests/events/test_play.py",
            "tests/events/test_store.py",
            "tests/events/test_cache.py",
            "tests/events/test_expiry.py",
            "tests/events/test_rebuild.py",
            "tests/events/test_memory.py",
            "tests/events/test_sealing.py",
        ),
        ("tests/events/test_anomalies.py", "tests/events/test_audit.py", "tests/service/test_playing.py", "tests/service/test_racing.py"),
        "not cluster and not while and not during",
    ),
    "audit": Group(
        ("events/audit.py", "record/trail.py"),
        ("tests/events/test_audit.py",),
        ("tests/service/test_proofs.py",),
        "not of_any_game",
    ),
}


class Mutant(NamedTuple):
    """A mutant: its name in mutmut, the function that it changes, the removed lines and the added lines."""

    name: str
    function: str
    removed: str
    added: str

    @property
    def mangled(self) -> str:
        """The name of its function in mutmut."""
        return self.name.rpartition("__mutmut_")[0]

    @property
    def change(self) -> tuple[str, str, str]:
        """How tests/survivors.yaml identifies the mutant. mutmut renumbers mutants when a function changes."""
        return self.function, self.removed, self.added


def main(arguments: Sequence[str] | None = None) -> int:
    """Test the groups. Return 0 if every score is high enough, else 1."""
    parser = argparse.ArgumentParser(prog="./run mutate", description=__doc__.split("\n\n")[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"a part of the code: {', '.join(GROUPS)} (default: all)")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="only mutants like games.war.attacks.*")
    parser.add_argument("--sample", type=int, metavar="N", help="try N mutants of each group, drawn at random, instead of all")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the sample (0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2, help="how many mutants to try at once (one a core)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.groups if name not in GROUPS]
    if unknown:
        parser.error(f"there is no group {unknown[0]}; the groups are {', '.join(GROUPS)}")
    explained = explanations()
    low = [name for name in options.groups or GROUPS if _score(name, options, explained) < LEAST]
    if low:
        print(f"Below {LEAST:g} %: {', '.join(low)}.")
    return int(bool(low))


def explanations() -> Counter[tuple[str, str, str]]:
    """Return how many mutants of each kind do not change the behaviour: by function, removed lines and added lines."""
    rows = yaml.safe_load((ROOT / SURVIVORS).read_text(encoding="utf-8")) or []
    return Counter((row["function"], row["removed"], row["added"]) for row in rows)


def _score(name: str, options: argparse.Namespace, explained: Counter[tuple[str, str, str]]) -> float:
    """Test one group, print its survivors and its score, and return the score in percent.

    Mutants that tests/survivors.yaml explains do not count.
    """
    group, folder = GROUPS[name], WORK / name
    print(f"{name}: making and trying the mutants.", flush=True)
    _copy(group, folder)
    _try(folder, options)
    results = dict(_results(folder))
    survivors = _described(folder, [mutant for mutant, code in results.items() if code in _LIVED])
    left = explained.copy()
    unexplained: list[Mutant] = []
    for mutant in survivors:
        if left[mutant.change]:
            left[mutant.change] -= 1
        else:
            unexplained.append(mutant)
    print(f"{name}: {len(unexplained)} of {len(results)} survive the first tests; trying them again.", flush=True)
    reaching = _reaching(group, folder)
    with ThreadPoolExecutor(options.processes) as pool:
        survive = pool.map(lambda mutant: _survives(group, folder, mutant, reaching.get(mutant.mangled, ())), unexplained)
        survived = [mutant for mutant, alive in zip(unexplained, survive, strict=True) if alive]
    counted = len(results) - (len(survivors) - len(unexplained))
    score = 100 * (counted - len(survived)) / max(1, counted)
    for mutant in survived:
        print(f"\n{mutant.name}\n  - {mutant.removed}\n  + {mutant.added}")
    print(f"\n{name}: {score:.1f} % of {counted} mutants killed, {len(results) - counted} explained.", flush=True)
    return score


def _try(folder: Path, options: argparse.Namespace) -> None:
    """Make the mutants in a folder, and run the first tests on them or on a sample."""
    patterns = options.only
    if options.sample:
        _mutmut(folder, options.processes, [_NOBODY])  # makes the mutants, and fails because none has this name
        names = sorted(name for name, _ in _tried(folder) if not patterns or any(fnmatch(name, pattern) for pattern in patterns))
        patterns = random.Random(options.seed).sample(names, min(options.sample, len(names)))
    if _mutmut(folder, options.processes, patterns):
        sys.exit(f"mutmut failed; see {folder / 'mutmut.log'}")


def _mutmut(folder: Path, processes: int, patterns: Sequence[str]) -> int:
    with (folder / "mutmut.log").open("w") as log:
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(processes), *patterns]
        return subprocess.run(command, cwd=folder, stdout=log, stderr=log, env=_environment(folder)).returncode


def _copy(group: Group, folder: Path) -> None:
    """Copy the project to a folder, with mutmut's settings for a group."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    tops = sorted({name.split("/")[0] for name in listed if name} - {"tests"})
    settings = {
        "source_paths": sorted({file.split("/")[0] for file in group.files}),
        "only_mutate": list(group.files),
        "do_not_mutate_patterns": [r"raise AssertionError\("],  # the text is for developers
        "also_copy": tops,
        "pytest_add_cli_args": ["-p", "no:cacheprovider", "-p", "no:xdist", *(["-k", group.chosen] if group.chosen else [])],
        "pytest_add_cli_args_test_selection": list(group.tests),
        "use_setproctitle": False,
        "track_dependencies": False,
        "use_git_change_detection": False,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n[tool.mutmut]\n" + "\n".join(lines) + "\n")


def _results(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield every mutant that was tried, with the exit code of its tests."""
    yield from ((mutant, code) for mutant, code in _tried(folder) if code is not None)


def _tried(folder: Path) -> Iterator[tuple[str, int | None]]:
    """Yield every mutant, with the exit code of its tests, or None if it was not tried."""
    for file in sorted((folder / "mutants").rglob("*.meta")):
        yield from json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"].items()


def _described(folder: Path, mutants: Sequence[str]) -> list[Mutant]:
    """Return mutants with their changes, given their names."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant  # it needs the current folder, so it is imported only here

    found = []
    with contextlib.chdir(folder):
        for name in mutants:
            lines = [line for line in get_diff_for_mutant(name).splitlines() if not line.startswith(("---", "+++"))]
            removed, added = (" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
            module, _, mangled = name.rpartition(".")
            found.append(Mutant(name, f"{module}:{_plain(mangled)}", removed, added))
    return found


def _plain(mangled: str) -> str:
    """Return the name of a function, given mutmut's name for a mutant: `act` for `x_act__mutmut_3`."""
    function = mangled.rpartition("__mutmut_")[0]
    return function.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")


def _reaching(group: Group, folder: Path) -> dict[str, Sequence[str]]:
    """Return by function, in mutmut's names, the first tests that reach it. If it runs at import, all tests do."""
    modules = sorted({file.relative_to(folder).with_suffix("").as_posix() for pattern in group.files for file in folder.glob(pattern)})
    names = [module.replace("/", ".").removesuffix(".__init__") for module in modules]
    environment = {**_environment(folder / "mutants"), "MUTANT_UNDER_TEST": "stats"}
    command = [sys.executable, "-c", _RECORD, *names]
    printed = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True, text=True).stdout
    stats = json.loads((folder / "mutants" / "mutmut-stats.json").read_text(encoding="utf-8"))
    return {**stats["tests_by_mangled_function_name"], **dict.fromkeys(json.loads(printed), group.tests)}


def _survives(group: Group, folder: Path, mutant: Mutant, reaching: Sequence[str]) -> bool:
    """Return True if a mutant passes the first tests that reach its function and the wider tests, in a process of its own."""
    tests = (*reaching, *group.wider)
    if not tests:
        return True
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:schemathesis", *tests]
    command += ["-k", group.chosen] if group.chosen else []
    environment = {**_environment(folder / "mutants"), "MUTANT_UNDER_TEST": mutant.name, "LAW_MATCHES": LAW_MATCHES}
    try:
        done = subprocess.run(
            command, cwd=folder / "mutants", env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=CLOCK
        )
    except subprocess.TimeoutExpired:
        print(f"{mutant.name} took longer than {CLOCK} seconds and counts as killed.", flush=True)
        return False
    return done.returncode == 0


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1", "HYPOTHESIS_PROFILE": "mutants"}


if __name__ == "__main__":
    sys.exit(main())
