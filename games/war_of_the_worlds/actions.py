"""Playing a card and ending a turn: a verb for every option of every card, and the deeds that carry them out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from games.choices import Choice
from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, never_refused, no, only
from games.schema import Fields, flag, optional, whole
from games.sentences import joined, say
from games.war_of_the_worlds import civilians, data, figures
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.flow import end_turn, gain, next_round
from games.war_of_the_worlds.outcome import check_damage, deal_damage
from games.war_of_the_worlds.state import (
    CARD,
    FIGURE,
    PLAYED_TO,
    REGION,
    SEAT,
    civilians_left,
    kind_of,
    malformed,
    must_play,
    play_of,
)
from games.war_of_the_worlds.strike import attacks, damage

# ---------------------------------------------------------------- a verb for every option


class Verb(NamedTuple):
    """The effect of an option of a card.

    `refusal`: the first rule that a play breaks. Its `unit`, if it has one, can take the card.
    `fields`: what the action must have besides card and option. `optional`: what it may have.
    `adds`: return True if a play adds to the open strike on a region. It is None if no play of the verb does (WOW-STR-06).
    `opens`: return True if a play would leave a strike open.
    `legal`: the offers that are not refused, at once. It is None for a verb whose offers are judged one by one.
    """

    fields: tuple[str, ...]
    offers: Callable[[State, Seat, data.Terms], list[Action]]
    refusal: Callable[[State, Seat, data.Terms, Action], Refusal | None]
    act: Callable[[Match, Seat, data.Terms, Action], None]
    optional: tuple[str, ...] = ()
    adds: Callable[[State, data.Terms, Action, str], bool] | None = None
    opens: Callable[[State, data.Terms, Action], bool] | None = None
    legal: Callable[[State, Seat, data.Terms], list[Action]] | None = None


def plain_offers(state: State, seat: Seat, terms: data.Terms) -> list[Action]:
    """Return the play of an option that needs nothing on the board."""
    return [play_of(terms)]


def plain_refusal(state: State, seat: Seat, terms: data.Terms, action: Action) -> Refusal | None:
    """Return None: an attack without a region always has the Invasion Ship as its target (WOW-HUM-06, WOW-BLD-09)."""
    return None


def gain_resources(match: Match, seat: Seat, terms: data.Terms, action: Action) -> None:
    """Gain coins or energy for this turn (WOW-HUM-01, WOW-HUM-03, WOW-ALN-01, WOW-ALN-02, WOW-ALN-08)."""
    gain(match, seat, terms.amount, terms.card)


def distant_attack(match: Match, seat: Seat, terms: data.Terms, action: Action) -> None:
    """Deal damage to the alien forces, wherever they are (WOW-HUM-06)."""
    deal_damage(match, terms.damage, terms.card, None)
    check_damage(match)


BY_EFFECT: dict[str, Verb] = {
    data.GAIN: Verb((), plain_offers, plain_refusal, gain_resources, legal=plain_offers),
    data.DISTANT_ATTACK: Verb((), plain_offers, plain_refusal, distant_attack, legal=plain_offers),
    data.MOVE_CIVILIANS: Verb(
        ("from", "to"),
        civilians.move_civilians_offers,
        civilians.move_civilians_refusal,
        civilians.move_civilians,
        legal=civilians.move_civilians_offers,
    ),
    data.CIVILIAN_ATTACK: Verb(
        ("region",),
        civilians.civilian_attack_offers,
        civilians.civilian_attack_refusal,
        civilians.civilian_attack,
        legal=civilians.civilian_attack_offers,
    ),
    data.DESTROY_CIVILIAN: Verb(
        ("region",), civilians.destroy_civilian_offers, civilians.destroy_civilian_refusal, civilians.destroy_civilian
    ),
    data.UNIT_MOVE: Verb(
        ("unit", "to"), figures.unit_move_offers, figures.unit_move_refusal, figures.unit_move, legal=figures.unit_move_legal
    ),
}
PLACE = Verb((), figures.unit_place_offers, figures.unit_place_refusal, figures.unit_place)
PLACE_WITH_CIVILIANS = PLACE._replace(fields=("region",))
HUMAN_ATTACK = Verb(
    ("unit",), figures.human_attack_offers, figures.human_attack_refusal, figures.human_attack, legal=figures.human_attack_offers
)
COAST_ATTACK = HUMAN_ATTACK._replace(fields=("unit", "region"))
FIGURE_ATTACK = Verb(
    ("unit",), attacks.figure_offers, attacks.figure_refusal, attacks.figure_attack, (), attacks.figure_adds, attacks.figure_opens
)
BEAM = Verb(("region",), attacks.beam_offers, attacks.beam_refusal, attacks.beam_attack, (), attacks.beam_adds, attacks.beam_opens)
SPECIAL = Verb(
    ("region",),
    attacks.special_offers,
    attacks.special_refusal,
    attacks.special_attack,
    ("strike",),
    attacks.special_adds,
    attacks.special_opens,
)
PUSH = SPECIAL._replace(optional=("strike", "to"))


def verb_of(terms: data.Terms) -> Verb:
    """Return the verb that carries out an option of a card."""
    if terms.effect == data.UNIT_PLACE:
        return PLACE_WITH_CIVILIANS if kind_of(terms.kind).placed_at is None else PLACE
    if terms.effect == data.UNIT_ATTACK:
        if kind_of(terms.kind).side == data.ALIENS:
            return FIGURE_ATTACK
        return COAST_ATTACK if terms.at == data.COAST else HUMAN_ATTACK
    if terms.effect == data.REGION_ATTACK:
        return PUSH if terms.push else SPECIAL if terms.influence else BEAM
    return BY_EFFECT[terms.effect]


VERBS: dict[tuple[str, int], Verb] = {key: verb_of(terms) for key, terms in data.TERMS.items()}


# ---------------------------------------------------------------- playing a card

_OPTIONS: dict[str, tuple[int, ...]] = {name: tuple(terms.option for terms in card.options) for name, card in data.CARDS.items()}
_ALWAYS = ("type", "card", "option")
_KNOWN: dict[str, Collection[Any]] = {
    "unit": data.FIGURES,
    "region": data.REGIONS,
    "from": data.REGIONS,
    "to": data.REGIONS,
    "strike": (True,),
}
_CALLED = {"unit": "figure", "region": "region", "from": "region", "to": "region", "strike": "declaration of a strike"}


def play_offers(state: State, seat: Seat) -> list[Action]:
    """Return the plays of each different card in hand, option by option. During a strike only attacks are offered (WOW-TRN-03, WOW-TRN-07,
    WOW-STR-06)."""
    gathering = state["strike"] is not None
    offers: list[Action] = []
    for card in dict.fromkeys(state["sides"][seat]["hand"]):
        for terms in data.CARDS[card].options:
            verb = VERBS[card, terms.option]
            if not gathering or verb.adds is not None:
                offers += verb.offers(state, seat, terms)
    return offers


def play_choices(state: State, seat: Seat) -> list[Choice]:
    """Return the choices of the deed at once. During a strike the plays are judged one by one."""
    if state["strike"] is not None:
        return PLAY.listed(state, seat)
    choices: list[Choice] = []
    for card in dict.fromkeys(state["sides"][seat]["hand"]):
        for terms in data.CARDS[card].options:
            choices += [{"action": action} for action in legal_plays(state, seat, terms)]
    return choices


def legal_plays(state: State, seat: Seat, terms: data.Terms) -> list[Action]:
    """Return the legal plays of an option of a card in hand while no strike is open."""
    verb = VERBS[terms.card, terms.option]
    if verb.legal is not None:
        return verb.legal(state, seat, terms)
    return [action for action in verb.offers(state, seat, terms) if verb.refusal(state, seat, terms, action) is None]


def play_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a card cannot be played like this, or None: it is not in hand, has no such option or fields, does not add to the open
    strike, or has no effect (WOW-CRD-02, WOW-CRD-05, WOW-CRD-06, WOW-STR-06, WOW-UNT-14)."""
    card, number = action["card"], action["option"]
    if card not in state["sides"][seat]["hand"]:
        return malformed(action, "card", data.CARDS, "card") or no("not_in_hand", "WOW-TRN-03", card=card)
    verb = VERBS.get((card, number))
    if verb is None:
        return no("bad_option", "WOW-CRD-02", card=card, option=number, options=joined([str(one) for one in _OPTIONS[card]]))
    refusal = fields_refusal(action, verb)
    if refusal is not None:
        return refusal
    terms = data.TERMS[card, number]
    strike = state["strike"]
    if strike is not None and (verb.adds is None or not verb.adds(state, terms, action, strike["region"])):
        return no("strike_pending", "WOW-STR-06", **strike)
    refusal = unusable(state, terms, action["unit"]) if "unit" in action else None
    return refusal or verb.refusal(state, seat, terms, action)


def unusable(state: State, terms: data.Terms, figure: str) -> Refusal | None:
    """Return why a card cannot use a figure, or None: it is not of the card's kind, not on the board, or took another unit card this turn
    (WOW-UNT-06, WOW-UNT-07, WOW-UNT-08, WOW-UNT-12)."""
    if data.FIGURES[figure].id != terms.kind or state["units"][figure]["region"] is None:
        return no("no_unit", "WOW-UNT-06", kind=terms.kind, where=say("on the board by the name of {figure}", figure=figure))
    if terms.uses_figure and state["units"][figure]["used"]:
        return no("unit_used", "WOW-UNT-07", unit=figure)
    return None


def fields_refusal(action: Action, verb: Verb) -> Refusal | None:
    """Return why the fields of a play are refused, or None: they are not those of its option, or name nothing that exists."""
    fields, card, number = verb.fields, action["card"], action["option"]
    for field in fields:
        if field not in action:
            return no("bad_action", reason=say("option {option} of {card} needs `{field}`", option=number, card=card, field=field))
        if action[field] not in _KNOWN[field]:
            return malformed(action, field, _KNOWN[field], _CALLED[field])
    if len(action) == len(fields) + len(_ALWAYS):
        return None
    for field in action:
        if field not in _ALWAYS and field not in fields:
            if field not in verb.optional:
                return no("bad_action", reason=say("option {option} of {card} has no `{field}`", option=number, card=card, field=field))
            if action[field] not in _KNOWN[field]:
                return malformed(action, field, _KNOWN[field], _CALLED[field])
    return None


def play(match: Match, seat: Seat, action: Action) -> None:
    """Put the card on its pile, mark the figure of a unit card, and carry out the option, one option a play (WOW-TRN-04, WOW-TRN-09,
    WOW-CRD-02, WOW-CRD-03, WOW-CRD-04, WOW-UNT-07, WOW-UNT-08)."""
    key = action["card"], action["option"]
    terms = data.TERMS[key]
    used = {"unit": action["unit"]} if terms.uses_figure else {}
    match.emit("card_played", seat=seat, card=terms.card, option=terms.option, to=data.REMOVED if terms.removes else data.DISCARD, **used)
    VERBS[key].act(match, seat, terms, action)


# ---------------------------------------------------------------- ending the turn


class Toll(NamedTuple):
    """What a play takes: damage to the aliens, civilians, and other human pieces."""

    damage: int = 0
    civilians: int = 0
    pieces: int = 0


_PLAYABLE = frozenset([card for card, kept in data.KEPT.items() if any(terms.effect == data.GAIN for terms in kept)])
"""The cards with a play that counts for the duty to play and is always possible."""


def owed_plays(state: State, seat: Seat) -> Iterator[Action]:
    """Yield the legal plays of cards in hand that count for the duty to play, if the match has that duty. A play that removes the card,
    opens a strike or ends the match does not count (WOW-TRN-05, WOW-TRN-06, WOW-TRN-08, WOW-UNT-14, WOW-EDN-05, WOW-OPT-02)."""
    if not must_play(state):
        return
    for card in dict.fromkeys(state["sides"][seat]["hand"]):
        for terms in data.KEPT[card]:
            verb = VERBS[card, terms.option]
            for action in verb.offers(state, seat, terms):
                if verb.opens is not None and verb.opens(state, terms, action):
                    continue
                if verb.refusal(state, seat, terms, action) is None and not ends_match(state, toll(state, terms, action)):
                    yield action


def toll(state: State, terms: data.Terms, action: Action) -> Toll:
    """Return what a play that leaves no strike open takes from each side: damage to the aliens, and human pieces (WOW-SKP-01)."""
    if terms.effect == data.UNIT_MOVE:
        return Toll(damage=figures.mine_damage(state, action["unit"], action["to"]))
    if terms.effect == data.DESTROY_CIVILIAN:
        return Toll(civilians=1)
    if terms.effect in (data.DISTANT_ATTACK, data.CIVILIAN_ATTACK) or (
        terms.effect == data.UNIT_ATTACK and kind_of(terms.kind).side == data.HUMANS
    ):
        return Toll(damage=terms.damage)
    if terms.effect in (data.UNIT_ATTACK, data.REGION_ATTACK):
        destroyed = attacks.destroyed_by(state, terms, action)
        civilians_hit = sum([piece == damage.CIVILIAN for piece in destroyed])
        return Toll(civilians=civilians_hit, pieces=len(destroyed) - civilians_hit)
    return Toll()


def ends_match(state: State, taken: Toll) -> bool:
    """Return True if a seat would reach its goal (WOW-TRN-06)."""
    if taken.damage:
        return state["damage"] + taken.damage >= data.DAMAGE_TO_WIN
    return taken.civilians > 0 and civilians_left(state) <= taken.civilians


def end_turn_choices(state: State, seat: Seat) -> list[Choice]:
    """Return the choice of the deed at once: none while a card must be played, and first of all one that always can be."""
    if must_play(state) and not _PLAYABLE.isdisjoint(state["sides"][seat]["hand"]):
        return []
    return END_TURN.listed(state, seat)


def end_turn_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the turn cannot end, or None: a card must be played (WOW-TRN-05, WOW-TRN-06, WOW-TRN-08)."""
    owed = next(owed_plays(state, seat), None)
    return None if owed is None else no("cards_left", "WOW-TRN-05", card=owed["card"])


def finish_turn(match: Match, seat: Seat, action: Action) -> None:
    """End the turn (WOW-TRN-01, WOW-TRN-10, WOW-TRN-11)."""
    end_turn(match, seat)


# ---------------------------------------------------------------- the system


def advance(match: Match, seat: Seat, action: Action) -> None:
    """Start the next round, or end the match (WOW-TRN-18, WOW-END-06)."""
    next_round(match)


# ---------------------------------------------------------------- facts


def card_played(state: State, event: Event, own: Own) -> None:
    """A card leaves the hand for an open pile. The figure that took it is marked (WOW-TRN-09, WOW-UNT-07)."""
    side = own(own(state, "sides"), event["seat"])
    own(side, "hand").remove(event["card"])
    own(side, event["to"]).append(event["card"])
    if "unit" in event:
        own(own(state, "units"), event["unit"])["used"] = True


_OPTION = "the option's place on the card, from 1; 0 places a figure instead"

PLAY = Deed(
    {
        "card": CARD,
        "option": whole(about=_OPTION),
        "unit": optional(FIGURE),
        "region": optional(REGION),
        "from": optional(REGION),
        "to": optional(REGION),
        "strike": optional(flag("true: the attack is part of a strike")),
    },
    play_offers,
    play_refusal,
    play,
    choices=play_choices,
)
_PLAYED: Fields = {"seat": SEAT, "card": CARD, "option": whole(0, about=_OPTION), "to": PLAYED_TO, "unit": optional(FIGURE)}
END_TURN = Deed({}, only("end_turn"), end_turn_refusal, finish_turn, choices=end_turn_choices)
NEXT_ROUND = Deed({}, only("advance"), never_refused, advance)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "card_played": (
        card_played,
        _PLAYED,
    ),
}
