"""docs/auditing.md has every code that a verifier finds, every kind of line with its members, and every kind of tampering."""

from __future__ import annotations

import re
from pathlib import Path

from record.dossiers.lines import MEMBERS
from tests.evidence.tampering import table

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/auditing.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return re.split(r"^#+ ", PAGE.split(f"# {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> set[str]:
    """Return what stands in backquotes in the first cell of each row."""
    return {name for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}


def test_every_code_is_documented() -> None:
    code = "\n".join(file.read_text() for file in (ROOT / "record/dossiers").glob("*.py"))
    found = set(re.findall(r'(?:findings|file\.findings)\.add\(\s*"(\w+)"', code))
    documented = rows(section("Verify a dossier")) | rows(section("Audit a whole record"))
    assert found <= documented
    assert rows(section("Verify a dossier")) <= found


def test_every_line_and_every_member_is_documented() -> None:
    text = section("The dossier")
    assert rows(text) == set(MEMBERS) | {"line"}, "and the head of the table"
    for kind, shapes in MEMBERS.items():
        row = re.search(rf"^\| `{kind}` \|.*$", text, re.MULTILINE)
        assert row is not None
        for name in {name for members in shapes for name in members}:
            assert f"`{name}`" in row[0], (kind, name)


def test_the_table_has_every_kind_of_tampering() -> None:
    assert table() in section("What catches which tampering"), "copy what tests.evidence.tampering.table() returns"
