"""Responses: the bytes of an answer, its media type and its cache headers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
from flask import Response
from werkzeug.http import parse_etags

JSON = "application/json"
NDJSON = "application/x-ndjson"
TEXT = "text/plain"
BYTES = "application/octet-stream"
SVG = "image/svg+xml"
XML = "text/xml"
CSS = "text/css"
EVENT_STREAM = "text/event-stream"

GZIPPED = "-gzip"  # the suffix of the ETag of a compressed answer

_WEIGHT = re.compile(r"0(?:\.\d{0,3})?|1(?:\.0{0,3})?")
_JSON_HEADERS = [("Content-Type", JSON)]
_TEXT_HEADERS = [("Content-Type", f"{TEXT}; charset=utf-8")]
_PUBLIC_SECONDS = 300
_KEPT_SECONDS = 3600
_PRIVATE = ("Cache-Control", "private, no-cache")
FIXED = "private, max-age=31536000, immutable"  # for what is drawn of one version


class Reply(NamedTuple):
    """An answer in bytes. The busiest routes return it, since a `Response` costs a tenth of an action."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def as_response(self) -> Response:
        """Return the answer as a Flask response."""
        response = Response(self.body, self.status)
        response.headers.clear()
        response.headers.extend(self.headers)
        return response


def sorted_json(value: Any) -> bytes:
    """Return JSON with sorted keys, so that equal values give the same bytes."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def json_response(value: Any, status: int = 200) -> Response:
    """Return a response in JSON."""
    return Response(sorted_json(value), status, _JSON_HEADERS)


def made(value: Any, address: str) -> Response:
    """Return a 201 in JSON for something that was created at an address."""
    response = json_response(value, 201)
    response.headers["Location"] = address
    return response


def markdown_response(text: str, language: str = "en") -> Response:
    """Return a response in Markdown."""
    return Response(text, headers={"Content-Language": language}, mimetype="text/markdown")


def also_as(media_type: str, response: Response, accept: str | None) -> Response:
    """Return the response with a media type that every client generator knows, if an Accept header prefers it."""
    if response.mimetype and prefers(accept, media_type, response.mimetype):
        response.mimetype = media_type
    response.vary.add("Accept")
    return response


def text_response(lines: Iterable[str]) -> Response:
    """Return a response of lines of plain text."""
    return Response("".join(f"{line}\n" for line in lines), mimetype=TEXT)


def empty_response(status: int) -> Response:
    """Return a response without a body."""
    response = Response(status=status)
    del response.headers["Content-Type"]
    return response


def prefers(accept: str | None, media_type: str, to: str = JSON) -> bool:
    """Return True if an Accept header prefers a media type to another one."""
    if accept is None:
        return False
    weights = _weights(accept)
    return _weight(weights, media_type) > _weight(weights, to)


def _weights(accept: str) -> dict[str, float]:
    """Return the weight of each media range of an Accept header, in linear time. A range with a malformed weight is left out.

    A range that occurs twice has its larger weight. werkzeug's own parser takes quadratic time for a long run of blanks.
    """
    weights: dict[str, float] = {}
    for part in accept.split(","):
        kind, *parameters = part.split(";")
        named = dict(parameter.strip().lower().partition("=")[::2] for parameter in parameters)
        weight = _WEIGHT.fullmatch(named.get("q", "1"))
        if weight is not None:
            name = kind.strip().lower()
            weights[name] = max(float(weight[0]), weights.get(name, 0.0))
    return weights


def _weight(weights: dict[str, float], media_type: str) -> float:
    """Return the weight of the most specific range that includes a media type, or 0."""
    ranges = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    return next((weights[name] for name in ranges if name in weights), 0.0)


def takes(accept_encoding: str | None, coding: str) -> bool:
    """Return True if an Accept-Encoding header names a content coding, or any, with a weight above 0."""
    weights = _weights(accept_encoding or "")
    return weights.get(coding, weights.get("*", 0.0)) > 0


def private(response: Response, vary: str = "Authorization") -> Response:
    """Mark a response as private to its caller. Caches must revalidate it, for each key."""
    response.headers.extend([("Vary", vary), _PRIVATE])
    return response


def in_language(response: Response | Reply, language: str) -> Response | Reply:
    """Return a response whose words are in the language that the caller asked for."""
    if isinstance(response, Reply):
        headers = [(name, f"{value}, Accept-Language" if name == "Vary" else value) for name, value in response.headers]
        return response._replace(headers=[*headers, ("Content-Language", language)])
    response.headers.setdefault("Content-Language", language)
    response.vary.add("Accept-Language")
    return response


def unstored(response: Response) -> Response:
    """Mark a response that has a key, so that no cache keeps it."""
    response.headers["Cache-Control"] = "no-store"
    return response


def tagged(response: Response, tag: int | str, vary: str = "Authorization") -> Response:
    """Mark a response as private and set its ETag."""
    response.headers["ETag"] = f'"{tag}"'
    return private(response, vary)


def private_json(content: bytes) -> Reply:
    """Return a private answer in JSON, as `private` does for a response."""
    return Reply(200, [*_JSON_HEADERS, ("Vary", "Authorization"), _PRIVATE], content)


def tagged_json(value: Any, tag: int | str, vary: str = "Authorization") -> Reply:
    """Return a private answer in JSON with an ETag, as `tagged(json_response(value), tag, vary)` does."""
    return Reply(200, [*_JSON_HEADERS, ("ETag", f'"{tag}"'), ("Vary", vary), _PRIVATE], sorted_json(value))


def tagged_text(text: str, tag: int | str, *more: tuple[str, str]) -> Reply:
    """Return a private answer in plain text with an ETag and more headers."""
    return Reply(200, [*_TEXT_HEADERS, ("ETag", f'"{tag}"'), ("Vary", "Authorization"), _PRIVATE, *more], text.encode())


def kept(response: Response, tag: str, vary: str) -> Response:
    """Mark a response that never changes, and set its ETag. Caches may keep it for an hour, for each key."""
    response.headers.extend([("ETag", f'"{tag}"'), ("Vary", vary), ("Cache-Control", f"public, max-age={_KEPT_SECONDS}")])
    return response


def public(response: Response, if_none_match: str | None) -> Response:
    """Return the response with an ETag of its content, for any cache. Return 304 if If-None-Match names that ETag."""
    tag = _digest(response.get_data())
    if names_tag(if_none_match, tag):
        response = empty_response(304)
    response.headers["ETag"] = f'"{tag}"'
    response.headers["Cache-Control"] = f"public, max-age={_PUBLIC_SECONDS}"
    return response


@lru_cache(64)
def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]


def names_tag(if_none_match: str | None, tag: int | str) -> bool:
    """Return True if an If-None-Match header names the tag, also in its compressed form. Then the answer is 304."""
    if if_none_match is None:
        return False
    named = parse_etags(if_none_match)
    return named.contains_weak(str(tag)) or named.contains_weak(f"{tag}{GZIPPED}")
