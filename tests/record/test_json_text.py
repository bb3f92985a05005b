"""JSON texts: the standard library gives the same bytes as orjson, and refuses the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from record import json_text
from record.json_text import _plain_dumps, _plain_loads

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_both_give_the_same_bytes_and_read_them(value: Any) -> None:
    text = json_text.dumps(value)
    assert _plain_dumps(value) == text
    assert _plain_loads(text) == json_text.loads(text) == value


@pytest.mark.parametrize("value", [2**53, -(2**53), {"a": 2**60}, {1: 2}, [object()], "\ud800", {"\ud800": 1}, {"a": {2, 3}}])
def test_both_refuse_the_same_values(value: Any) -> None:
    for dumps in (json_text.dumps, _plain_dumps):
        with pytest.raises(TypeError):
            dumps(value)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"nan", b"NaN", b"[Infinity]", b'"\\ud800"', b'{"\\udc00": 1}', b"\xff", b'"\xed\xa0\x80"', b"01", b"[1,]", b"[" * 100_000],
)
def test_both_refuse_the_same_texts(text: bytes) -> None:
    for loads in (json_text.loads, _plain_loads):
        with pytest.raises(ValueError):
            loads(text)


@pytest.mark.parametrize("text", [b'"\\ud83d\\ude00"', b'{"a": 1, "a": 2}', b" [1.5, 1e16, -0] ", b'"\\u0000\\/"'])
def test_both_read_the_same_from_unusual_texts(text: bytes) -> None:
    assert _plain_loads(text) == json_text.loads(text)
