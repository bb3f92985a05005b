"""The generated files of the SDKs: `./run openapi` writes them, and a test compares them (ADR 101)."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.typeddicts import module

PYTHON = Path(__file__).resolve().parent.parent / "sdk" / "python" / "warledger_client"
ASYNC, SYNC, TYPES = "asynchronous.py", "synchronous.py", "types.py"
ABOUT = (
    '"""The client for ordinary programs: generated from asynchronous.py by `./run openapi`, not to be edited."""',
    '"""The client for `async` programs, on asyncio or trio. `synchronous.py` is generated from this module (`./run openapi`)."""',
)
ORDINARY = (
    (r"import anyio\n", ""),
    (r"from collections.abc", "import time\nfrom collections.abc"),
    (r"anyio\.sleep", "time.sleep"),
    (r"AsyncIterator, Awaitable, Callable", "Callable, Iterator"),
    (r"Awaitable\[(Mapping\[str, object\])\]", r"\1"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync(Client|Match|Turn|Iterator)\b", r"\1"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\baiter_sse\b", "iter_sse"),
    (r"\ba(close|read)\b", r"\1"),
)


def generated(description: Any) -> Iterator[tuple[Path, str]]:
    """Yield each generated file with its text. `description`: openapi.yaml, parsed."""
    yield PYTHON / TYPES, formatted(module(description))
    yield PYTHON / SYNC, formatted(ordinary((PYTHON / ASYNC).read_text(encoding="utf-8")))


def ordinary(code: str) -> str:
    r"""Return a module for ordinary programs, made from one for `async` programs.

    >>> ordinary("async def play(turn: AsyncTurn) -> None:\n    async for one in turn: await one.aclose()")
    'def play(turn: Turn) -> None:\n    for one in turn: one.close()'
    """
    code = code.replace(ABOUT[1], ABOUT[0])
    for pattern, replacement in ORDINARY:
        code = re.sub(pattern, replacement, code)
    return code


def formatted(code: str) -> str:
    """Return code as `ruff format` writes it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PYTHON / "x.py"), "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True, check=True).stdout
