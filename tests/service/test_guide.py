"""docs/api.md is true: every code, address and header stands in it."""

from __future__ import annotations

import re
from pathlib import Path

from events.platform import Platform
from service.app import operations
from service.openapi import HEADERS
from service.problems import CODES
from service.settings import Settings

GUIDE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")


def test_every_code_is_told_with_its_status() -> None:
    told = {
        code: int(row[1])
        for row in re.findall(r"^(\| (\d{3}) \|(.*?)\|.*)$", GUIDE, re.MULTILINE)
        for code in re.findall(r"`(\w+)`", row[2])
    }
    assert told == {code: kind.status for code, kind in CODES.items()}


def test_every_address_is_told(platform: Platform) -> None:
    for operation in operations(platform, Settings()):
        assert f"{operation.path}`" in GUIDE


def test_every_header_is_told() -> None:
    for header in HEADERS:
        assert f"`{header}" in GUIDE


def test_every_setting_is_told_in_the_book_for_operators() -> None:
    book = (Path(__file__).parents[2] / "docs" / "operating.md").read_text("utf-8")
    source = (Path(__file__).parents[2] / "service" / "settings.py").read_text("utf-8")
    for name in re.findall(r'"(WARLEDGER_\w+)"', source):
        assert name in book
