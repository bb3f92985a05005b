"""oEmbed (oembed.com): a site sends the address of a match's page, and gets an iframe that shows the board."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from flask import Response, request
from markupsafe import Markup

from events import recall
from games import patterns
from service.http.keys import Caller
from service.http.parsing import parse_query
from service.http.problems import Problem
from service.http.responses import json_response, private, public
from service.http.schemas import EmbedQuery
from service.pages.html import Pages

_PATH = re.compile(rf"/(?:m|embed)/(?P<match>{patterns.MATCH})")
WIDTH, HEIGHT = 640, 720  # of the iframe, unless the caller has less room
_QUERY = EmbedQuery()


def oembed(pages: Pages, caller: Caller) -> Response:
    """Return the iframe for the match whose page has the address `url`. Raise Problem `no_such_path` for any other address."""
    query = parse_query(_QUERY, request.environ)
    origin = pages.service.addresses.origin(request.environ)
    asked = urlsplit(query["url"])
    found = _PATH.fullmatch(asked.path)
    if found is None or asked.netloc.lower() != urlsplit(origin).netloc or asked.scheme not in ("http", "https"):
        raise Problem("no_such_path")
    position = recall.position(pages.service.platform, found["match"])
    title = pages.service.games[position.game].title
    width, height = min(query["maxwidth"], WIDTH), min(query["maxheight"], HEIGHT)
    address = f"{origin}/embed/{found['match']}"
    frame = Markup('<iframe src="{}" width="{}" height="{}" title="{}" loading="lazy" style="border:0"></iframe>')
    body = {
        "version": "1.0",
        "type": "rich",
        "provider_name": "Warledger",
        "provider_url": f"{origin}/",
        "title": title,
        "width": width,
        "height": height,
        "html": frame.format(address, width, height, title),
    }
    response = json_response(body)
    if pages.service.settings.url:
        return public(response, request.headers.get("If-None-Match"))
    return private(response)  # the client may have made the host up, and a cache would give it to others
