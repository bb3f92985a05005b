"""The board as text, for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from games.drawing import Sheet, apart, ended, heading, legible, letter, paragraph
from games.kernel import Seat
from games.sentences import Tell, counted, named, say
from games.war_of_civilizations import telling
from games.war_of_civilizations.data import CONTINENT_OF, COUNTDOWN, EXPEDITIONS, ISLE, MAX_LEVEL, RESERVE, RESOURCES, RING, SHIPS
from games.war_of_civilizations.sight import View
from games.war_of_civilizations.state.fleets import reserve
from games.war_of_civilizations.state.records import crystals_of, option

WIDE = 18
MARGIN = 8
NOTE_WIDTH = 54  # letters, each of which may be two columns wide
LETTERS = {
    "capital": say("C capital ship"),
    "destroyer": say("D destroyer"),
    "frigate": say("F frigate"),
    "gunboat": say("G gunboat"),
    "teleporter": say("t teleporters"),
    "privateer": say("p privateer"),
}
"""The letter of each piece on the map, with its name."""
LEGEND = (*LETTERS.values(), say("* mounted crystal"), say("~ forecast tokens"), say("## barren"), say("? token"))


def board(view: View, viewer: str, tell: Tell = str) -> list[str]:
    """Return a match as a viewer sees it, in lines of text."""
    return [
        heading("War of Civilizations", view, viewer, tell),
        _tracks(view, tell),
        *_map(view, tell),
        *paragraph("", [*map(tell, LEGEND), *[f"{tell(letter(seat))} {tell(named(seat))}" for seat in view["seats"]]]),
        *[line for seat in view["seats"] for line in _seat(view, seat, tell)],
        *_cards(view, tell),
        *_turn(view, tell),
        *_open(view, tell),
        *ended(view, tell),
    ]


def _tracks(view: View, tell: Tell) -> str:
    """Return the countdown, the round limit and the supply (WOC-RND-09, WOC-RND-10)."""
    countdown = view["countdown"]
    left = say("countdown {left} of {whole}", left=countdown, whole=COUNTDOWN) if countdown is not None else say("no countdown yet")
    return apart(
        tell(say("{countdown}, at most {rounds} rounds", countdown=left, rounds=option(view, "round_limit"))),
        tell(say("{count} crystals in the supply", count=view["crystals"]["supply"])),
    )


def _map(view: View, tell: Tell) -> list[str]:
    """Return the map: the Isle of Myth above the ring of apex islands, which closes from right to left. Below each is the continent next to
    it, with the home base at the bottom (WOC-MAP-06, WOC-MAP-07, WOC-MAP-09)."""
    sheet = Sheet()
    _cell(sheet, 0, 0, len(RING), [_isle(view, tell)])
    for column, island in enumerate(RING):
        _cell(sheet, 2, column, 1, [*_place(view, island, tell), _token(view, island, tell)])
        sheet.write(2, MARGIN + column * WIDE + 2, f" {tell(named(island))} ")
    for seat, island in view["attached"].items():
        if seat not in view["seats"]:
            continue
        column = RING.index(island)
        for row, location in enumerate(reversed(CONTINENT_OF[seat])):
            _cell(sheet, 6 + row * 3, column, 1, _place(view, location, tell))
            sheet.write(7 + row * 3, 0, tell(named(location.removeprefix(f"{seat}_"))))
        sheet.write(6, MARGIN + column * WIDE + 2, f" {tell(named(seat)).upper()} ")
    return sheet.lines()


def _cell(sheet: Sheet, top: int, column: int, columns: int, lines: list[str]) -> None:
    left = MARGIN + column * WIDE
    sheet.box(top, left, top + len(lines) + 1, left + columns * WIDE)
    for line, text in enumerate(lines, 1):
        sheet.write(top + line, left + 1, text)


def _isle(view: View, tell: Tell) -> str:
    """Return the fleets, the holder and the crystals of the Isle of Myth."""
    isle = view[ISLE]
    parts = [tell(say("ISLE OF MYTH")), tell(counted(view["crystals"][ISLE], "crystal")), *_fleets(view, ISLE, tell)]
    if isle["holder"] is not None:
        held, rounds = named(isle["holder"]), counted(isle["full_rounds"], "full round")
        parts.append(tell(say("held by {seat} since round {since}, {rounds}", seat=held, since=isle["since"], rounds=rounds)))
    return " " + "   ".join(parts)


def _place(view: View, location: str, tell: Tell) -> list[str]:
    """Return a location in two lines: the fleets; teleporters, privateers, a crystal and forecasts."""
    players = view["players"]
    tokens = "".join([tell(letter(seat)) for seat in view["seats"] if location in players[seat]["teleporters"]])
    guests = "".join([tell(letter(seat)) for seat in view["seats"] if players[seat]["privateer"] == location])
    mark = view["marks"].get(location)
    things = [
        f"{tell(LETTERS['teleporter'])[0]}{tokens}" if tokens else "",
        f"{tell(LETTERS['privateer'])[0]}{guests}" if guests else "",
        "*" if any(location in player["mounted"] for player in players.values()) else "",
        ("~" * mark if isinstance(mark, int) else "##") if mark is not None else "",
    ]
    return [" " + " ".join(_fleets(view, location, tell)), " " + " ".join(filter(None, things))]


def _fleets(view: View, location: str, tell: Tell) -> list[str]:
    """Return the fleets on a location, such as `F:CD2` for the capital ship and two destroyers of fox."""
    players = view["players"]
    here = {seat: players[seat]["fleets"][location] for seat in view["seats"] if location in players[seat]["fleets"]}
    return [f"{tell(letter(seat))}:{_ships(fleet, tell)}" for seat, fleet in here.items()]


def _ships(fleet: dict[str, int], tell: Tell) -> str:
    return "".join([tell(LETTERS[ship])[0] + (str(fleet[ship]) if fleet[ship] > 1 else "") for ship in SHIPS if fleet.get(ship)])


def _token(view: View, island: str, tell: Tell) -> str:
    """Return the pirate and the lost expedition of an apex island, with its price for viewers who know it (WOC-EXP-01, WOC-PIR-01)."""
    here = view["apex"][island]
    if island in view["covered"]:
        return f" {tell(say('covered'))}"
    token = "" if here["explored"] else "?" if here["expedition"] is None else _price(EXPEDITIONS[here["expedition"]], tell)
    return " " + " ".join(filter(None, [tell(named("pirate")) if here["pirate"] else "", token]))


def _price(cost: dict[str, int], tell: Tell) -> str:
    return " ".join([f"{number}{tell(named(name))[:2]}" for name, number in cost.items()])


def _seat(view: View, seat: Seat, tell: Tell) -> list[str]:
    """Return what a seat has besides its pieces on the map. Hands are open to all (WOC-GEN-05)."""
    player = view["players"][seat]
    mark = "x" if player["eliminated"] else ">" if seat in view["to_act"] else " "
    left = "".join([f"{tell(LETTERS[ship])[0]}{number}" for ship in SHIPS if (number := reserve(view, seat, ship))])
    crystals = counted(crystals_of(view, seat), "crystal")
    parts = [
        *[say("{name} {number}", name=named(name), number="?" if player[name] is None else player[name]) for name in RESOURCES],
        say("{crystals} ({count} mounted)", crystals=crystals, count=len(player["mounted"])) if player["mounted"] else crystals,
        say("level {level} of {most}", level=player["ability"], most=MAX_LEVEL),
        *([say("reserve {ships}", ships=left)] if left else []),
        *([say("privateer in reserve")] if player["privateer"] == RESERVE else []),
        *map(named, player["cards"]),
    ]
    return paragraph(f"{mark} {tell(named(seat)):<9}", map(tell, parts))


def _cards(view: View, tell: Tell) -> Iterator[str]:
    """Yield the display and the number of cards elsewhere. An auditor also sees the deck."""
    power = view["power"]
    deck = power["deck"]
    number = deck if isinstance(deck, int) else len(deck)
    parts = [
        *map(named, power["display"]),
        say("deck {count}", count=number),
        say("discard {count}", count=len(power["discard"])),
    ]
    yield from paragraph(f"{tell(say('display')):<11}", map(tell, parts))
    if not isinstance(deck, int) and deck:
        yield from paragraph(f"{tell(say('next cards')):<11}", [tell(named(card)) for card in deck[:10]])


NAMES = telling.Names(named, named, named, named)


def _turn(view: View, tell: Tell) -> Iterator[str]:
    """Yield what the active seat has done this turn."""
    if view["turn"] is not None:
        yield from paragraph(f"{tell(say('turn')):<11}{tell(named(view['active']))}: ", map(tell, telling.turn(view, NAMES)))


def _open(view: View, tell: Tell) -> Iterator[str]:
    """Yield the battle, the blockade and the offer that wait for a decision."""
    if view["battle"] is not None:
        yield from paragraph(f"{tell(say('BATTLE')):<11}", map(tell, telling.battle(view, NAMES)))
    yield from [f"{tell(say('BLOCKADE')):<11}{tell(text)}" for text in telling.blockade(view, NAMES)]
    yield from [f"{tell(say('RANSOM')):<11}{tell(text)}" for text in telling.ransom(view, NAMES)]
    if view["ransom"] is not None:
        yield from [f"           {line}" for line in textwrap.wrap(legible(view["ransom"]["note"] or ""), NOTE_WIDTH)]
