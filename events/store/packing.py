"""Compress standings of matches that are filed away."""

from __future__ import annotations

from backports import zstd

_MAGIC = b"\x28\xb5\x2f\xfd"  # every frame begins with it
_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 19,
    zstd.CompressionParameter.content_size_flag: 0,
    zstd.CompressionParameter.dict_id_flag: 0,
}


def compressed(content: bytes) -> bytes:
    """Compress a standing."""
    return zstd.compress(content, options=_OPTIONS).removeprefix(_MAGIC)


def decompressed(packed: bytes) -> bytes:
    """Return what was compressed."""
    return zstd.decompress(_MAGIC + packed)
