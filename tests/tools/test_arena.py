"""An arena: matches of levels and programs from a plan, and a table that anybody computes again from the files."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from events.modules import python_environment
from events.notary.signer import Signer
from record.dossiers.records import lines_of
from tests.conftest import within
from tools import arena, private, verify
from tools.arena.plan import BadPlan, Bot, Plan, bot_of, checked, read
from tools.arena.playing import BadAnswer, chosen, play
from tools.arena.programs import LONGEST_LINE, Program, greeted, wait
from tools.arena.standings import file_of
from tools.processes import lives

DRAWER = f"{sys.executable} {Path(__file__).parent / 'bots' / 'drawer.py'}"
QUICK = json.dumps({"kind": "per_action", "seconds": 5})
LEVELS = tuple(Bot(name, level=name) for name in ("random", "novice", "greedy", "strong"))

Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command of the arena, and return what it prints."""

    def done(*words: Any, status: int = 0) -> str:
        assert arena.main([*map(str, words)]) == status
        printed = capsys.readouterr()
        return printed.err if status else printed.out

    return done


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena of two levels and a program, of which every match is played."""
    folder = tmp_path_factory.mktemp("arena")
    bots = ["--bot", "greedy", "--bot", "other=random", "--bot", f"mine={DRAWER}"]
    assert arena.main(["play", str(folder), "--game", "war", *bots, "--rounds", "1", "--seed", "7", "--jobs", "2"]) == 0
    return folder


@pytest.fixture
def copy(played: Path, tmp_path: Path) -> Path:
    return shutil.copytree(played, tmp_path / "copy")


def plan(**changed: Any) -> Plan:
    return Plan(**{"game": "war", "seats": 2, "rounds": 1, "seed": "s", "bots": LEVELS, "options": {}, "clock": {}, **changed})


# ---------------------------------------------------------------- the plan


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_bot_sits_in_every_seat_equally_often_with_the_same_others(seats: int) -> None:
    found = list(plan(seats=seats, rounds=2).matches())
    assert len(found) == plan(seats=seats, rounds=2).number
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    places = Counter(
        (seat, bot.name, frozenset(other.name for other in one.seats.values())) for one in found for seat, bot in one.seats.items()
    )
    assert set(places.values()) == {2}


def test_in_two_rounds_three_bots_sit_in_every_order() -> None:
    found = [tuple(bot.name for bot in one.seats.values()) for one in plan(seats=3, rounds=2, bots=LEVELS[:3]).matches()]
    assert sorted(found) == sorted(permutations(["random", "novice", "greedy"]))


def test_dice_follow_from_the_seed_and_from_who_plays_where() -> None:
    one, two = plan(), plan(seed="t")
    found = list(one.matches())
    assert len({one.match_id(planned) for planned in found} | {two.match_id(planned) for planned in found}) == 2 * len(found)
    assert one.secret(found[0]) == plan().secret(found[0]) != one.secret(found[1])


@pytest.mark.parametrize(
    "changed",
    [
        {"game": "chess"},
        {"seats": 5},
        {"seats": 3, "bots": LEVELS[:2]},
        {"bots": (*LEVELS[:1], *LEVELS[:1])},
        {"bots": (*LEVELS[:1], Bot("again", level="random"))},
        {"bots": (*LEVELS[:1], Bot("a b", program=("x",)))},
        {"rounds": 0},
        {"rounds": 10**6},
        {"options": {"nonsense": 1}},
        {"bots": (*LEVELS[:1], Bot("mine", program=("x",))), "clock": {"kind": "none"}},
        {"bots": (*LEVELS[:1], Bot("mine", program=("x",))), "clock": {"kind": "per_action", "seconds": 1}},
        {"bots": (*LEVELS[:1], Bot("far", player="p" + "a" * 16)), "clock": {"kind": "days", "hours": 1}},
    ],
    ids=str,
)
def test_a_plan_that_cannot_be_played_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(BadPlan):
        checked(plan(**changed))


@pytest.mark.parametrize(
    "changed", [{"seats": "2"}, {"arena": 2}, {"bots": [1]}, {"bots": [{"name": "x"}]}, {"key": "x"}, {"more": 1}], ids=str
)
def test_a_plan_of_a_stranger_is_read_with_care(copy: Path, run: Run, changed: dict[str, Any]) -> None:
    found = json.loads((copy / "arena.json").read_bytes())
    (copy / "arena.json").write_text(json.dumps(found | changed))
    assert run("table", copy, status=2)


def test_what_a_bot_is_follows_from_the_text() -> None:
    assert bot_of("strong").who == "ai:strong"
    assert bot_of("far=p" + "a" * 16).player == "p" + "a" * 16
    assert bot_of("mine=python3 'my bot.py' -v").program == ("python3", "my bot.py", "-v")
    for wrong in ("mine", "mine=", "mine='"):
        with pytest.raises(BadPlan):
            bot_of(wrong)


# ---------------------------------------------------------------- playing, and the table


def test_an_arena_leaves_a_plan_all_dossiers_and_a_table(played: Path) -> None:
    table = json.loads((played / "table.json").read_bytes())
    assert table["matches"] == {"played": 6, "planned": 6, "void": 0}
    assert {(row["bot"], row["matches"], row["left"]) for row in table["ratings"]} == {("greedy", 4, 0), ("other", 4, 0), ("mine", 4, 0)}
    assert table["ratings"][0]["bot"] == "greedy"
    assert read(played).number == len(list((played / "matches").glob("*.ndjson"))) == 6
    about = json.loads((played / "matches/000003.json").read_bytes())
    assert about == {"programs": {"mine": {"name": "drawer", "version": "1"}}, "failed": []}


def test_every_dossier_holds_and_every_decision_of_a_level_is_decided_again(played: Path) -> None:
    files = [str(file) for file in sorted((played / "matches").glob("*.ndjson"))]
    assert verify.main([*files, "--decisions", "--key", read(played).key]) == 0


def test_the_table_is_computed_again_byte_for_byte(copy: Path, run: Run) -> None:
    before = (copy / "table.json").read_bytes(), (copy / "table.txt").read_bytes()
    assert run("table", copy).encode() == before[1]
    for name in ("table.json", "table.txt"):
        (copy / name).unlink()
    shutil.rmtree(copy / "keys")
    run("table", copy, "--jobs", 1)
    assert ((copy / "table.json").read_bytes(), (copy / "table.txt").read_bytes()) == before


def test_a_table_that_is_not_that_of_the_files_is_found(copy: Path, run: Run) -> None:
    (copy / "table.json").write_bytes((copy / "table.json").read_bytes().replace(b"greedy", b"mine"))
    assert "another table" in run("table", copy, status=1)


def test_the_same_seed_plays_the_same_matches_and_other_keys_sign_others(copy: Path, played: Path, tmp_path: Path, run: Run) -> None:
    bots = ["--bot", "greedy", "--bot", "other=random", "--bot", f"mine={DRAWER}"]
    run("play", tmp_path / "again", "--game", "war", *bots, "--rounds", 1, "--seed", 7, "--jobs", 1)
    assert (tmp_path / "again/table.json").read_bytes() == (played / "table.json").read_bytes()
    shutil.copy(tmp_path / "again/matches/000001.ndjson", copy / "matches/000001.ndjson")
    assert "does not hold" in run("table", copy, status=2)


def test_what_is_missing_is_played_and_what_is_there_is_kept(copy: Path, run: Run) -> None:
    gone, kept = copy / "matches/000004.ndjson", copy / "matches/000005.ndjson"
    table, before = (copy / "table.json").read_bytes(), kept.read_bytes()
    gone.unlink()
    run("play", copy)
    assert kept.read_bytes() == before
    assert gone.exists()
    assert (copy / "table.json").read_bytes() == table  # the dice and the program are the same, so the result is


@pytest.mark.parametrize("spoil", ["cut", "changed", "swapped", "record", "seed"])
def test_a_file_that_is_not_the_match_of_the_plan_is_found(copy: Path, run: Run, spoil: str) -> None:
    file = copy / "matches/000003.ndjson"
    content = file.read_bytes()
    if spoil == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif spoil == "changed":
        file.write_bytes(content.replace(b'"actor":"red"', b'"actor":"blue"', 1))
    elif spoil == "swapped":
        file.write_bytes((copy / "matches/000004.ndjson").read_bytes())
    elif spoil == "record":
        entries = [line for line in lines_of(file) if line.startswith(b'{"entry":')]
        file.write_bytes(b"".join(line[len(b'{"entry":') : -len(b',"line":"entry"}\n')] + b"\n" for line in entries))
    else:
        plan_file = copy / "arena.json"
        plan_file.write_text(plan_file.read_text().replace('"seed": "7"', '"seed": "8"'))
    for command in ("table", "play"):
        assert "000003" in (found := run(command, copy, status=2)) or "000001" in found


def test_dice_that_do_not_follow_from_the_seed_are_found_although_the_arena_has_signed_them(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("play", tmp_path, "--game", "war", "--bot", "random", "--bot", "novice", "--rounds", 1, "--jobs", 1)
    with monkeypatch.context() as patch:
        patch.setattr(Plan, "secret", lambda plan, planned: bytes(32))
        found, first = read(tmp_path), next(read(tmp_path).matches())
        file_of(tmp_path, 1).write_bytes(play(found, first, Signer(tmp_path / "keys")).dossier)
    assert "its dice do not follow from the seed" in run("table", tmp_path, status=2)


def test_another_plan_needs_another_folder(copy: Path, run: Run) -> None:
    assert "another plan" in run("play", copy, "--rounds", 3, status=2)
    assert "Name a game" in run("play", copy / "new", status=2)


def test_a_program_that_cannot_play_stops_the_arena_before_it_begins(tmp_path: Path, run: Run) -> None:
    for place, command in enumerate(("/nowhere/at/all", f"{sys.executable} -c ''", f"{sys.executable} -c 'print([1])'")):
        found = run("play", tmp_path / str(place), "--game", "war", "--bot", "greedy", "--bot", f"mine={command}", "--rounds", 1, status=2)
        assert found.startswith("mine ")


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("crash", "ended with status 3"),
        pytest.param("long", f"wrote a line of more than {LONGEST_LINE} bytes", marks=pytest.mark.soak),
        pytest.param("garbage", "answered with something else", marks=pytest.mark.soak),
        pytest.param("deep", "answered with something else", marks=pytest.mark.soak),
        ("illegal", r"answered what the rules refuse \(bad_action\)"),
        pytest.param("table", r"answered what the rules refuse \(bad_action\)", marks=pytest.mark.soak),
        ("fraction", "answered with what no record can hold"),
        pytest.param("beyond", "answered with choice 100000", marks=pytest.mark.soak),
        ("resign", None),
        pytest.param("late", "let its time run out", marks=pytest.mark.soak),  # five seconds, the shortest clock
    ],
)
def test_a_program_that_fails_loses_and_the_match_holds(tmp_path: Path, run: Run, mode: str, sentence: str | None) -> None:
    bots = ["--bot", "random", "--bot", f"mine={DRAWER} {mode}"]
    printed = run("play", tmp_path, "--game", "war", *bots, "--rounds", 1, "--seed", 1, "--clock", QUICK, "--jobs", 2)
    assert re.search(r"^mine +\d+ +-?\d+ to \d+ +2 +0 +2$", printed, re.MULTILINE), printed
    failed = json.loads((tmp_path / "matches/000001.json").read_bytes())["failed"]
    assert [bool(re.match(sentence or "-", one["sentence"])) for one in failed] == ([] if sentence is None else [True])
    if mode == "crash":
        assert failed[0]["errors"] == "a reason\n"
    if mode == "illegal":
        refused = [json.loads(line) for line in lines_of(tmp_path / "matches/000001.ndjson") if b'"line":"refused"' in line]
        assert [(one["code"], one["action"]) for one in refused] == [("bad_action", {"type": "nonsense"})]
    assert run("table", tmp_path)


def test_seats_that_decide_at_once_are_asked_at_once(tmp_path: Path, run: Run) -> None:
    """In War of Civilizations everybody chooses at the same time. All answers count, in the order in which they come."""
    bots = [word for name in ("one", "two") for word in ("--bot", f"{name}={DRAWER}")]
    run(
        "play",
        tmp_path,
        "--game",
        "war_of_civilizations",
        *bots,
        "--rounds",
        1,
        "--seed",
        2,
        "--options",
        '{"round_limit": 5}',
        "--jobs",
        2,
    )
    failed = [json.loads(file.read_bytes())["failed"] for file in (tmp_path / "matches").glob("*.json")]
    assert failed == [[], []]


def test_an_arena_that_is_killed_takes_its_programs_along_and_goes_on_later(tmp_path: Path) -> None:
    noted = tmp_path / "deaf"
    bots = ["--bot", "random", "--bot", f"mine={DRAWER} deaf {noted}"]
    command = [sys.executable, "-m", "warledger", "arena", "play", str(tmp_path / "arena"), "--game", "war", *bots, "--rounds", "1"]
    environment = python_environment(os.environ)
    with subprocess.Popen(command, cwd=private.ROOT, env=environment, stderr=subprocess.DEVNULL) as begun:
        within(60, lambda: noted.exists() and noted.read_text())
        begun.send_signal(signal.SIGKILL)
        begun.wait()
    if sys.platform == "linux":
        within(10, lambda: not lives(int(noted.read_text())))
    assert list((tmp_path / "arena/matches").glob("*.ndjson")) == []
    assert read(tmp_path / "arena").number == 2


# ---------------------------------------------------------------- programs and answers


def test_a_program_has_no_more_memory_than_it_is_given() -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux bounds the address space reliably")
    program = Program([sys.executable, "-c", "input(); bytearray(10**9)"], memory=500 << 20)
    assert greeted(program, {}) == {}
    program.close()
    assert program.fault == "ended with status 1"
    assert b"MemoryError" in program.errors


def test_what_a_program_started_ends_with_it() -> None:
    code = "import subprocess, sys; child = subprocess.Popen(['sleep', '600']); print(child.pid, flush=True); input()"
    program = Program([sys.executable, "-c", code])
    line = wait([program], float("inf"))
    assert line is not None
    program.kill()
    within(10, lambda: not lives(int(line.line)))


def test_a_program_that_reads_nothing_blocks_nobody() -> None:
    program = Program(["sleep", "600"])
    program.send({"much": "x" * 1_000_000})
    assert wait([program], 0.0) is None
    program.kill()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"{}",
        b'{"choice": 0, "action": {}}',
        b'{"choice": true}',
        b'{"choice": -1}',
        b'{"choice": 0, "choose": 1}',
        b'{"action": 1}',
    ],
)
def test_a_line_that_is_no_answer_is_refused(line: bytes) -> None:
    with pytest.raises(BadAnswer):
        chosen(line, [{"action": {"type": "roll"}}])
