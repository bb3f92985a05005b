"""What the SDK has of openapi.yaml is up to date, the types are right for strict checkers, and the programs of its README run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools import private, sdk, wheel
from tools.typeddicts import module

FOLDER = private.ROOT / "sdk" / "python"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
PROGRAMS = {text.split()[1].rstrip(":"): text for text in re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)}

GOOD = """
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from warledger_client import AsyncClient, AsyncTurn, Client, Refused, Turn

if TYPE_CHECKING:
    from warledger_client.types import Choice, Standing, WarMove

def decide(turn: Turn) -> "Choice":
    return random.choice(turn.choices)

async def decide_later(turn: AsyncTurn) -> Mapping[str, object]:
    move: "WarMove" = {"type": "move", "from": "a1", "to": {"a2": 1}}
    return move if turn.seat == "red" else turn.choices[0]

def winners(client: Client, id: str) -> list[str]:
    standing = client.match(id).play(decide)
    outcome = standing["outcome"]
    return outcome["winners"] if outcome is not None else []

async def follow(client: AsyncClient, id: str) -> int:
    dice = 0
    async for entry in client.match(id).stream():
        for event in entry["events"]:
            if event["type"] == "attack_rolled":
                dice += event["attack"]["die"] + event["defence"]["die"]
            elif event["type"] == "seat_resigned":
                print(event["seat"])
    return dice

def waiting(client: Client) -> "list[Standing]":
    return list(client.matches(to_act="me"))

def tried(turn: Turn) -> str:
    try:
        played = turn.act(turn.choices[0])
    except Refused as refused:
        return f"{refused.rule}: {refused.detail}"
    return "" if played is None else played["receipt"]
"""
BAD = """
from warledger_client import Client, Turn
from warledger_client.types import WarMove, WarNewMatch

move: WarMove = {"type": "move", "from": "a1"}
new: WarNewMatch = {"game": "war", "seats": {"aliens": "me"}}

async def act(turn: Turn) -> None:
    await turn.act(turn.choices[0])

def look(client: Client) -> int:
    return client.match("m").standing()["weather"]
"""


def test_the_generated_files_are_those_of_openapi_yaml() -> None:
    description = yaml.load((private.ROOT / "openapi.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    assert [file.name for file, text in sdk.generated(description) if file.read_text(encoding="utf-8") != text] == [], "run ./run openapi"


def components(**schemas: Any) -> str:
    return module({"components": {"schemas": schemas}}).partition("TypedDict\n\n")[2]


def test_a_shape_becomes_a_class_or_where_a_name_is_a_keyword_a_call() -> None:
    text = {"type": "string"}
    thing = {"type": "object", "properties": {"id": text, "size": {"type": ["integer", "null"]}}, "required": ["id"], "description": "It."}
    assert components(Thing=thing) == 'class Thing(TypedDict):\n    """It."""\n\n    id: str\n    size: NotRequired[int | None]\n'
    assert '"from": "str"' in components(Way={"type": "object", "properties": {"from": text}, "required": ["from"]})


def test_a_union_is_one_of_its_parts_or_where_nothing_tells_them_apart_all_of_them() -> None:
    first = {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]}
    second = {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]}
    parts: list[dict[str, Any]] = [{"$ref": "#/components/schemas/First"}, {"$ref": "#/components/schemas/Second"}]
    union = {"anyOf": [*parts, {"$ref": "#/components/schemas/OtherKind"}]}
    written = components(First=first, Second=second, Either=union, OtherKind={"type": "object", "properties": {"kind": {"type": "string"}}})
    assert 'Either: TypeAlias = "First | Second"' in written
    assert "OtherKind" not in written
    del first["properties"]["kind"], second["properties"]["kind"]  # type: ignore[attr-defined]
    second["properties"]["y"] = {"type": "boolean"}  # type: ignore[index]
    merged = components(First=first, Second=second, Either=union)
    assert "class Either(TypedDict):\n    x: NotRequired[int]\n    y: NotRequired[bool]\n" in merged


@pytest.mark.soak
def test_strict_types_are_right_and_notice_what_is_wrong(tmp_path: Path) -> None:
    """One run of mypy for all programs of strangers, who have both packages."""
    wheel.put(private.ROOT, tmp_path / "installed" / "warledger")
    examples = {path.name: path.read_text(encoding="utf-8") for path in (private.ROOT / "examples").glob("*_bot.py")}
    programs = {"good.py": GOOD, "bad.py": BAD, **PROGRAMS, **examples}
    for name, text in programs.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert not re.search(r"\bcast\b|type: ignore", text)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", os.devnull, *programs]
    path = os.pathsep.join([str(FOLDER), str(tmp_path / "installed")])
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "MYPYPATH": path}, capture_output=True, text=True)
    wrong = {line.partition(": error:")[0] for line in done.stdout.splitlines() if ": error:" in line}
    assert wrong == {f"bad.py:{number}" for number in (5, 6, 9, 12)}, done.stdout + done.stderr


def test_the_types_are_not_imported_when_a_program_starts() -> None:
    program = "import sys, warledger_client; print('warledger_client.types' in sys.modules, len(warledger_client.__all__))"
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("False ")


def test_the_bot_of_the_readme_plays_to_the_end(place: private.Place) -> None:
    program = PROGRAMS["bot.py"].replace("http://127.0.0.1:8000", place.url)
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    assert "winners" in done.stdout, done.stderr
    code = [line for line in PROGRAMS["bot.py"].splitlines() if line and not line.startswith("#")]
    assert len(code) <= 15
