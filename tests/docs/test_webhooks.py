"""docs/webhooks.md: its lines are carried out against a real service, whose process sends to the receiver of the page."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import nacl.signing
import pytest

from events.hooks import addresses, deliveries, pace, subscriptions
from tests.service.conftest import ROOT
from tests.whole.test_containers import free_port
from tools import private
from workers.hooks import gates, posting

PAGE = (ROOT / "docs/webhooks.md").read_text("utf-8")
RECEIVER = ROOT / "examples/receive_hooks.py"


def blocks(language: str) -> list[str]:
    """Return the blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_receiver_of_the_page_is_the_example() -> None:
    assert RECEIVER.read_text("utf-8").endswith(f'"""\n\n{blocks("python")[0]}')


def test_the_receiver_hears_whose_turn_it_is(tmp_path: Path) -> None:
    """It takes a service of its own: this is the only test in which `serve` sends webhooks."""
    port = free_port()
    named = re.findall(r"^(WARLEDGER_HOOK_ORIGINS)=(\S+) ./run serve$", PAGE, re.MULTILINE)
    settings = {name: value.replace(":9000", f":{port}") for name, value in named}
    assert settings
    (lines,) = blocks("sh")
    options = [option for option in private.SMALL if option not in ("--hooks", "0")]
    with private.service(tmp_path, *options, environment={**os.environ, **settings}) as place:
        script = lines.replace("http://127.0.0.1:8000", place.url).replace("9000", str(port))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        command = ["sh", "-eu", "-c", script + "\nwait"]
        shell = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            assert shell.stdout is not None
            assert next(line for line in shell.stdout if "is to act" in line)
        finally:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()


def test_the_signature_of_the_server_is_checked_as_the_page_does() -> None:
    space: dict[str, object] = {}
    exec(blocks("python")[1], space)
    check = space["is_by_server"]
    assert callable(check)
    key = nacl.signing.SigningKey(bytes(32))
    public = f"whpk_{b64encode(bytes(key.verify_key)).decode()}"
    signed = b64encode(key.sign(b"id.5.body").signature).decode()
    headers = {"webhook-id": "id", "webhook-timestamp": "5", "webhook-signature": f"v1,abc v1a,{signed}"}
    assert check(public, headers, b"body") is True
    assert check(public, headers, b"other") is False
    assert check(public, {**headers, "webhook-signature": "v1,abc"}, b"body") is False


@pytest.mark.parametrize(
    "said",
    [
        f"A player has at most {subscriptions.MOST_HOOKS}.",
        f"at most {addresses.LONGEST} characters",
        f"newest {deliveries.KEPT} tries",
        f"keeps {deliveries.LONGEST_ANSWER} characters",
        f"within {posting.SECONDS:.0f} seconds",
        f"send {pace.MESSAGES} messages a minute",
    ],
)
def test_the_numbers_of_the_page_are_those_of_the_code(said: str) -> None:
    assert said in " ".join(PAGE.split())


def test_the_words_for_numbers_are_those_of_the_code() -> None:
    assert (pace.MESSAGES_SECONDS, pace.PATIENCE_MS, gates.OF_PLAYER) == (60, 3 * 86_400_000, 8)
    assert gates.DELAYS == (5, 60, 300, 1800, 3600)
    assert subscriptions.OVERLAP == 86_400
