"""A deed for every other action that a seat or the system may choose: playing a card, ending the turn, Evacuate's second civilian, the
round."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from games.kernel import Action, Deed, Match, Refusal, Seat, State, no
from games.schema import flag, optional, whole
from games.war_of_the_worlds.civilians import civilian_move_refusal, civilian_moves, move_civilian
from games.war_of_the_worlds.data import CARDS, FIGURES, KEPT, REGIONS, TERMS
from games.war_of_the_worlds.effects import VERBS
from games.war_of_the_worlds.flow import end_round, end_turn
from games.war_of_the_worlds.setup import set_up, setup_offers, setup_refusal
from games.war_of_the_worlds.state import CARD, FIGURE, REGION, option
from games.war_of_the_worlds.verb import Verb, malformed

_OPTIONS: dict[str, tuple[int, ...]] = {name: tuple(terms.option for terms in card.options) for name, card in CARDS.items()}
_ALWAYS = ("type", "card", "option")
_KNOWN: dict[str, Collection[Any]] = {"unit": FIGURES, "region": REGIONS, "from": REGIONS, "to": REGIONS, "strike": (True,)}
_CALLED = {"unit": "figure", "region": "region", "from": "region", "to": "region", "strike": "declaration of a strike"}


# ---------------------------------------------------------------- playing a card


def play_offers(state: State, seat: Seat) -> list[Action]:
    """What each different card in hand can do, option by option; in an open strike only what can add to it (WOW-TRN-03, WOW-TRN-07,
    WOW-STR-06)."""
    gathering = state["strike"] is not None
    offers: list[Action] = []
    for card in dict.fromkeys(state["sides"][seat]["hand"]):
        for terms in CARDS[card].options:
            verb = VERBS[card, terms.option]
            if not gathering or verb.adds is not None:
                offers += verb.offers(state, seat, terms)
    return offers


def play_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The card is in hand, it has the option, the fields are those of the option, it adds to the strike that is open, and the effect can
    happen (WOW-CRD-02, WOW-CRD-05, WOW-CRD-06, WOW-STR-06, WOW-UNT-14)."""
    card, number = action["card"], action["option"]
    if card not in state["sides"][seat]["hand"]:
        return malformed(action, "card", CARDS, "card") or no("not_in_hand", "WOW-TRN-03", card=card)
    verb = VERBS.get((card, number))
    if verb is None:
        return no("bad_option", "WOW-CRD-02", card=card, option=number, options=", ".join(map(str, _OPTIONS[card])))
    refusal = inadmissible(action, verb)
    if refusal is not None:
        return refusal
    terms = TERMS[card, number]
    if state["strike"] is not None and (verb.adds is None or not verb.adds(state, terms, action)):
        return no("strike_pending", "WOW-STR-06", **state["strike"])
    return verb.refusal(state, seat, terms, action)


def inadmissible(action: Action, verb: Verb) -> Refusal | None:
    """A play holds the fields of its option and no others, and each names something."""
    fields = verb.fields
    for field in fields:
        if field not in action:
            return no("bad_action", reason=f"option {action['option']} of {action['card']} needs `{field}`")
        if action[field] not in _KNOWN[field]:
            return malformed(action, field, _KNOWN[field], _CALLED[field])
    if len(action) == len(fields) + len(_ALWAYS):
        return None
    for field in action:
        if field not in _ALWAYS and field not in fields:
            if field not in verb.optional:
                return no("bad_action", reason=f"option {action['option']} of {action['card']} has no `{field}`")
            if action[field] not in _KNOWN[field]:
                return malformed(action, field, _KNOWN[field], _CALLED[field])
    return None


def play(match: Match, seat: Seat, action: Action) -> None:
    """The card goes to its pile, a unit card marks its figure, and the effect follows (WOW-TRN-04, WOW-TRN-09, WOW-CRD-04, WOW-UNT-07,
    WOW-UNT-08)."""
    key = action["card"], action["option"]
    terms = TERMS[key]
    match.emit(
        "card_played",
        seat=seat,
        card=terms.card,
        option=terms.option,
        unit=action["unit"] if terms.uses_figure else None,
        to="removed" if terms.removes else "discard",
    )
    VERBS[key].act(match, seat, terms, action)


# ---------------------------------------------------------------- ending the turn


def playable(state: State, seat: Seat) -> str | None:
    """A card in hand that has a legal play which counts for the duty to play: one that neither removes the card nor opens a strike
    (WOW-TRN-05, WOW-TRN-06, WOW-UNT-14, WOW-EDN-05)."""
    hand: list[str] = state["sides"][seat]["hand"]
    for card in dict.fromkeys(hand):
        for terms in KEPT[card]:
            verb = VERBS[card, terms.option]
            for action in verb.offers(state, seat, terms):
                if (verb.opens is None or not verb.opens(state, terms, action)) and verb.refusal(state, seat, terms, action) is None:
                    return card
    return None


def end_turn_offers(state: State, seat: Seat) -> list[Action]:
    """A turn can be ended."""
    return [{"type": "end_turn"}]


def end_turn_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Every card in hand must be played if it can be, unless the match goes without that duty (WOW-TRN-05, WOW-TRN-06, WOW-TRN-08,
    WOW-OPT-02)."""
    if not option(state, "must_play"):
        return None
    card = playable(state, seat)
    return None if card is None else no("cards_left", "WOW-TRN-05", card=card)


def finish_turn(match: Match, seat: Seat, action: Action) -> None:
    """The turn passes on (WOW-TRN-01, WOW-TRN-10, WOW-TRN-11)."""
    end_turn(match, seat)


# ---------------------------------------------------------------- the second civilian of Evacuate


def move_civilian_offers(state: State, seat: Seat) -> list[Action]:
    """Every step of a civilian but the one that moved first (WOW-HUM-04)."""
    return [{"type": "move_civilian", "from": a, "to": b} for a, b in civilian_moves(state, state["evacuation"])]


def move_civilian_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """As for the first civilian, which stays where it is now (WOW-HUM-04)."""
    bad = malformed(action, "from", REGIONS, "region") or malformed(action, "to", REGIONS, "region")
    return bad or civilian_move_refusal(state, action["from"], action["to"], state["evacuation"])


def move_second_civilian(match: Match, seat: Seat, action: Action) -> None:
    """The second civilian moves and Evacuate is over (WOW-HUM-03, WOW-HUM-04)."""
    move_civilian(match, action["from"], action["to"], match.state["evacuation"])
    match.emit("evacuation_changed", evacuation=None)


def end_moves_offers(state: State, seat: Seat) -> list[Action]:
    """The second move is free to be left out (WOW-HUM-04)."""
    return [{"type": "end_moves"}]


def end_moves(match: Match, seat: Seat, action: Action) -> None:
    """Evacuate ends with one civilian moved (WOW-HUM-04)."""
    match.emit("evacuation_changed", evacuation=None)


# ---------------------------------------------------------------- the system


def end_round_offers(state: State, seat: Seat) -> list[Action]:
    """The system's only action."""
    return [{"type": "advance"}]


def never_refused(state: State, seat: Seat, action: Action) -> Refusal | None:
    """In its phase this can always be done."""
    return None


def finish_round(match: Match, seat: Seat, action: Action) -> None:
    """The next round, or the end of the match (WOW-TRN-18, WOW-END-06)."""
    end_round(match)


PLAY = Deed(
    {
        "card": CARD,
        "option": whole(about="the option's place on the card, from 1; 0 places a figure instead"),
        "unit": optional(FIGURE),
        "region": optional(REGION),
        "from": optional(REGION),
        "to": optional(REGION),
        "strike": optional(flag("true: the attack is part of a strike")),
    },
    play_offers,
    play_refusal,
    play,
)
END_TURN = Deed({}, end_turn_offers, end_turn_refusal, finish_turn)
MOVE_CIVILIAN = Deed({"from": REGION, "to": REGION}, move_civilian_offers, move_civilian_refusal, move_second_civilian)
END_MOVES = Deed({}, end_moves_offers, never_refused, end_moves)
END_ROUND = Deed({}, end_round_offers, never_refused, finish_round)
SET_UP = Deed({}, setup_offers, setup_refusal, set_up)
