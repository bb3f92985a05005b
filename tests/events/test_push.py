"""Web Push: the encryption of RFC 8291, and what a push service learns."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from events.hooks import push
from events.hooks.push import PADDED, RECORD, VALID_SECONDS, encrypted, headers, is_point, public_key, sealed
from events.platform import Platform
from tests.pushing import Browser, claims, decoded, encoded

# RFC 8291, appendix A.
POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
PRIVATE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
MESSAGE = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4M"
    "qgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)
TEXT = b"When I grow up, I want to be a watermelon"


def whole(text: str) -> int:
    return int.from_bytes(decoded(text), "big")


def test_a_message_is_encrypted_as_the_example_of_the_rfc() -> None:
    sender = ec.derive_private_key(whole(SENDER), ec.SECP256R1())
    assert encoded(sealed(TEXT, len(TEXT), POINT, AUTH, sender, decoded(SALT))) == MESSAGE
    browser = Browser(whole(PRIVATE), decoded(AUTH))
    assert (encoded(browser.point), browser.read(decoded(MESSAGE))) == (POINT, TEXT)


def test_messages_have_one_length_and_never_the_same_bytes() -> None:
    browser = Browser()
    texts = [b"", TEXT, TEXT, b"x" * (PADDED - 1)]
    made = [encrypted(text, *browser.keys.values()) for text in texts]
    assert [browser.read(each) for each in made] == texts
    assert {len(each) for each in made} == {PADDED + 86 + 16}
    assert len(set(made)) == 4
    assert len(encrypted(b"x" * (3 * PADDED - 1), *browser.keys.values())) <= RECORD
    with pytest.raises(ValueError, match="one record"):
        encrypted(b"x" * 4 * PADDED, *browser.keys.values())


def test_a_push_service_learns_who_sends_and_nothing_else(platform: Platform) -> None:
    now = 1_800_000_000_000
    found = dict(headers(platform, "https://push.example/send/abc?d=e", now))
    assert claims(found[b"Authorization"].decode(), public_key(platform)) == {
        "aud": "https://push.example",
        "exp": now // 1000 + VALID_SECONDS,
        "sub": f"https://{platform.signer.name}",
    }
    assert [*found] == [b"Content-Type", b"Content-Encoding", b"Authorization", b"TTL", b"Urgency"]
    other = dict(headers(platform, "https://push.example:8443/", now))
    assert claims(other[b"Authorization"].decode(), public_key(platform))["aud"] == "https://push.example:8443"


def test_the_key_stays_and_is_not_stored(platform: Platform) -> None:
    assert public_key(platform) == public_key(platform)
    assert is_point(public_key(platform))
    assert push._key(platform).private_numbers().private_value.to_bytes(32, "big") not in platform.store.secret


def test_only_points_of_the_curve_are_points() -> None:
    assert is_point(POINT)
    assert not any(map(is_point, ("", POINT[:-1], POINT[:-2] + "AA", "A" * 87, encoded(b"\2" + decoded(POINT)[1:33]), "é" * 87)))
