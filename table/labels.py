"""Labels: the name and the tags that a match is given when it is created, by which people and programs find it (LBL)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games import patterns
from games.patterns import anchored, matches
from games.schema import Fields, Malformed, Shape, described, listing, nullable, optional, text
from table.data import LONGEST_MATCH_NAME, MOST_TAGS


def matching(pattern: str, about: str) -> Shape:
    """Return the shape of a string that has a pattern as a whole."""
    shape = text(anchored(pattern), about)

    def clean(given: Any) -> Any:
        if not matches(pattern, shape.clean(given)):
            raise Malformed(f"the value must be {about}")
        return given

    return shape._replace(clean=clean)


NAME = matching(
    rf"[^\x00-\x1f\x7f-\x9f]{{1,{LONGEST_MATCH_NAME}}}",
    f"the name of the match, 1 to {LONGEST_MATCH_NAME} characters without control characters",
)
TAG = matching(patterns.TAG, "a tag: 1 to 40 lower-case letters, digits, dots, hyphens and underscores; the first is a letter or a digit")


def _tags() -> Shape:
    """Return the shape of the tags of a match: in alphabetical order, each once."""
    shape = listing(TAG, high=MOST_TAGS, about=f"the tags of the match, at most {MOST_TAGS}, in alphabetical order, each once")

    def clean(given: Any) -> list[str]:
        tags: list[str] = shape.clean(given)
        if len(tags) > MOST_TAGS or tags != sorted(set(tags)):
            raise Malformed(f"expected at most {MOST_TAGS} tags in alphabetical order, each once")
        return tags

    return shape._replace(clean=clean)


TAGS = _tags()
GIVEN: Fields = {"name": optional(NAME), "tags": optional(TAGS)}
HELD: Fields = {"name": described(nullable(NAME), "the name of the match; null if it has none"), "tags": TAGS}


def chosen_labels(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labels of a new match, without those that are as if nothing was chosen (TBL-LBL-01)."""
    return {name: action[name] for name in GIVEN if action.get(name)}
