"""Options checked, the first document, and the set-up that the system carries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.documents import Own
from games.kernel import Action, Event, Fact, Refusal, Refused, Seat, no
from games.lifecycle import options_refusal, shared_start
from games.schema import BLANK, Fields, defaulting, ids, listing, mapping, record, veiled, whole
from games.sentences import say
from games.war_of_civilizations import data
from games.war_of_civilizations.document import Match, Player, State
from games.war_of_civilizations.flow import change_resources, move_crystals, pass_to
from games.war_of_civilizations.state.records import option, still_in
from games.war_of_civilizations.state.shape import APEX_ISLAND, ATTACHED_ISLANDS, COVERED_ISLANDS, DECK, OPTION_SHAPES, TOKEN

OPTIONS = record(
    {name: defaulting(shape, data.DEFAULTS[name]) for name, shape in OPTION_SHAPES.items()},
    about="the options of a match of War of Civilizations",
)


def begin(seats: Sequence[Seat], options: Mapping[str, Any]) -> State:
    """Return the first document of a match: two to six different clans in the order given, with nothing yet. Raise Refused `bad_options`
    (WOC-SET-01)."""
    if (
        not data.LEAST_SEATS <= len(seats) <= data.MOST_SEATS
        or any(seat not in data.SEATS for seat in seats)
        or len(set(seats)) < len(seats)
    ):
        numbers = {"least": data.LEAST_SEATS, "most": data.MOST_SEATS}
        reason = say("{least} to {most} different seats out of {seats} play", seats=data.SEATS, **numbers)
        raise Refused(no("bad_options", "WOC-SET-01", reason=reason))
    refusal = options_refusal(OPTIONS, options)
    if refusal is not None:
        raise Refused(refusal)
    document: Any = {
        **shared_start(data.ID, seats),
        "options": OPTIONS.clean(dict(options)),
        "players": {seat: empty_player(options.get("ability_level", data.DEFAULTS["ability_level"])) for seat in seats},
        "attached": {},
        "covered": [],
        "apex": {apex: {"explored": True, "expedition": None, "known_to": [], "pirate": False} for apex in data.RING},
        data.ISLE: dict(data.BLANK_ISLE),
        "crystals": {data.SUPPLY: 0, data.ISLE: 0},
        "countdown": None,
        "power": {"display": [], "deck": [], "discard": []},
        "marks": {},
        "turn": None,
        "battle": None,
        "blockade": None,
        "ransom": None,
        "offers": 0,
    }
    first: State = document
    return first


def empty_player(level: int) -> Player:
    """Return the record of a seat that has nothing yet. `level` is that of its ability (WOC-SET-06)."""
    record: Any = {
        **dict.fromkeys(data.RESOURCES, 0),
        "crystals": 0,
        "ability": level,
        "cards": [],
        "fleets": {},
        "teleporters": [],
        "mounted": {},
        "entered_central": False,
        "privateer": None,
        "eliminated": False,
    }
    player: Player = record
    return player


def setup_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the match cannot be set up, or None: bad options do not start a match (WOC-RND-10, WOC-SET-09, WOC-SET-10)."""
    return options_refusal(OPTIONS, state["options"])


def set_up(match: Match, seat: Seat, action: Action) -> None:
    """Lay out the board: apex islands next to the north islands, tokens with a crystal on them, pirates, crystals, the power deck, and each
    seat's first goods and capital ship. Then the first seat deploys (WOC-SET-02, WOC-SET-03, WOC-SET-04, WOC-SET-05, WOC-SET-06,
    WOC-SET-07, WOC-SET-08, WOC-SET-09, WOC-SET-10, WOC-MAP-01, WOC-MAP-09, WOC-MAP-10, WOC-LEA-07)."""
    seats = match.state["seats"]
    covered = data.COVERED[len(seats)]
    islands = [apex for apex in data.RING if apex not in covered]
    match.emit("map_laid", attached=dict(zip(seats, data.ATTACHED[len(seats)], strict=True)), covered=list(covered))
    match.emit("tokens_placed", tokens=dict(zip(islands, match.chance.sample(list(data.EXPEDITIONS), len(islands)), strict=True)))
    if option(match.state, "pirates"):
        match.emit("pirates_placed", at=islands)
    supply = data.CRYSTALS - data.ISLE_CRYSTALS - data.EXPEDITION_CRYSTALS * len(islands)
    match.emit("crystals_placed", crystals={data.SUPPLY: supply, data.ISLE: data.ISLE_CRYSTALS})
    match.emit("deck_built", deck=match.chance.shuffle(data.deck(len(seats))))
    for card in match.state["power"]["deck"][: data.DISPLAY_SIZE]:
        match.emit("card_revealed", card=card)
    playing = still_in(match.state)
    for clan in playing:
        change_resources(match, clan, data.START, "start")
        move_crystals(match, data.SUPPLY, clan, data.START_CRYSTALS, "start")
        match.emit("ships_placed", seat=clan, at=data.HOME[clan], ships=dict(data.HOME_SHIPS), reason="start")
    match.emit("match_started", seats=seats)
    pass_to(match, data.DEPLOY_PHASE, [playing[0]], playing[0])


# ---------------------------------------------------------------- facts


def map_laid(state: State, event: Event, own: Own) -> None:
    """The apex islands next to the north islands and the covered ones are fixed."""
    state["attached"] = dict(event["attached"])
    state["covered"] = list(event["covered"])


def tokens_placed(state: State, event: Event, own: Own) -> None:
    """A lost expedition is on each of these apex islands, with a crystal."""
    islands = own(state, "apex")
    for apex, token in event["tokens"].items():
        own(islands, apex).update(explored=False, expedition=token)


def pirates_placed(state: State, event: Event, own: Own) -> None:
    """A pirate is on each of these apex islands."""
    islands = own(state, "apex")
    for apex in event["at"]:
        own(islands, apex)["pirate"] = True


def crystals_placed(state: State, event: Event, own: Own) -> None:
    """The crystals of the Isle and of the supply are counted out."""
    state["crystals"] = dict(event["crystals"])


def deck_built(state: State, event: Event, own: Own) -> None:
    """The power cards in use are shuffled."""
    own(state, "power")["deck"] = list(event["deck"])


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "map_laid": (map_laid, {"attached": ATTACHED_ISLANDS, "covered": COVERED_ISLANDS}),
    "tokens_placed": (
        tokens_placed,
        {"tokens": mapping(APEX_ISLAND, veiled(TOKEN, BLANK), "the token of each island; null for a viewer who may not know it")},
    ),
    "pirates_placed": (pirates_placed, {"at": listing(APEX_ISLAND, about="the islands with a pirate")}),
    "crystals_placed": (
        crystals_placed,
        {"crystals": mapping(ids([data.SUPPLY, data.ISLE]), whole(0, data.CRYSTALS), "how many are where")},
    ),
    "deck_built": (deck_built, {"deck": DECK}),
}
