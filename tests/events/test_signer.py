"""The keys of the server: made once however many processes start, rotated at any moment, and never lost by a kill."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from events.notary import signer
from events.notary.signer import PRIVATE, PUBLIC, Keyring, KeysUnfit, Signer, opened, rotate
from evidence.notes import opened as opened_note
from evidence.notes import parse, parse_vkey
from evidence.statements import RECEIPT, Receipt, parse_receipt
from tests.conftest import within

ROOT = Path(__file__).parents[2]
OPEN = "import sys, pathlib; from events.notary.signer import *; print(opened(pathlib.Path(sys.argv[1])).signing.verifier.vkey)"
SIGN = """
import sys
from pathlib import Path
from events.notary import signer
signer.SECONDS = 0.0
one = signer.Signer(Path(sys.argv[1]))
print(one.name, flush=True)
last = ""
while True:
    signed = one.receipt("mabcdefghijklmnop", 1, "0f" * 32, 5)
    if signed != last:
        print(signed.encode().hex(), flush=True)
    last = signed
"""


def start(code: str, folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    return subprocess.Popen([sys.executable, "-c", code, folder], env=environment, stdout=subprocess.PIPE, text=True)


def is_sound(found: Keyring) -> None:
    """Fail unless exactly the key that signs is the newest one."""
    assert [one.key for one in found.keys if one.until is None] == [found.signing.verifier]
    assert found.keys[-1].key == found.signing.verifier
    assert len({one.key for one in found.keys}) == len(found.keys)


def test_the_first_use_makes_the_keys_and_only_their_owner_can_read_the_private_one(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "keys"
    one = Signer(folder)
    assert not folder.exists()
    assert one.name.startswith("warledger-")
    assert stat.S_IMODE((folder / PRIVATE).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    private, public = json.loads((folder / PRIVATE).read_text()), (folder / PUBLIC).read_text()
    assert private["secret"] not in public
    assert json.loads(public)["keys"] == [published.as_json() for published in one.published]
    is_sound(opened(folder))
    assert Signer(folder).vkeys() == one.vkeys()


def test_a_receipt_says_what_it_was_given_and_the_published_key_opens_it(tmp_path: Path) -> None:
    one = Signer(tmp_path, "games.example.org")
    note = one.receipt("mabcdefghijklmnop", 7, "0f" * 32, 1_700_000_000_123)
    assert note == one.receipt("mabcdefghijklmnop", 7, "0f" * 32, 1_700_000_000_123)
    text = opened_note(note, map(parse_vkey, one.vkeys())).text
    assert text.startswith(RECEIPT)
    assert parse_receipt(text) == Receipt("mabcdefghijklmnop", 7, "0f" * 32, 1_700_000_000_123)
    assert parse(note).signatures[0].name == "games.example.org"


def test_a_rotation_replaces_the_private_key_and_keeps_every_public_one(tmp_path: Path) -> None:
    first = opened(tmp_path)
    secret = json.loads((tmp_path / PRIVATE).read_text())["secret"]
    second = rotate(tmp_path)
    third = rotate(tmp_path, "games.example.org")
    is_sound(third)
    assert [one.key for one in third.keys] == [each.signing.verifier for each in (first, second, third)]
    assert [one.until for one in third.keys[:2]] == [one.since for one in third.keys[1:]]
    assert second.signing.verifier.name == first.signing.verifier.name
    assert third.signing.verifier.name == "games.example.org"
    assert not any(secret in file.read_text() for file in tmp_path.iterdir())


def test_a_running_process_notices_a_rotation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Signer(tmp_path)
    old = one.name
    rotate(tmp_path, "games.example.org")
    assert one.name == old  # it has just looked
    within(5 * signer.SECONDS, lambda: one.name == "games.example.org")
    monkeypatch.setattr(signer, "SECONDS", 0.0)
    (tmp_path / PRIVATE).write_text("{")  # what it cannot read changes nothing while it runs
    assert one.name == "games.example.org"
    (tmp_path / PRIVATE).unlink()
    assert one.name == "games.example.org"


def test_the_name_is_that_of_the_keys(tmp_path: Path) -> None:
    for name in ("", "games.example.org", "games.example.org"):
        assert opened(tmp_path / "a", name or "games.example.org").signing.verifier.name == "games.example.org"
    with pytest.raises(KeysUnfit, match=r"belong to games\.example\.org, not to another"):
        opened(tmp_path / "a", "another")
    for name in ("two words", "a+b", RECEIPT):
        with pytest.raises(KeysUnfit, match="cannot be the name"):
            opened(tmp_path / "b", name)
    assert not (tmp_path / "b" / PRIVATE).exists()


@pytest.mark.parametrize("file", [PRIVATE, PUBLIC])
@pytest.mark.parametrize("text", ["", "{", "{}", '{"name":"a b","secret":"00","keys":[{}]}'])
def test_a_damaged_file_is_named_and_nothing_is_made_over_it(tmp_path: Path, file: str, text: str) -> None:
    opened(tmp_path)
    (tmp_path / file).write_text(text)
    with pytest.raises(KeysUnfit, match=f"{file} is damaged"):
        opened(tmp_path)
    assert (tmp_path / file).read_text() == text


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KeysUnfit, match="cannot be read or made"):
        Signer(tmp_path / "file" / "keys").load()
    with pytest.raises(KeysUnfit, match="cannot be changed"):
        rotate(tmp_path / "file")


def test_a_lost_private_key_is_replaced_and_lost_public_keys_begin_with_the_one_that_signs(tmp_path: Path) -> None:
    first = opened(tmp_path)
    (tmp_path / PRIVATE).unlink()
    second = opened(tmp_path)
    is_sound(second)
    assert [one.key for one in second.keys] == [first.signing.verifier, second.signing.verifier]
    assert second.signing.verifier.name == first.signing.verifier.name
    (tmp_path / PUBLIC).unlink()
    third = opened(tmp_path)
    is_sound(third)
    assert third.signing.verifier == second.signing.verifier


def test_many_processes_that_start_at_once_have_one_key(tmp_path: Path) -> None:
    started = [start(OPEN, tmp_path / "keys") for _ in range(6)]
    printed = [process.communicate(timeout=60)[0].strip() for process in started]
    assert len(set(printed)) == 1
    assert printed[0] == opened(tmp_path / "keys").signing.verifier.vkey


def test_a_kill_at_any_step_of_a_rotation_leaves_keys_that_sign_and_are_published(tmp_path: Path) -> None:
    """Each process is killed at another of the calls that change something, in a first start or in a rotation."""
    code = """
import os, signal, sys
from pathlib import Path
from events.notary import signer
left = int(sys.argv[2])
def killed(before):
    def call(*given, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return before(*given, **named)
    return call
os.open, os.fsync, os.fdopen, Path.replace = map(killed, (os.open, os.fsync, os.fdopen, Path.replace))
signer.rotate(Path(sys.argv[1]))
"""
    for begun in (False, True):
        done, steps = 1, 0
        while done != 0:
            folder = tmp_path / f"{begun}-{steps}"
            before = opened(folder).keys if begun else ()
            pid = os.fork()
            if pid == 0:
                sys.argv = ["", str(folder), str(steps)]
                try:
                    exec(code, {})
                finally:
                    os._exit(0)
            done = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            found = opened(folder)
            is_sound(found)
            assert {one.key for one in before} <= {one.key for one in found.keys}
            assert {one.key.name for one in found.keys} == {found.signing.verifier.name}
            steps += 1
        assert steps > 8


def test_whatever_is_signed_while_keys_rotate_is_by_a_published_key(tmp_path: Path) -> None:
    opened(tmp_path)
    processes = [start(SIGN, tmp_path) for _ in range(2)]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    rotating = [start(f"{OPEN}\nfor _ in range(8): rotate(Path(sys.argv[1]))", tmp_path) for _ in range(2)]
    for process in rotating:
        process.wait(60)
    time.sleep(0.05)
    for process in processes:
        process.kill()
    keys = opened(tmp_path).keys
    assert len(keys) == 17
    known = [one.key for one in keys]
    by = set()
    for process in processes:
        assert process.stdout is not None
        for line in process.stdout.read().split("\n")[:-1]:
            by.add(opened_note(bytes.fromhex(line), known).signatures[0].key_id)
    assert len(by) > 2
