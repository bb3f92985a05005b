"""The addresses of the pages for people."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask, Response

from service.context import Service
from service.http import static
from service.pages import pyodide, worker
from service.pages.check import check_page
from service.pages.disputes import desk_page, dispute_page
from service.pages.game import game_page, rulings_page
from service.pages.html import Pages, page
from service.pages.lobby import lobby
from service.pages.match import embed_page, match_page, match_words
from service.pages.oembed import oembed
from service.pages.player import player_page
from service.pages.puzzles import puzzle_page, puzzles_page
from service.pages.texts import made_files

VIEWS: dict[str, Callable[..., Response]] = {
    "/": lobby,
    "/m/<match>": match_page,
    "/m/<match>/words": match_words,
    "/m/<match>/disputes/<dispute>": dispute_page,
    "/embed/<match>": embed_page,
    "/oembed": oembed,
    "/p/<player>": player_page,
    "/puzzles": puzzles_page,
    "/puzzles/<puzzle>": puzzle_page,
    "/games/<game>": game_page,
    "/games/<game>/rulings": rulings_page,
    "/check": check_page,
    "/disputes": desk_page,
}


def mount(app: Flask, service: Service) -> None:
    """Add the pages and their files to the Flask application."""
    files = static.of_pages(service.games)
    pages = Pages(service, static.Files({**files, **made_files(files)}), pyodide.at_hand(service.settings.pyodide))
    static.mount(app, "/static/<mark>/<name>", pages.files)
    worker.mount(app, pages)
    static.mount(app, "/sdk/<name>", static.Files(static.of_client()))
    # A browser requests it for a tab without a page, such as one that shows JSON.
    app.add_url_rule("/favicon.ico", "files/static", defaults={"name": static.ICON})
    if pages.pyodide is not None:
        static.mount(app, "/pyodide/<mark>/<name>", pages.pyodide)
    for path, view in VIEWS.items():
        app.add_url_rule(path, f"page {path}", page(pages, view))
