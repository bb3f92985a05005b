"""Statements: each is read back as it was written, and nothing else is read."""

from __future__ import annotations

import pytest

from evidence.running import Running
from evidence.statements import (
    KINDS,
    Dossier,
    NotAStatement,
    Read,
    Receipt,
    SideLog,
    dossier_text,
    parse_dossier,
    parse_read,
    parse_receipt,
    read_text,
    receipt_text,
)

HASH = "0f" * 32
MATCH = "mabcdefghijklmnop"
RECEIPT, DOSSIER, READ = (
    Receipt(MATCH, 12, HASH, 1_700_000_000_000),
    Dossier(MATCH, 12, "spectator", HASH),
    Read(MATCH, 0, "admin", "view:red", 0),
)


def test_a_statement_has_one_value_on_each_line():
    assert receipt_text(RECEIPT) == f"warledger.org/receipt/v1\n{MATCH}\n12\n{HASH}\n1700000000000\n"
    assert dossier_text(DOSSIER) == f"warledger.org/dossier/v1\n{MATCH}\n12\nspectator\n{HASH}\n"
    assert read_text(READ) == f"warledger.org/read/v1\n{MATCH}\n0\nadmin\nview:red\n0\n"
    assert parse_receipt(receipt_text(RECEIPT)) == RECEIPT
    assert parse_dossier(dossier_text(DOSSIER)) == DOSSIER
    assert parse_read(read_text(READ)) == READ


def test_a_receipt_says_how_many_replicas_hold_its_version():
    held = RECEIPT._replace(held=2)
    seat = held._replace(sidelog=SideLog("red", Running(2, HASH), Running(0, HASH)))
    assert receipt_text(held) == f"{receipt_text(RECEIPT)}held 2\n"
    assert receipt_text(seat).startswith(f"{receipt_text(held)}red\n")
    assert [parse_receipt(receipt_text(each)) for each in (held, seat)] == [held, seat]
    for wrong in ("held 0\n", "held 01\n", "held 1000\n", "held\n", "held 1\nheld 1\n", "held -1\n"):
        with pytest.raises(NotAStatement):
            parse_receipt(receipt_text(RECEIPT) + wrong)


def test_no_statement_is_taken_for_another_one():
    texts = [receipt_text(RECEIPT), dossier_text(DOSSIER), read_text(READ)]
    for kind, text in zip(KINDS, texts, strict=True):
        assert text.startswith(kind + "\n")
        for parse in (parse_receipt, parse_dossier, parse_read):
            if parse.__name__.removeprefix("parse_") not in kind:
                with pytest.raises(NotAStatement):
                    parse(text)


@pytest.mark.parametrize(("old", "new"), [("12", "012"), ("12", "-1"), ("12", ""), ("12", "1.0"), ("12", "1" + "0" * 16), ("12", "١٢")])
@pytest.mark.parametrize("end", ["", "x", "\n", "0\n"])
def test_a_text_with_another_form_is_not_a_receipt(old, new, end):
    text = receipt_text(RECEIPT)
    for changed in (text.replace(old, new), text + end if end else text[:-1], text.replace(HASH, HASH.upper()), text.replace(MATCH, "a b")):
        with pytest.raises(NotAStatement):
            parse_receipt(changed)


@pytest.mark.parametrize("match", ["", "a\nb", "a b", "é", "a" * 101])
def test_a_value_that_is_not_one_line_is_refused(match):
    with pytest.raises(NotAStatement):
        receipt_text(RECEIPT._replace(match=match))
    with pytest.raises(NotAStatement):
        read_text(READ._replace(reader=match))
