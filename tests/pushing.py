"""A browser with a push subscription: it reads what was encrypted for it, and a push service checks who has sent it."""

from __future__ import annotations

import base64
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    """A subscription of a browser. Without a private key it makes one."""

    def __init__(self, private: int | None = None, auth: bytes = b"0123456789abcdef") -> None:
        self._private = ec.generate_private_key(ec.SECP256R1()) if private is None else ec.derive_private_key(private, ec.SECP256R1())
        self.auth = auth

    @property
    def point(self) -> bytes:
        return self._private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def keys(self) -> dict[str, str]:
        """The keys as the page sends them."""
        return {"p256dh": encoded(self.point), "auth": encoded(self.auth)}

    def read(self, body: bytes) -> bytes:
        """Decrypt a message, by the steps of RFC 8291, 3.4, written with HMAC. Raises InvalidTag."""
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert len(body) <= size
        shared = self._private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        secret = _expanded(_hmac(self.auth, shared), b"WebPush: info\0" + self.point + sender, 32)
        pseudo = _hmac(salt, secret)
        key = _expanded(pseudo, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _expanded(pseudo, b"Content-Encoding: nonce\0", 12)
        text = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
        assert text[-1:] == b"\x02"
        return text[:-1]


def claims(authorization: str, key: str) -> dict[str, Any]:
    """Return what the `Authorization` of a message says, after checking it with the key of the subscription. Raises InvalidSignature."""
    kind, _, rest = authorization.partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    assert (kind, parts["k"]) == ("vapid", key)
    text, _, signature = parts["t"].rpartition(".")
    head, body = (json.loads(decoded(part)) for part in text.split("."))
    assert head == {"typ": "JWT", "alg": "ES256"}
    raw = decoded(signature)
    signed = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(key)).verify(signed, text.encode(), ec.ECDSA(SHA256()))
    found: dict[str, Any] = body
    return found


def _hmac(key: bytes, text: bytes) -> bytes:
    made = HMAC(key, SHA256())
    made.update(text)
    return made.finalize()


def _expanded(key: bytes, info: bytes, length: int) -> bytes:
    return HKDFExpand(SHA256(), length, info).derive(key)
