"""Web Push: what a browser's push service takes for a player. It is encrypted for that browser alone, by a server that the service knows.

A push subscription is a hook. The browser makes it for the `public_key` of this server (VAPID, RFC 8292), and sends a point of P-256 and a
secret, with which messages are encrypted (RFC 8291). The push service learns when something was sent, and nothing else: every message has
the same headers, and is padded to one length.

The key follows from the secret of the store, as the secrets of hooks do, so that nothing is stored and every process has it.
"""

from __future__ import annotations

import base64
import hmac
import os

import orjson
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from events.hooks.addresses import target
from events.platform import Platform

RECORD = 4096  # bytes, the most that every push service takes
PADDED = 1024  # bytes of which the length of a text with its padding is a multiple
TTL_SECONDS = 86_400  # that a push service keeps a message for a device that is off
VALID_SECONDS = 43_200  # of what the server signs for a push service, which may be a day at most

_CURVE = ec.SECP256R1()


def is_point(text: str) -> bool:
    """Return True if a text is a point of P-256, uncompressed and in base64url, as browsers give it (`p256dh`)."""
    try:
        return len(decoded(text)) == 65 and bool(_point(text))
    except ValueError:
        return False


def public_key(platform: Platform) -> str:
    """Return the key for which browsers make subscriptions (`applicationServerKey`). Raises StoreUnavailable."""
    return encoded(_raw(_key(platform)))


def headers(platform: Platform, url: str, now: int) -> list[tuple[bytes, bytes]]:
    """Return the headers of a message that goes to the URL of a subscription at a moment (ms since 1970).

    Raises KeysUnfit, StoreUnavailable.
    """
    to, key = target(url), _key(platform)
    audience = to.origin.removesuffix(":443") if to.scheme == "https" else to.origin
    claims: dict[str, str | int] = {"aud": audience, "exp": now // 1000 + VALID_SECONDS, "sub": f"https://{platform.signer.name}"}
    return [
        (b"Content-Type", b"application/octet-stream"),
        (b"Content-Encoding", b"aes128gcm"),
        (b"Authorization", f"vapid t={_token(key, claims)}, k={encoded(_raw(key))}".encode()),
        (b"TTL", str(TTL_SECONDS).encode()),
        (b"Urgency", b"high"),
    ]


def encrypted(text: bytes, point: str, auth: str) -> bytes:
    """Return a message that only the browser with this point and secret can read. Raises ValueError if the text is too long."""
    length = -(-(len(text) + 1) // PADDED) * PADDED
    return sealed(text.ljust(length - 1, b"\0"), len(text), point, auth, ec.generate_private_key(_CURVE), os.urandom(16))


def sealed(text: bytes, length: int, point: str, auth: str, key: ec.EllipticCurvePrivateKey, salt: bytes) -> bytes:
    """Return a text as one record of `aes128gcm` (RFC 8188) with keys by RFC 8291. What comes after `length` bytes is padding.

    `key` and `salt` are for this message alone. Raises ValueError if the text is too long.
    """
    if len(text) + 1 + 16 > RECORD - 86:
        raise ValueError("a message of Web Push has one record")
    to, own = decoded(point), _raw(key)
    shared = key.exchange(ec.ECDH(), _point(point))
    secret = _derived(shared, decoded(auth), b"WebPush: info\0" + to + own, 32)
    content = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + RECORD.to_bytes(4, "big") + bytes([len(own)]) + own
    record: bytes = AESGCM(content).encrypt(nonce, text[:length] + b"\x02" + text[length:], None)
    return header + record


def encoded(data: bytes) -> str:
    """Return bytes in base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Return what a text in base64url means. Raises ValueError."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _key(platform: Platform) -> ec.EllipticCurvePrivateKey:
    """Return the key by which the server is known to push services (VAPID). Raises StoreUnavailable."""
    digest = hmac.digest(platform.store.secret, b"push", "sha512")  # twice as long as the order, so that every key is as likely
    return ec.derive_private_key(int.from_bytes(digest, "big") % (_CURVE.group_order - 1) + 1, _CURVE)


def _token(key: ec.EllipticCurvePrivateKey, claims: dict[str, str | int]) -> str:
    """Return a JSON Web Token with an ES256 signature."""
    text = ".".join([encoded(orjson.dumps(part)) for part in ({"typ": "JWT", "alg": "ES256"}, claims)])
    r, s = utils.decode_dss_signature(key.sign(text.encode(), ec.ECDSA(SHA256())))
    return f"{text}.{encoded(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    derived: bytes = HKDF(SHA256(), length, salt, info).derive(secret)
    return derived


def _point(text: str) -> ec.EllipticCurvePublicKey:
    return ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, decoded(text))


def _raw(key: ec.EllipticCurvePrivateKey) -> bytes:
    raw: bytes = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return raw
