"""The match in curl of the README is played line by line against a real service."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import private

README = (private.ROOT / "README.md").read_text()
BLOCK = re.findall(r"^```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


SHELLS = {"sh": ["sh", "-eu", "-c"], "zsh": ["zsh", "-f", "-eu", "-c"]}


def test_the_match_in_curl_is_about_fifteen_lines() -> None:
    assert len(BLOCK) == 1
    assert len(BLOCK[0].splitlines()) <= 20


def test_the_match_in_curl_has_no_comments() -> None:
    """An interactive zsh takes a comment for words of the command."""
    assert not re.search(r"(^|\s)#", BLOCK[0], re.MULTILINE)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with private.service(tmp_path_factory.mktemp("readme"), *private.SMALL) as place:
        yield place.url


@pytest.fixture(scope="module", params=["sh", pytest.param("zsh", marks=pytest.mark.soak)])
def answers(request: pytest.FixtureRequest, url: str) -> list[str]:
    """The output of every line of the block, each answer on a line of its own."""
    command = SHELLS[request.param]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    script = "N=0; OPEN=\n" + BLOCK[0].replace("http://127.0.0.1:8000", url)
    # The `python3` of these tests; another one may be a script that looks for a Python first, hundreds of times.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    ended = subprocess.run([*command, script], cwd=private.ROOT, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert ended.returncode == 0, ended.stderr
    return [line for line in ended.stdout.splitlines() if line]


def test_every_line_is_answered(answers: list[str]) -> None:
    entries, state = (json.loads(line) for line in answers[:2])
    assert entries["entries"][0]["actor"] == "system"
    assert state["viewer"] == "red"


def test_an_open_choice_is_shown(answers: list[str]) -> None:
    (choice,) = (json.loads(line) for line in answers if line.startswith('{"action"') and '"choose"' in line)
    assert set(choice["choose"]) <= set(choice["action"])


def test_the_match_is_played_to_its_end_and_audited(answers: list[str]) -> None:
    whole = [json.loads(line) for line in answers if line.startswith("{")]
    over = next(answer for answer in whole if answer.get("status") == "over")
    assert over["outcome"]["winners"]
    assert over["secret"]
    assert "event: over" in answers
    past = next(answer for answer in whole if answer.get("viewer") == "blue")
    assert past["version"] == 20
    assert whole[-1]["ok"] is True
    assert whole[-1]["versions"] == over["version"]


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!https?:)[^)#]+)", README))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (private.ROOT / target).exists()


@pytest.mark.parametrize("folder", sorted(set(re.findall(r"`([a-z]+)/`", README))))
def test_every_folder_exists(folder: str) -> None:
    assert Path(private.ROOT / folder).is_dir()
