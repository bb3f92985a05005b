"""The language of a request: the best of those that exist (web/languages.py) for its `Accept-Language`, or English."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from web.languages import ENGLISH, LANGUAGES

_COOKIE = ";language="
_LONGEST = 300  # characters of a header that are read; werkzeug takes quadratic time for a run of blanks


def language_of(environ: Mapping[str, Any]) -> str:
    """Return the language of an answer of the API.

    >>> language_of({}), language_of({"HTTP_ACCEPT_LANGUAGE": "en-GB,ru;q=0.5"}), language_of({"HTTP_ACCEPT_LANGUAGE": "xx"})
    ('en', 'en', 'en')
    """
    given = environ.get("HTTP_ACCEPT_LANGUAGE")
    return ENGLISH if given is None else _best(given[:_LONGEST])


@lru_cache(maxsize=256)  # nearly all requests send one of a few headers
def _best(given: str) -> str:
    """Return the first language of a header that exists, the best first. A language of a country is that language."""
    asked = [tag.partition("-")[0].lower() for tag, weight in parse_accept_header(given, LanguageAccept) if weight > 0]
    return next((language for language in asked if language in LANGUAGES), ENGLISH)


def page_language(environ: Mapping[str, Any]) -> str:
    """Return the language of a page: that of the cookie which the reader's choice has set, or else as in the API.

    >>> page_language({"HTTP_COOKIE": "a=b; language=ru"}), page_language({"HTTP_COOKIE": "my-language=ru; language=xx"})
    ('ru', 'en')
    """
    given = environ.get("HTTP_COOKIE")
    if given is not None:  # a page asks dozens of times, and reading all cookies takes milliseconds if somebody sends many
        chosen = f";{given.replace(' ', '')}".partition(_COOKIE)[2].partition(";")[0]
        if chosen in LANGUAGES:
            return chosen
    return language_of(environ)
