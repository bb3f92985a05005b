"""docs/api.md names every code, address and header."""

from __future__ import annotations

import re
from pathlib import Path

from service.api.openapi import REQUEST_HEADERS
from service.api.routes import OPERATIONS
from service.http.problems import documented
from tools import documents

GUIDE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")


def test_every_code_is_documented_with_its_status_and_its_sentence() -> None:
    assert "\n\n" + "\n".join(documented()) + "\n\n" in GUIDE


def test_every_address_is_documented() -> None:
    for operation in OPERATIONS:
        assert f"{operation.path}`" in GUIDE


def test_every_operation_has_a_request_with_its_answer() -> None:
    page = documents.EXAMPLES.read_text("utf-8")
    assert page == dict(documents.files())[documents.EXAMPLES], "run `./run documents`"
    for operation in OPERATIONS:
        assert f"\n### {operation.summary}\n```\n{operation.method} {operation.path}\n" in page


def test_every_header_is_documented() -> None:
    for header in REQUEST_HEADERS:
        assert f"`{header}" in GUIDE


def test_every_setting_is_documented_for_operators() -> None:
    book = (Path(__file__).parents[2] / "docs" / "operating.md").read_text("utf-8")
    source = (Path(__file__).parents[2] / "service" / "http" / "settings.py").read_text("utf-8")
    for name in re.findall(r'"(WARLEDGER_\w+)"', source):
        assert name in book
