"""The list of problems is complete."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from events.errors import PlatformError
from service.http.problems import CODES, platform_problem, problem_response
from table.rules import REFUSALS


def subclasses(kind: type[PlatformError]) -> Iterator[type[PlatformError]]:
    """Yield every subclass, and theirs."""
    for subclass in kind.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


@pytest.mark.parametrize("kind", list(subclasses(PlatformError)), ids=lambda kind: kind.__name__)
def test_every_error_of_the_platform_has_a_row(kind: type[PlatformError]) -> None:
    error = kind.__new__(kind)
    error.sentence, error.version, error.place = "A sentence.", 7, 3  # type: ignore[attr-defined]
    response = problem_response(platform_problem(error))
    assert kind.code in CODES
    assert (response.status_code, response.json["code"], response.json["detail"]) == (CODES[kind.code].status, kind.code, "A sentence.")


def test_every_refusal_by_the_table_of_what_a_player_may_choose_is_a_kind_of_problem() -> None:
    """The others are those of actions of the system, which no request can send."""
    assert REFUSALS.keys() - CODES.keys() == {"not_late", "not_due", "nothing_to_return", "not_continued"}
