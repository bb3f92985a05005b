"""What the entries of a dossier are checked for without rules of a game."""

from __future__ import annotations

from typing import Any

import pytest

from record.dossiers.chains import Chain, Opening
from record.dossiers.findings import Findings

ADA, BEN = "p" + "a" * 16, "p" + "b" * 16
ALONE = {"red": {"player": ADA}, "blue": {"ai": "novice"}}
TAKEN = {"type": "seat_taken", "seat": "blue", "player": BEN, "contribution": None}
HANDED_OVER = {"type": "seat_handed_over", "seat": "red", "player": BEN}


@pytest.mark.parametrize(
    ("changed", "later", "found"),
    [
        ({}, {"type": "turn_ended"}, []),
        ({"dice": None}, TAKEN, []),
        ({"roster": {**ALONE, "blue": {"open": True}}}, TAKEN, [1, 2]),
        ({"roster": {**ALONE, "blue": {"player": BEN, "ai": "novice"}}}, {"type": "turn_ended"}, [1]),
        ({"dice": "0a"}, {"type": "turn_ended"}, [1]),
        ({"practice": None}, {"type": "turn_ended"}, [1]),
        ({"rated": True}, {"type": "turn_ended"}, [1]),
        ({}, HANDED_OVER, [2]),
    ],
)
def test_dice_are_known_only_where_nobody_else_plays(changed: dict[str, Any], later: dict[str, Any], found: list[int]) -> None:
    """TBL-GUI-02, for a verifier without rules."""
    created = {"type": "match_created", "game": "war", "creator": ADA, "commitment": "00" * 32, "roster": ALONE}
    created |= {"dice": "0a" * 32, "practice": True, **changed}
    findings = Findings()
    chain = Chain(Opening("m" + "a" * 16, "spectator"), findings)
    for version, event in enumerate([{name: value for name, value in created.items() if value is not None}, later], 1):
        chain._note(version, 0, "", {}, [event], (1, ""), None)
    assert [one.version for one in findings.in_order() if one.code == "not_legal"] == found
    assert {one.code for one in findings.in_order()} <= {"not_legal"}
