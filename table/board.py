"""The table as text, for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from textwrap import wrap

from games.lifecycle import DRAW, VOID
from games.sentences import Sentence, Tell, named, say
from table.data import LEVELS, SECOND_MS
from table.document import Occupant, SeatClock, Table
from table.state import APPEALED, CLOSED, LAPSED, OPEN, PAUSE, PAUSED, RESUME, RULED, SETTLED, TAKEBACK, WITHDRAWN, kept_seats

WIDTH = 120


def board(table: Table, name: Callable[[str], str | None], tell: Tell = str) -> list[str]:
    """Return the roster, the time that each seat has left and what is open among the seats as lines of text, or that the match is closed.

    (TBL-SEE-01)

    `name` gives the name of a player, or None if the player is deleted. `tell` says the words in a language.
    """
    if table["phase"] == CLOSED:
        return [tell(say("The match was closed before it began.")), ""]
    kept = {seat: say("kept for {player}", player=_called(player, name)) for seat, player in kept_seats(table).items()}
    occupants = [
        say("{seat}: {who}", seat=named(seat), who=_played(table, seat, kept.get(seat) or _in_words(occupant, name)))
        for seat, occupant in sorted(table["roster"].items())
    ]
    here = ", ".join(map(tell, occupants))
    roster = wrap(f"{tell(say('Waiting for players.'))} {here}" if table["phase"] == OPEN else here, WIDTH)
    return [*roster, *wrap(" ".join(map(tell, _going_on(table, name))), WIDTH), ""]


def _going_on(table: Table, name: Callable[[str], str | None]) -> Iterator[str]:
    """Yield a sentence for each thing that a player at the table should know, besides the roster."""
    origin = table["origin"]
    if origin is not None:
        of, version = origin["match"], origin["version"]
        ruled = say("Goes on, by a ruling, from version {version} of {match}.", version=version, match=of)
        yield ruled if "dispute" in origin else say("Practice from version {version} of {match}.", version=version, match=of)
    if table["continued"] is not None:
        one = table["continued"]
        yield say("By a ruling, {match} goes on from version {version}.", match=one["match"], version=one["version"])
    for number, dispute in enumerate(table["disputes"], 1):
        by, version, state = named(dispute["seat"]), dispute["version"], _DISPUTES[dispute["state"]]
        yield say("Dispute {number}: {seat} disputes version {version}; {state}.", number=number, seat=by, version=version, state=state)
    if table["phase"] == PAUSED:
        yield say("The match is paused.")
    clocks = table["clocks"]["seats"]
    if clocks:
        left = [say("{seat} {time}", seat=named(seat), time=_left(clock)) for seat, clock in sorted(clocks.items())]
        yield say("Time left: {times}.", times=left)
    for what, offer in sorted(table["offers"].items()):
        offered: str = _OFFERED[what]
        if "version" in offer:
            offered = say("{what} to version {version}", what=offered, version=offer["version"])
        if offer["accepted"]:
            offered = say("{what}, accepted by {seats}", what=offered, seats=[named(seat) for seat in offer["accepted"]])
        yield say("{seat} offers {what}.", seat=named(offer["by"]), what=offered)
    for seat, player in sorted(table["handovers"].items()):
        yield say("{seat} is offered to {player}.", seat=named(seat), player=_called(player, name))
    for seat, vote in sorted(table["votes"].items()):
        cast = sorted(vote["votes"].items())
        votes = [say("{seat} is for {decision}", seat=named(voter), decision=_DECISIONS[decision]) for voter, decision in cast]
        yield say("Vote about {seat}: {votes}.", seat=named(seat), votes=votes or say("nobody has voted yet"))


_OFFERED = {
    DRAW: say("a draw"),
    VOID: say("a void match"),
    PAUSE: say("a pause"),
    RESUME: say("the end of the pause"),
    TAKEBACK: say("a takeback"),
}


_DECISIONS = {"forfeit": say("forfeit"), "substitute": say("substitute"), VOID: say("void")}
_DISPUTES = {
    OPEN: say("a referee will rule, and until then nobody acts"),
    RULED: say("a referee has ruled, and nobody acts until the time for an appeal is over"),
    APPEALED: say("another referee will rule on the appeal, and until then nobody acts"),
    SETTLED: say("it is settled"),
    WITHDRAWN: say("it was withdrawn"),
    LAPSED: say("nobody has ruled on it"),
}


def _left(clock: SeatClock) -> str:
    """Return the time of a seat as days, hours, minutes and seconds: what is left now, or what was when its clock began to run."""
    minutes, seconds = divmod((clock["free"] + clock["bank"]) // SECOND_MS, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    time = f"{hours}:{minutes:02}:{seconds:02}" if days or hours else f"{minutes}:{seconds:02}"
    if days:
        time = say("{days} d {time}", days=days, time=time)
    return time if clock["since"] is None else say("{time} when its clock began to run", time=time)


def _played(table: Table, seat: str, who: str) -> str:
    """Return who has a seat, and that an artificial player plays it for its owner, if one does."""
    level = table["substitutes"].get(seat)
    return who if level is None else say("{who}, played by {level}", who=who, level=_level(level))


def _level(level: str) -> Sentence:
    """Return an artificial player by its level."""
    return named(LEVELS[level].name if level in LEVELS else level, level)


def _in_words(occupant: Occupant, name: Callable[[str], str | None]) -> str:
    """Return who has a seat."""
    return _called(occupant["player"], name) if "player" in occupant else _level(occupant["ai"]) if "ai" in occupant else say("open")


def _called(player: str, name: Callable[[str], str | None]) -> str:
    """Return the name of a player in quotation marks, so that it cannot be taken for something else."""
    called = name(player)
    return say("deleted player") if called is None else json.dumps(called, ensure_ascii=False)
