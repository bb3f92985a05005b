"""The scene: what a picture of a match shows."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from games.drawing import tallied
from games.kernel import Event, Seat
from games.picture import picture
from games.scene import Area, Card, Detail, Fight, Hand, Mark, Panel, Piece, Place, Scene, Side, Track
from games.sentences import Sentence, counted, listed, say
from games.war_of_the_worlds import data
from games.war_of_the_worlds.outcome import scores
from games.war_of_the_worlds.sight import View, size
from games.war_of_the_worlds.state import civilians_left, income
from games.war_of_the_worlds.strike.damage import damage_order

LOOK = picture(data.FOLDER)
HAND = say("HAND")
_EVACUATION = say("evacuation")  # a card has the id of this phase
FRAME = Area(*LOOK.map["frame"])


def scene(view: View) -> Scene:
    """Return what a picture of a view shows."""
    outcome, left = view["outcome"], civilians_left(view)
    return Scene(
        title=LOOK.word(view["game"]),
        status=say(
            "Round {round}: {phase}", round=view["round"], phase=_EVACUATION if view["evacuation"] is not None else LOOK.word(view["phase"])
        ),
        frame=FRAME,
        places=REGIONS,
        pieces=tuple(_pieces(view)),
        marks=tuple(_marks(view)),
        tracks=(
            Track("damage", LOOK.word("damage_track"), view["damage"], data.DAMAGE_TO_WIN, LOOK.crests[data.HUMANS].ground),
            Track("civilians", LOOK.word("civilians_track"), left, data.CIVILIANS, LOOK.crests[data.ALIENS].ground),
        ),
        panels=(*[_side(view, seat) for seat in view["seats"]], *_open(view)),
        acting=tuple([seat for seat in view["to_act"] if seat in view["seats"]]),
        winners=tuple(outcome["winners"]) if outcome is not None else (),
        over=outcome is not None,
    )


def _region(region: str, ground: str) -> Place:
    row = LOOK.map["regions"][region]
    return Place(region, row["name"], Area(*row["area"]), region, row.get("ground", ground), label=row["label"])


REGIONS: tuple[Place, ...] = (*[_region(region, "sea") for region in data.SEA], *[_region(region, "land") for region in data.LAND])
"""The map: Great Britain and the seas around it. It is the same in every match (WOW-MAP-01)."""


def _pieces(view: View) -> Iterator[Piece]:
    """Yield the figures one by one, and the civilians of each region: those that have fought this turn apart from the others."""
    for kind in data.KINDS.values():
        for figure in kind.figures:
            unit = view["units"][figure]
            if unit["region"] is not None:
                yield Piece(figure, LOOK.word(figure), unit["region"], kind.id, kind.side, spent=unit["used"])
    for region in data.LAND:
        land = view["regions"][region]
        if land["civilians"] > land["fought"]:
            yield Piece(f"civilians_{region}", say("civilian"), region, "civilian", number=land["civilians"] - land["fought"])
        if land["fought"]:
            yield Piece(f"fought_{region}", say("civilian"), region, "civilian", number=land["fought"], spent=True)


def _marks(view: View) -> Iterator[Mark]:
    """Yield the tokens of each region, and the strike that is open."""
    strike = view["strike"]
    for region in data.LAND:
        land = view["regions"][region]
        for name in [land["building"], data.BALLOONS.id if land["balloons"] else None]:
            if name is not None:
                used = name == land["building"] and region in view["fired"]
                yield Mark(f"{name}_{region}", data.NAMES[name], region, name, f"{data.BUILDINGS[name].side}_token", spent=used)
        for name in land["influence"]:
            yield Mark(f"{name}_{region}", LOOK.word(name), region, name, "influence")
        if strike is not None and strike["region"] == region:
            yield Mark(f"strike_{region}", say("strike"), region, "strike", "accent", f"{strike['damage']}/{strike['need']}")


def _side(view: View, seat: Seat) -> Panel:
    """Return the panel of a side: names of open cards, counts of hidden ones (WOW-VIS-01, WOW-VIS-02, WOW-VIS-03)."""
    side, score, outcome = view["sides"][seat], scores(view), view["outcome"]
    coin = LOOK.word(f"coin_{seat}")
    details = [Detail(say("income"), str(income(view, seat)), f"coin_{seat}")]
    if seat == view["active"]:
        details += [Detail(coin, str(view["resources"])), Detail(say("swap"), say("made") if view["swapped"] else say("open"))]
    details += [Detail(say("supply"), str(size(side["supply"]))), Detail(say("offer deck"), str(size(side[data.OFFER_DECK])))]
    hand = side["hand"]
    return Panel(
        id=seat,
        name=LOOK.crests[seat].name,
        seat=seat,
        score=Detail(LOOK.word(f"score_{seat}"), str(score[seat])),
        details=tuple(details),
        hands=(
            Hand(HAND, hidden=hand, ground=f"{seat}_token") if isinstance(hand, int) else Hand(HAND, tuple(_cards(hand, seat))),
            Hand(say("ON OFFER"), tuple(_cards(side["offer"], seat))),
        ),
        lines=tuple(_piles(side)),
        ahead=seat in outcome["winners"] if outcome is not None else score[seat] > min(score.values()),
        acts=seat in view["to_act"],
    )


def _cards(pile: Any, seat: Seat) -> Iterator[Card]:
    """Yield each card of a pile once, with its number."""
    for name in dict.fromkeys(pile):
        yield _card(name, seat, pile.count(name))


@functools.cache
def _card(name: str, seat: Seat, number: int) -> Card:
    card = data.CARDS[name]
    return Card(
        id=name,
        name=data.NAMES[name],
        ground=f"{seat}_token",
        glyph=card.figure or name,
        cost="" if card.starting else str(card.cost),
        text=tuple([_option(terms, seat) for terms in card.options]) or (LOOK.map["buildings"][name],),
        options=tuple([terms.option for terms in card.options]),
        number=number,
    )


def _option(terms: data.Terms, seat: Seat) -> str:
    """Return an option of a card of a side in a few words."""
    words = {name: LOOK.word(value) if isinstance(value, str) else value for name, value in terms._asdict().items()}
    effects = LOOK.map["effects"]
    kinds = (
        f"{terms.effect}/{seat}/{terms.amount}",
        f"{terms.effect}/{seat}",
        f"{terms.effect}/{terms.moves or terms.steps}",
        terms.effect,
    )
    text: str = Sentence(next(effects[kind] for kind in kinds if kind in effects), words)
    for name in (terms.influence, terms.push):
        if name is not None:
            text = say("{effect}; {extra}", effect=text, extra=LOOK.map["extras"][name])
    if terms.removes:
        text = say("{effect} ({removes})", effect=text, removes=LOOK.map["removes"])
    return say("{option}: {effect}", option=terms.option, effect=text)


def _piles(side: dict[str, Any]) -> Iterator[str]:
    """Yield the open piles in words; for an auditor the decks too, the next card first."""
    for pile in (data.DISCARD, data.REMOVED):
        if side[pile]:
            yield say("{pile}: {cards}", pile=LOOK.word(pile), cards=tallied([data.NAMES[card] for card in side[pile]]))
    for pile in ("supply", data.OFFER_DECK):
        if not isinstance(side[pile], int) and side[pile]:
            yield say("{pile}: {cards}", pile=LOOK.word(pile), cards=[data.NAMES[card] for card in side[pile]])


def _open(view: View) -> Iterator[Panel]:
    """Yield a panel for an open evacuation."""
    evacuation = view["evacuation"]
    names = {place.id: place.name for place in REGIONS}
    if evacuation is not None:
        region = names[evacuation["region"]]
        moved = say("The civilian that moved first is in {region}. One more may move.", region=region)
        if evacuation["fought"]:
            moved = say("The civilian that moved first is in {region}, and has fought. One more may move.", region=region)
        yield Panel("evacuation", _EVACUATION, lines=(moved,))


# ---------------------------------------------------------------- strikes

DESTROYED = ("building_destroyed", "unit_destroyed", "civilians_destroyed")


def fight(view: View, events: Sequence[Event]) -> Fight | None:
    """Return the open strike, or the attack of the aliens that the last entry has carried out, or None (WOW-STR-05, WOW-STR-07,
    WOW-DMG-04)."""
    told, strike = {event["type"]: event for event in events}, view["strike"]
    played, landed = told.get("card_played"), told.get("strike_landed")
    lost = [event for event in events if event["type"] in DESTROYED]
    hit = played is not None and any([_owner(event) == data.HUMANS for event in lost])  # noqa: C419 - a list is faster here
    if strike is None and not hit:
        return None
    region = strike["region"] if strike is not None else lost[0]["region"]
    if strike is not None:
        status = say("{damage} more damage is needed, or nothing is hit.", damage=strike["need"] - strike["damage"])
        kinds = ["strike_opened", "strike_raised"]
    elif landed is not None:
        status, kinds = say("The strike lands with {damage}.", damage=landed["damage"]), ["strike_landed"]
    else:
        status, kinds = say("The attack hits."), []
    rules = [id for kind in (*kinds, *[event["type"] for event in lost]) for id in LOOK.rules[kind]]
    there = [piece for piece in _pieces(view) if piece.place == region]
    return Fight(
        say("Strike on {region}", region=next(place.name for place in REGIONS if place.id == region)),
        region,
        (_fighter(view, data.ALIENS, there, played, lost), _fighter(view, data.HUMANS, there, played, lost)),
        status,
        tuple(dict.fromkeys(rules)),
    )


def _fighter(view: View, seat: Seat, there: list[Piece], played: Event | None, lost: list[Event]) -> Side:
    """Return a side of a strike: what it has in the region, the card of the last attack, and what it has lost."""
    strike, aliens = view["strike"], seat == data.ALIENS
    own = [_fallen(event) for event in lost if _owner(event) == seat]
    details, total = [], ""
    if strike is not None:
        total = str(strike["damage"] if aliens else strike["need"])
        target = None if aliens else next(damage_order(view, strike["region"]), None)
        if target is not None:
            first = data.NAMES[target.building] if target.building else LOOK.word(target.figure) if target.figure else say("civilian")
            details = [Detail(say("hit first"), first)]
        details.append(Detail(say("damage gathered") if aliens else say("damage needed"), total))
    card = played is not None and played["seat"] == seat and played["card"] in data.CARDS
    return Side(
        name=LOOK.crests[seat].name,
        role=say("strike") if aliens else say("are hit"),
        seat=seat,
        pieces=tuple([piece._replace(id=f"fight_{piece.id}") for piece in there if (piece.seat or data.HUMANS) == seat]),
        details=tuple(details),
        cards=(_card(played["card"], seat, 1)._replace(text=(), glyph=""),) if card and played is not None else (),
        total=total,
        note=say("loses {what}", what=listed(own)) if own else "",
        won=aliens and strike is None and not own,
    )


def _owner(event: Event) -> Seat:
    """Return the side that has lost what an event has destroyed."""
    if event["type"] == "unit_destroyed":
        return data.FIGURES[event["unit"]].side
    return data.BUILDINGS[event["building"]].side if event["type"] == "building_destroyed" else data.HUMANS


def _fallen(event: Event) -> str:
    """Return what an event has destroyed."""
    if event["type"] == "civilians_destroyed":
        return counted(event["count"], "civilian")
    return LOOK.word(event["unit"]) if event["type"] == "unit_destroyed" else data.NAMES[event["building"]]
