"""A server of a later release: the present one, whose answers have grown. Clients that were made today have to go on with it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from flask import Flask

from events.standings import at_table
from service import context, sight
from service.api import playing
from service.http.problems import Problem
from service.supervisor import web
from table.data import LEVELS, Level

MORE = {"weather": "rain"}
STATUS, LEVEL, PHASE, CODE = "adjourned", "grandmaster", "monsoon", "too_wet"
EVENT = {"type": "weather_changed", "to": "rain"}
EVERY = 5  # so many requests to act, and one of them is refused for the new reason


def create() -> Flask:
    """Return the application for the web server, with a member, an event, a status, a level, a phase and a problem that are new."""
    shown, view, standing, choices, actions_in = sight.shown, sight.view, sight.standing, sight.choices, playing.actions_in
    calls = count(1)

    def more_shown(*given: Any) -> dict[str, Any]:
        entry = shown(*given)
        return {**entry, **MORE, "events": [*({**event, **MORE} for event in entry["events"]), EVENT]}

    def more_standing(*given: Any) -> dict[str, Any]:
        found = standing(*given)
        status = STATUS if found["status"] == "playing" else found["status"]
        return {**found, **MORE, "status": status, "seats": {seat: _older(who) for seat, who in found["seats"].items()}}

    def sometimes_refused(body: Any) -> list[Any]:
        if next(calls) % EVERY == 0:
            raise Problem("seat_taken", code=CODE, seat="red")
        return actions_in(body)

    sight.shown = more_shown
    sight.view = lambda *given: {**view(*given), **MORE, "phase": PHASE}
    sight.standing = more_standing
    sight.choices = lambda *given: [{**choice, **MORE} for choice in choices(*given)]
    playing.at_table = lambda table: {**at_table(table), **MORE}
    playing.actions_in = sometimes_refused
    context.LEVELS = {**LEVELS, LEVEL: Level("Grandmaster", "It is new.")}
    return web.application()


def _older(occupant: Mapping[str, Any]) -> dict[str, Any]:
    return {"ai": LEVEL, **MORE} if "ai" in occupant else {**occupant, **MORE}
