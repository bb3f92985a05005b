"""docs/operating.md names exactly the settings, metrics and options that the code has."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

import events.platform
import service.http.settings
from events.telemetry import metrics  # noqa: F401 - registers the metrics of the platform
from service.http import metrics as http_metrics  # noqa: F401 - registers the metrics of the service
from service.http.limits import LIMITS, PREFIX
from service.supervisor.serve import parsed
from tools import private
from warledger.__main__ import commands, module_of

OPERATING = (private.ROOT / "docs/operating.md").read_text()
RUN = "\n".join((private.ROOT / name).read_text() for name in ("run", "compose.yaml"))


def documented(prefix: str) -> set[str]:
    """Return the names with a prefix that the document has in backquotes."""
    return set(re.findall(rf"`({prefix}\w+)", OPERATING))


def test_every_setting_is_documented_and_every_documented_setting_is_read() -> None:
    code = "\n".join(file.read_text() for place in ("events", "service", "workers") for file in Path(private.ROOT, place).rglob("*.py"))
    read = set(re.findall(r"\bWARLEDGER_[A-Z_]+\b", code + RUN)) - {PREFIX}
    assert documented("WARLEDGER_") == read | {limit.setting for limit in LIMITS if limit.setting}


def test_the_defaults_are_those_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in documented("WARLEDGER_"):
        monkeypatch.delenv(name, raising=False)
    written = dict(re.findall(r"^\| `(WARLEDGER_\w+)` \| `?([^`|]*?)`? \|", OPERATING, re.MULTILINE))
    platform, http = events.platform.settings_from_environment(), service.http.settings.settings_from_environment()
    assert written["WARLEDGER_DATA"] == str(platform.data)
    assert written["WARLEDGER_FSYNC"] == platform.fsync
    assert written["WARLEDGER_PARTITIONS"] == str(platform.partitions)
    assert written["WARLEDGER_CACHED"] == str(platform.cached)
    assert float(written["WARLEDGER_UNSTARTED_DAYS"]) == platform.unstarted_days
    for name in ("body_limit", "header_limit", "streams", "stream_seconds", "comment_seconds", "wait_limit", "key_seconds"):
        assert float(written[f"WARLEDGER_{name.upper()}"]) == getattr(http, name), name


def test_every_metric_is_documented_and_every_documented_metric_is_counted() -> None:
    counted = {sample.name + ("_total" if sample.type == "counter" else "") for sample in REGISTRY.collect()}
    assert documented("warledger_") == {name for name in counted if name.startswith("warledger_")}


def test_every_option_of_serve_is_documented() -> None:
    for option in vars(parsed([])):
        assert f"`--{option}" in OPERATING, option


def test_every_command_has_a_module_and_run_knows_no_other() -> None:
    prepared = set(re.findall(r"[a-z]+", " ".join(re.findall(r"^    ([a-z | ]+)\) (?:prepare|case)", RUN, re.MULTILINE))))
    assert prepared <= commands()
    for command in commands() - {"soak", "bench"}:
        assert callable(importlib.import_module(module_of(command)).main), command
