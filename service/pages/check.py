"""The page that checks a file of a match in the reader's own tab."""

from __future__ import annotations

from flask import Response

from service.http.keys import Caller
from service.pages.html import Pages, html_response


def check_page(pages: Pages, caller: Caller) -> Response:
    """Return the page. It is the same for everybody. The file that the reader chooses never leaves the tab."""
    return html_response(pages, "check.html", {"here": "check"}, audits=True)
