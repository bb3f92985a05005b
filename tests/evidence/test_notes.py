"""Signed notes: what others sign is read, what is made here is as the specification says, and whatever is changed is found."""

from __future__ import annotations

import base64
from hashlib import sha256

import pytest

from evidence.notes import COSIGNATURE, Malformed, Note, Signature, SigningKey, Unverified, VerifierKey, opened, parse, parse_vkey, write

# The example and the key of golang.org/x/mod/sumdb/note, which is where the format comes from.
PETER = parse_vkey("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
KNOWN = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
KEY = SigningKey("example.org/games", bytes(range(32)))
TEXT = "warledger.org/receipt/v1\nmabcdefghijklmnop\n7\n"


def test_a_note_and_a_key_of_the_first_implementation_are_read():
    note = opened(KNOWN, [PETER])
    assert note.text == KNOWN.split("\n\n")[0] + "\n"
    assert [signature.name for signature in note.signatures] == ["PeterNeumann"]
    assert write(parse(KNOWN)) == KNOWN


def test_a_note_is_made_as_the_specification_says():
    note, public = KEY.sign(TEXT), KEY.verifier.public
    key_id = sha256(b"example.org/games\n\x01" + public).digest()[:4]
    head, _, encoded = note.removeprefix(TEXT + "\n").rpartition(" ")
    assert head == "— example.org/games"
    assert base64.b64decode(encoded)[:4] == key_id
    assert len(base64.b64decode(encoded)) == 68
    assert note.endswith("\n")
    assert KEY.verifier.vkey == "example.org/games+" + key_id.hex() + "+" + base64.b64encode(b"\x01" + public).decode()
    assert parse_vkey(KEY.verifier.vkey) == KEY.verifier
    assert opened(note, [KEY.verifier, PETER]) == parse(note)


def test_every_change_of_a_note_is_found():
    note = KEY.sign(TEXT).encode()
    for place in range(len(note)):
        for changed in (note[:place] + bytes([note[place] ^ 1]) + note[place + 1 :], note[:place] + note[place + 1 :], note[:place]):
            with pytest.raises((Malformed, Unverified)):
                opened(changed, [KEY.verifier])


def test_signatures_of_unknown_keys_are_ignored_and_a_wrong_one_of_a_known_key_is_not():
    other, impostor = SigningKey("example.org/games", bytes(32)), SigningKey("someone", bytes(range(32)))
    both = write(Note(TEXT, (impostor.signature(TEXT.encode()), KEY.signature(TEXT.encode()))))
    assert [signature.name for signature in opened(both, [KEY.verifier]).signatures] == ["example.org/games"]
    with pytest.raises(Unverified, match="no known key signed"):
        opened(both, [other.verifier])
    wrong = Signature(KEY.verifier.name, KEY.verifier.id, bytes(64))
    with pytest.raises(Unverified, match="does not match"):
        opened(write(Note(TEXT, (KEY.signature(TEXT.encode()), wrong))), [KEY.verifier])


def test_a_cosignature_has_another_id_and_does_not_sign_a_text():
    cosigner = SigningKey(KEY.verifier.name, bytes(range(32)), COSIGNATURE)
    assert cosigner.verifier.public == KEY.verifier.public
    assert cosigner.verifier.id != KEY.verifier.id
    assert parse_vkey(cosigner.verifier.vkey) == cosigner.verifier
    with pytest.raises(Unverified):
        opened(cosigner.sign(TEXT), [cosigner.verifier])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "a\n\n",
        "a\n\nb",
        "a\n\nb\n",
        "a\n\n— b\n",
        "a\n\n— b \n",
        "a\n\n— b AAAA\n",
        "a\n\n- b AAAAAAAA\n",
        "a\n\n— b+c AAAAAAAA\n",
        "a\r\n\n— b AAAAAAAA\n",
        "a\n\n— b AAAAAAA=",
        "a\n\n— b AAAAAAB=\n",
        "a\n\n— b AAAAAAAA",
        "a\n— b AAAAAAAA\n",
        "a\n\n— b AAAAAAAA\n\n",
        "\ud800\n\n— b AAAAAAAA\n",
        "a\n\n" + "— b AAAAAAAA\n" * 101,
        "a" * 1_000_000 + "\n\n— b AAAAAAAA\n",
        b"\xff\n\n\xe2\x80\x94 b AAAAAAAA\n",
    ],
)
def test_what_is_not_a_note_is_refused(text):
    with pytest.raises(Malformed):
        parse(text)
    parse("a\n\n" + "— b AAAAAAAA\n" * 100)


@pytest.mark.parametrize("vkey", ["", "a", "a+b", PETER.vkey[1:], PETER.vkey + "=", PETER.vkey.replace("+c7", "+C7"), "a b" + PETER.vkey])
def test_what_is_not_a_key_is_refused(vkey):
    with pytest.raises(Malformed):
        parse_vkey(vkey)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u2003b", "a" * 256])
def test_a_key_cannot_have_every_name(name):
    with pytest.raises(Malformed):
        SigningKey(name, bytes(32))


@pytest.mark.parametrize("text", ["", "a", "a\tb\n", "a\r\n"])
def test_a_note_cannot_have_every_text(text):
    with pytest.raises(Malformed):
        KEY.sign(text)
    with pytest.raises(Malformed):
        write(Note("a\n", ()))


def test_a_signature_of_another_length_or_a_point_that_is_none_signs_nothing():
    assert not KEY.verifier.signed(b"", bytes(63))
    assert not VerifierKey("a", 1, b"\xff" * 32).signed(b"", bytes(64))
