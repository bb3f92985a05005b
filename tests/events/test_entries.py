"""Entries: canonical JSON as RFC 8785 has it, and digests that hang together."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from events.entries import START, Entry, NotCanonical, Unreadable, canonical, parse, plain, seal

texts = st.text(st.characters(exclude_categories=["Cs"]))
keys = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0xD7FF))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
ENTRY = Entry("m" + "a" * 16, 1, "red", {"type": "go"}, [{"type": "went", "to": "c4"}], 1, 1_700_000_000_000, None, "")


@given(values)
def test_canonical_json_is_that_of_rfc_8785(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [1.0, 0.5, {"a": [1.5]}, [{"b": -2.0}], 2**53, -(2**60), {1: 2}, object(), float("1e3")])
def test_what_has_no_canonical_json_here_is_refused(value: object) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)


def test_a_point_inside_a_string_is_no_fraction() -> None:
    assert canonical({"a.b": "1.5"}) == b'{"a.b":"1.5"}'


@given(values.filter(lambda value: isinstance(value, dict)), st.text("0123456789abcdef", min_size=64, max_size=64))
def test_an_entry_comes_back_from_its_bytes_and_its_digest_is_as_documented(action: dict, previous: str) -> None:
    entry, wire = seal(previous, ENTRY._replace(action=action, request={"id": '","events":[', "fingerprint": "0"}))
    assert parse(wire) == entry
    assert wire == rfc8785.dumps(plain(entry))
    without = {name: value for name, value in json.loads(wire).items() if name != "digest"}
    assert entry.digest == sha256(previous.encode() + rfc8785.dumps(without)).hexdigest()


def test_the_secret_is_part_of_the_entry_that_reveals_it() -> None:
    bare, _ = seal(START, ENTRY)
    revealing, wire = seal(START, ENTRY._replace(secret="00" * 32))
    assert bare.digest != revealing.digest
    assert parse(wire).secret == "00" * 32


@pytest.mark.parametrize(
    "wire", [b"", b"{", b"[]", b"null", b"{}", b"\xff", seal(START, ENTRY)[1].replace(b'"version":1', b'"version":"1"')]
)
def test_bytes_that_are_no_entry_are_unreadable(wire: bytes) -> None:
    with pytest.raises(Unreadable):
        parse(wire)
