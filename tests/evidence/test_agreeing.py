"""Both verifiers agree: on every kind of tampering with every dossier, and on thousands of files that were spoiled at random."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from events.platform import Settings, open_platform
from games import GAMES
from record.dossiers.verifying import NotAFile, Source, verify
from tests.conftest import servers_in
from tests.evidence.test_spoiled import changed, reshaped
from tests.evidence.test_vectors import wrong_under_python
from tests.evidence.test_vectors_under_node import SCRIPT, wrong_under_node
from tests.evidence.vectors import write_all
from tools import node

NODE = node.binary() or ""
SPOILED = 5000
RULED = {"not_legal", "action_differs", "events_differ", "level_differs", "not_replayable", "rules_unknown", "origin_differs"}
"""What only a verifier that has the rules finds, or finds at another version."""

pytestmark = pytest.mark.skipif(not NODE, reason="there is no Node here: install the packages for tests, or Node 20")


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with every kind of tampering with every dossier."""
    data, folder = tmp_path_factory.mktemp("platform"), tmp_path_factory.mktemp("everything")
    with servers_in(data) as servers:
        platform = open_platform(Settings(store_url=servers.store_url, queue_url=servers.queue_url, keys=data / "keys"))
        write_all(servers, platform, folder)
        platform.close()
    return folder


@pytest.mark.soak
def test_every_kind_with_every_dossier(everything: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = wrong_under_python(everything, capsys)
    assert not wrong, "\n".join(wrong)
    wrong = wrong_under_node(everything)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("number", [60, pytest.param(SPOILED, marks=pytest.mark.soak)])
def test_files_that_were_spoiled_at_random(vectors: Path, tmp_path: Path, number: int) -> None:
    """A file holds for both or for neither, and what Node finds first is found by Python, too, unless Python found something earlier."""
    files = list(honest(vectors))
    will = random.Random(number)
    for place in range(number):
        spoil: Callable[[bytes, random.Random], bytes] = (changed, reshaped)[place % 2]
        (tmp_path / f"{place:05}").write_bytes(spoil(files[place // 2 % len(files)], will))
    ran = subprocess.run([NODE, SCRIPT.parent / "each_file.mjs", tmp_path], capture_output=True, text=True, check=True)
    answers = dict(json.loads(line) for line in ran.stdout.splitlines())
    assert len(answers) == number
    apart = [told for file in sorted(tmp_path.iterdir()) if (told := disagreement(file, [tuple(found) for found in answers[file.name]]))]
    assert apart == []


def honest(vectors: Path) -> Iterator[bytes]:
    """Yield every honest dossier."""
    for case in json.loads((vectors / "index.json").read_text()):
        if case["name"].endswith("-honest"):
            yield (vectors / case["files"][0]).read_bytes()


def disagreement(file: Path, theirs: list[tuple[int | None, str]]) -> str:
    """Return how the verdicts on a file differ, or an empty text. `theirs`: what Node finds."""
    try:
        (verdict,) = verify([Source(file.name, lambda: file.read_bytes().splitlines(keepends=True))], GAMES)
    except NotAFile:
        return "" if theirs else f"{file.name}: Node takes for sound what is no file"
    ours = [(finding.version, finding.code) for finding in verdict.findings]
    if not theirs and not {code for _, code in ours} <= RULED:
        return f"{file.name}: Python alone finds {ours[:4]}"
    missed = [found for found in theirs if found not in ours]
    if missed and not ours:
        return f"{file.name}: Node alone finds {missed[:4]}"
    return ""
