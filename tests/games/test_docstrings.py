"""The functions of a deed say what they return in one dialect, so that they can be read side by side."""

from __future__ import annotations

import pytest

from games import GAMES
from table.deeds import DEEDS

BEGINNINGS = {
    "offers": ("Return ",),
    "refusal": ("Return why ", "Return None"),
    "ranges": ("Return ",),
    "outside": ("Return the refusal ",),
    "choices": ("Return the choice",),
}


@pytest.mark.parametrize("part", BEGINNINGS)
@pytest.mark.parametrize("deeds", [*[pytest.param(game.deeds(), id=game.id) for game in GAMES.values()], pytest.param(DEEDS, id="table")])
def test_functions_of_one_kind_speak_one_dialect(deeds, part):
    functions = {kind: getattr(deed, part, None) for kind, deed in deeds.items()}
    texts = {kind: " ".join((function.__doc__ or "").split()) for kind, function in functions.items() if function is not None}
    texts = {kind: text for kind, text in texts.items() if "<lambda>" not in functions[kind].__qualname__}  # of games.kernel.only
    assert not [text for text in texts.values() if not text.startswith(BEGINNINGS[part])]
    if part == "refusal":
        assert not [text for text in texts.values() if text.startswith("Return why ") and ", or None" not in text]
