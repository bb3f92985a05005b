"""The scene: what a picture of a match shows."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from games.kernel import Event, Seat
from games.picture import picture
from games.scene import Area, Card, Detail, Die, Fight, Hand, Link, Mark, Panel, Piece, Place, Scene, Side, Track, spread
from games.sentences import counted, say
from games.war_of_civilizations import data, telling
from games.war_of_civilizations.battle.record import fighters, strength, support
from games.war_of_civilizations.outcome import scores
from games.war_of_civilizations.sight import View
from games.war_of_civilizations.state.control import occupied
from games.war_of_civilizations.state.fleets import fleet_strength, reserve
from games.war_of_civilizations.state.records import crystals_of, option

LOOK = picture(data.FOLDER)
MAP: Mapping[str, Any] = LOOK.map
MARGIN: float = MAP["margin"]
HEART = "heart"  # the kind of place that is in the middle


def scene(view: View) -> Scene:
    """Return what a picture of a view shows."""
    chart = _chart(tuple(view["attached"].items()), tuple(view["seats"]), tuple(view["covered"]))
    drawn = {place.id for place in chart}
    holders = {location: seat for seat in view["seats"] for location in occupied(view, seat)}
    holders = {**holders, data.ISLE: view[data.ISLE]["holder"]}
    ships: dict[str, int] = {}
    for player in view["players"].values():
        for location, fleet in player["fleets"].items():
            ships[location] = ships.get(location, 0) + sum(fleet.values())
    outcome = view["outcome"]
    return Scene(
        title=LOOK.word(view["game"]),
        status=say("Round {round}: {phase}", round=view["round"], phase=LOOK.word(view["phase"])),
        frame=_frame(chart),
        places=tuple([_now(place, ships.get(place.id, 0), view["marks"].get(place.id), holders.get(place.id)) for place in chart]),
        pieces=tuple(_pieces(view)),
        marks=tuple([mark for mark in _marks(view) if mark.place in drawn]),
        links=(
            *_ways(chart),
            *[Link(data.NORTH[seat], island) for seat, island in view["attached"].items() if seat in view["seats"]],
            *_attack(view),
        ),
        tracks=tuple(_tracks(view)),
        panels=(*[_seat(view, seat) for seat in view["seats"]], _common(view)),
        acting=tuple([seat for seat in view["to_act"] if seat in view["seats"]]),
        winners=tuple(outcome["winners"]) if outcome is not None else (),
        over=outcome is not None,
    )


@functools.lru_cache(maxsize=64)
def _chart(attached: tuple[tuple[Seat, str], ...], seats: tuple[Seat, ...], covered: tuple[str, ...]) -> tuple[Place, ...]:
    """Return the map: the Isle of Myth, the ring of apex islands, and at each the land of a clan (WOC-MAP-06, WOC-MAP-07, WOC-MAP-09). Few
    clans have a layout of their own, in which there is more room for each."""
    layout = MAP["layouts"].get(str(len(seats)), MAP["layouts"]["many"])
    found = [_island(data.ISLE, HEART, 0, 0)]
    found += [_island(island, "apex", *_turned(layout["ring"], 0, _angle(island))) for island in data.RING if island not in covered]
    for seat, island in attached:
        if seat in seats:
            left, top, turn = layout["lands"].get(island, (0, 0, math.degrees(_angle(island))))
            for location in data.CONTINENT_OF[seat]:
                out, aside = layout["islands"][location.removeprefix(f"{seat}_")]
                x, y = _turned(out, aside, math.radians(turn))
                kind = "home" if location == data.HOME[seat] else "island"
                found.append(_island(location, kind, left + x, top + y, seat))
    return tuple(found)


def _angle(island: str) -> float:
    return math.radians(MAP["first_angle"] + 360 / len(data.RING) * data.RING.index(island))


def _turned(out: float, aside: float, angle: float) -> tuple[float, float]:
    """Return the point so far out along an angle, and so far aside from that line."""
    return out * math.cos(angle) - aside * math.sin(angle), out * math.sin(angle) + aside * math.cos(angle)


def _island(id: str, kind: str, x: float, y: float, seat: Seat | None = None) -> Place:
    wide, high = MAP["areas"][kind]
    short = LOOK.word(id.removeprefix(f"{seat}_"))
    return Place(
        id=id,
        name=_place(id),
        area=Area(round(x - wide / 2, 1), round(y - high / 2, 1), wide, high),
        shape=kind,
        ground=kind,
        x=round(x, 1),
        y=round(y, 1),
        turn=round(x * 7 + y * 3) % 360,
        label=LOOK.crests[seat].name if seat is not None and id == data.HOME[seat] else short,
        glyph=MAP["glyphs"].get(kind, ""),
        head=MAP["heads"][kind],
        notes=tuple([(name, number) for name, number in data.YIELDS[id].items()]) if kind != HEART else (),
        land=seat,
    )


def _disc(place: Place) -> Area:
    radius = MAP["radius"][place.shape]
    return Area(place.x - radius, place.y - radius, 2 * radius, 2 * radius)


@functools.lru_cache(maxsize=64)
def _frame(chart: tuple[Place, ...]) -> Area:
    return spread([_disc(place) for place in chart], MARGIN)


@functools.lru_cache(maxsize=64)
def _ways(chart: tuple[Place, ...]) -> tuple[Link, ...]:
    drawn = {place.id for place in chart}
    return tuple([Link(one, other) for one in sorted(drawn) for other in data.BESIDE[one] if one < other and other in drawn])


@functools.lru_cache(maxsize=4096)
def _now(place: Place, ships: int, mark: int | str | None, holder: Seat | None) -> Place:
    """Return a place with how many ships are there of how many may be, who holds it, and waste land in its colour (WOC-DIS-07)."""
    badge = f"{ships}/{data.CAPACITY[place.id]}" if ships and place.id != data.ISLE else ""
    return place._replace(badge=badge, ground=data.BARREN if mark == data.BARREN else place.ground, holder=holder)


def _pieces(view: View) -> Iterator[Piece]:
    """Yield the ships of every fleet, the strongest first."""
    for seat in view["seats"]:
        for location, fleet in sorted(view["players"][seat]["fleets"].items()):
            for ship in data.SHIPS:
                if fleet.get(ship):
                    yield Piece(f"{seat}_{ship}_{location}", LOOK.word(ship), location, ship, seat, fleet[ship])


def _marks(view: View) -> Iterator[Mark]:
    """Yield the tokens on the map."""
    for seat in view["seats"]:
        player, ground, name = view["players"][seat], LOOK.crests[seat].ground, LOOK.crests[seat].name
        for location in player["teleporters"]:
            yield Mark(f"teleporter_{location}", say("{seat} teleporter", seat=name), location, "teleporter", ground)
        for location in sorted(player["mounted"]):
            yield Mark(f"crystal_{location}", say("{seat} mounted crystal", seat=name), location, "crystal", "crystal")
        if player["privateer"] not in (None, data.RESERVE):
            yield Mark(f"privateer_{seat}", say("{seat} privateer", seat=name), player["privateer"], data.PIRATE, ground)
    for location, mark in sorted(view["marks"].items()):
        barren = mark == data.BARREN
        name = LOOK.word(data.BARREN) if barren else say("storm forecast")
        yield Mark(f"mark_{location}", name, location, "storm", "storm", "" if barren else str(mark))
    for island in data.RING:
        here = view["apex"][island]
        if here["pirate"]:
            yield Mark(f"pirate_{island}", LOOK.word(data.PIRATE), island, data.PIRATE, data.PIRATE)
        if not here["explored"]:
            price = "?" if here["expedition"] is None else _price(data.EXPEDITIONS[here["expedition"]])
            yield Mark(f"token_{island}", say("lost expedition"), island, "chest", "token", price)
    yield Mark("isle_crystals", say("crystals"), data.ISLE, "crystal", "crystal", str(view["crystals"][data.ISLE]))
    if view["battle"] is not None:
        yield Mark("battle", say("battle"), view["battle"]["at"], "battle", "accent")


def _price(cost: Mapping[str, int]) -> str:
    price = ""
    for name, number in cost.items():
        part = say("{number} {name}", number=number, name=LOOK.word(name))
        price = say("{first} {more}", first=price, more=part) if price else part
    return price


def _attack(view: View) -> Iterator[Link]:
    battle = view["battle"]
    if battle is not None and battle["from"] is not None:
        yield Link(battle["from"], battle["at"], "arrow", battle["attacker"])


def _tracks(view: View) -> Iterator[Track]:
    """Yield the counters that lead to the end of the match (WOC-RND-09, WOC-RND-10)."""
    isle = view[data.ISLE]
    if isle["holder"] is not None:
        name = say("{seat} holds the Isle", seat=LOOK.crests[isle["holder"]].name)
        yield Track("isle_held", name, isle["full_rounds"], data.ROUNDS_TO_WIN, LOOK.crests[isle["holder"]].ground)
    if view["countdown"] is not None:
        yield Track("countdown", LOOK.word("countdown"), view["countdown"], data.COUNTDOWN, "accent")
    yield Track("round", LOOK.word("round"), view["round"], option(view, "round_limit"), "token")
    yield Track("supply", LOOK.word("supply"), view["crystals"]["supply"], data.CRYSTALS, "crystal")


def _seat(view: View, seat: Seat) -> Panel:
    """Return the panel of a seat. Hands are open to all (WOC-GEN-05)."""
    player, outcome, totals = view["players"][seat], view["outcome"], scores(view)
    mounted = len(player["mounted"])
    left = [(str(number), ship) for ship in data.SHIPS if (number := reserve(view, seat, ship))]
    left += [(LOOK.word(data.PRIVATEER), data.PIRATE)] if player["privateer"] == data.RESERVE else []
    details = [
        *[Detail(LOOK.word(name), "?" if player[name] is None else str(player[name]), name) for name in data.RESOURCES],
        Detail(say("ability"), f"{player['ability']} / {data.MAX_LEVEL}"),
        Detail(say("strength"), str(sum([fleet_strength(fleet) for fleet in player["fleets"].values()]))),
        *([Detail(say("mounted"), str(mounted), "crystal")] if mounted else []),
        *([Detail(say("reserve"), "")] if left else []),
        *[Detail("", value, glyph) for value, glyph in left],
    ]
    best = max(totals.values())
    holder = view[data.ISLE]["holder"]
    return Panel(
        id=seat,
        name=LOOK.crests[seat].name,
        seat=seat,
        score=Detail(say("crystals"), str(crystals_of(view, seat))),
        details=tuple(details),
        hands=(Hand(say("CARDS"), tuple([_card(card)._replace(text=(), glyph="") for card in player["cards"]])),),
        ahead=seat in outcome["winners"] if outcome is not None else seat == holder or (holder is None and 0 < best == totals[seat]),
        acts=seat in view["to_act"],
        out=player["eliminated"],
    )


@functools.cache
def _card(card: str) -> Card:
    name, text = data.CARD_WORDS[card]
    cost = data.CARDS[card].cost
    return Card(card, name, f"card_{data.CARDS[card].moment}", f"card_{data.CARDS[card].moment}", _price(cost), (text,))


def _common(view: View) -> Panel:
    """Return the panel of the display, the turn, and what waits for a decision."""
    power = view["power"]
    deck = power["deck"]
    return Panel(
        id="display",
        name=LOOK.word("display"),
        details=(
            Detail(say("deck"), str(deck if isinstance(deck, int) else len(deck))),
            Detail(say("discarded"), str(len(power["discard"]))),
        ),
        hands=(Hand(say("POWER CARDS"), tuple([_card(card) for card in power["display"]])),),
        lines=(*_told(view), *_deck(deck)),
    )


def _deck(deck: Any) -> Iterator[str]:
    """Yield the deck, which an auditor sees."""
    if not isinstance(deck, int) and deck:
        yield say("Deck, top first: {cards}.", cards=[data.CARD_WORDS[card][0] for card in deck])


def _place(location: str) -> str:
    for seat, islands in data.CONTINENT_OF.items():
        if location in islands:
            return say("{seat} {island}", seat=LOOK.crests[seat].name, island=LOOK.word(location.removeprefix(f"{seat}_")).lower())
    return LOOK.word(location)


def _name(seat: str) -> str:
    return LOOK.crests[seat].name if seat in LOOK.crests else say("the {power}", power=LOOK.word(seat))


NAMES = telling.Names(_name, _place, lambda card: data.CARD_WORDS[card][0], LOOK.word)


def _told(view: View) -> Iterator[str]:
    """Yield the turn, and the blockade and the offer that wait for a decision. A battle has a panel of its own."""
    if view["turn"] is not None:
        yield say("{seat}'s turn: {deeds}.", seat=_name(view["active"]), deeds=list(telling.turn(view, NAMES)))
    yield from telling.blockade(view, NAMES)
    yield from telling.ransom(view, NAMES)
    if view["ransom"] is not None and view["ransom"]["note"]:
        yield say("“{note}”", note=view["ransom"]["note"])


# ---------------------------------------------------------------- battles


def fight(view: View, events: Sequence[Event]) -> Fight | None:
    """Return the battle under way, or the one that the last entry has ended, or None, with bids as the viewer sees them (WOC-BAT-05)."""
    told = {event["type"]: event for event in events}
    battle = view["battle"] if view["battle"] is not None else _ended(view, told)
    if battle is None:
        return None
    sides = _fighter(view, battle, data.ATTACKER, events), _fighter(view, battle, data.DEFENDER, events)
    result, back = battle["result"], battle["retreat"]
    if result is None:
        reinforced = view["phase"] == data.REINFORCE_PHASE
        status = say("The defender may bring ships in.") if reinforced else say("Bids are made at once, and in secret.")
        kinds = ["ready"] if reinforced else ["bid", "bid_sealed"]
    else:
        status = say("{seat} wins.", seat=sides[result["winner"] == data.DEFENDER].name)
        kinds = [*(["dice_rolled"] if battle["dice"] else []), "bids_revealed", "battle_resolved"]
    if back is not None:
        sent = say("{seat} must send {ships} home.", seat=_name(back["seat"]), ships=counted(back["count"], "ship"))
        status = say("{status} {more}", status=status, more=sent)
        kinds.append("retreat_ordered")
    rules = tuple(dict.fromkeys([id for kind in kinds for id in LOOK.rules[kind]]))
    return Fight(say("Battle at {place}", place=_place(battle["at"])), battle["at"], sides, status, rules)


def _ended(view: View, told: Mapping[str, Event]) -> Any:
    """Return the battle that the last entry has ended, as far as its events tell. The seat whose turn it is attacks (WOC-BAT-01)."""
    if "battle_resolved" not in told or "battle_ended" not in told:
        return None
    bids: dict[Seat, Any] = told["bids_revealed"]["bids"]
    attacker = view["active"] if view["active"] in bids else next(iter(bids))
    return {
        **data.BLANK_BATTLE,
        "at": told["battle_ended"]["at"],
        "attacker": attacker,
        "defender": next((seat for seat in bids if seat != attacker), data.PIRATE),
        "privateer": None,
        "hostages": {},
        "bids": bids,
        "dice": told["dice_rolled"]["dice"] if "dice_rolled" in told else None,
        "result": told["battle_resolved"],
    }


def _fighter(view: View, battle: Any, role: str, events: Sequence[Event]) -> Side:
    """Return a side of a battle: its ships, among them those that it has just lost, its bid, and what it adds up (WOC-BAT-07)."""
    seat, result = battle[role], battle["result"]
    pirate, alone = seat == data.PIRATE, battle["privateer"] == role
    bid = battle["bids"].get(seat)
    pieces = [Piece(f"fight_{role}", LOOK.word(data.PIRATE), battle["at"], data.PIRATE, None if pirate else seat)]
    if not pirate and not alone:
        ships = _ships(view, battle, role, events)
        pieces = [Piece(f"fight_{ship}", LOOK.word(ship), battle["at"], ship, seat, ships[ship]) for ship in data.SHIPS if ships.get(ship)]
    if result is not None:
        sums = result["sides"][role]
        parts = {"fleet": sums["fleet"], "dice" if pirate else data.POWDER: sums["ammo"], "bonus": sums["bonus"]}
    else:
        parts = {
            "fleet": strength(view, battle, role),
            data.POWDER: bid["ammo"] if bid else 0,
            "bonus": support(view, seat, role, battle["at"]),
        }
    waits = say("has still to bid") if seat in view["to_act"] and view["phase"] == data.BIDS_PHASE else ""
    return Side(
        name=LOOK.crests[seat].name if not pirate else say("Pirate"),
        role=say("attacks") if role == data.ATTACKER else say("defends"),
        seat=None if pirate else seat,
        pieces=tuple(pieces),
        details=tuple([Detail(LOOK.word(name), str(number)) for name, number in parts.items() if number or name == "fleet"]),
        cards=tuple([_card(card)._replace(text=(), glyph="") for card in (bid["cards"] if bid else ())]),
        hidden=int(bid is None and seat in battle["bids"]),
        dice=tuple([Die(face, "token") for face in battle["dice"] or ()]) if pirate else (),
        total=str(result["sides"][role]["total"]) if result is not None else "",
        note="" if result is not None else say("the bid is sealed") if seat in battle["bids"] else waits,
        won=result is not None and result["winner"] == role,
    )


def _ships(view: View, battle: Any, role: str, events: Sequence[Event]) -> Mapping[str, int]:
    """Return the ships of a side. Those that have just gone home or to the reserve have fought, too."""
    ships = dict(fighters(view, battle, role))
    for event in events if battle["result"] is not None else ():
        left = event["type"] in ("ships_removed", "ships_moved") and event["seat"] == battle[role]
        if left and battle["at"] in (event.get("from"), event.get("at")):
            for ship, number in event["ships"].items():
                ships[ship] = ships.get(ship, 0) + number
    return ships
