"""docs/operating.md names every setting, metric and option that the code has, and none that it has not."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client import REGISTRY

import events.platform
import service.settings
from events import metrics  # noqa: F401 - registers what the memory counts
from service import numbers  # noqa: F401 - registers what the service counts
from service.serve import parsed
from tools import private

OPERATING = (private.ROOT / "docs/operating.md").read_text()
RUN = (private.ROOT / "run").read_text()


def told(prefix: str) -> set[str]:
    """The names with a prefix that stand in the document in code."""
    return set(re.findall(rf"`({prefix}\w+)", OPERATING))


def test_every_setting_is_told_and_every_told_setting_is_read() -> None:
    code = "\n".join(file.read_text() for place in ("events", "service", "workers") for file in Path(private.ROOT, place).glob("*.py"))
    assert told("WARLEDGER_") == set(re.findall(r"\bWARLEDGER_[A-Z_]+\b", code + RUN))


def test_the_defaults_are_those_of_the_code() -> None:
    written = dict(re.findall(r"^\| `(WARLEDGER_\w+)` \| `?([^`|]*?)`? \|", OPERATING, re.MULTILINE))
    memory, http = events.platform.settings_from({}), service.settings.settings_from({})
    assert written["WARLEDGER_DATA"] == str(memory.data)
    assert written["WARLEDGER_FSYNC"] == memory.fsync
    assert written["WARLEDGER_PARTITIONS"] == str(memory.partitions)
    assert written["WARLEDGER_CACHED"] == str(memory.cached)
    for name in ("body_limit", "streams", "stream_seconds", "comment_seconds", "wait_limit", "key_seconds"):
        assert float(written[f"WARLEDGER_{name.upper()}"]) == getattr(http, name), name


def test_every_metric_is_told_and_every_told_metric_is_counted() -> None:
    counted = {sample.name + ("_total" if sample.type == "counter" else "") for sample in REGISTRY.collect()}
    assert told("warledger_") == {name for name in counted if name.startswith("warledger_")}


def test_every_option_of_serve_is_told() -> None:
    for option in vars(parsed([])):
        assert f"`--{option}" in OPERATING, option


def test_every_command_of_run_is_in_its_help_and_has_a_module() -> None:
    commands = set(re.findall(r"[a-z]+", " ".join(re.findall(r"^    ([a-z | ]+)\) prepare", RUN, re.MULTILINE))))
    assert commands == set(re.findall(r"^  \./run ([a-z]+)", RUN, re.MULTILINE))
    for command in commands - {"serve", "test", "soak", "bench"}:
        assert (private.ROOT / "tools" / f"{command}.py").exists(), command
