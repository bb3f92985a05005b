"""The board as text, for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from games.drawing import Sheet, apart, ended, heading, legible, letter, paragraph
from games.kernel import Seat
from games.sentences import counted
from games.war_of_civilizations import telling
from games.war_of_civilizations.data import CONTINENT_OF, COUNTDOWN, EXPEDITIONS, ISLE, MAX_LEVEL, RESERVE, RESOURCES, RING, SHIPS
from games.war_of_civilizations.sight import View
from games.war_of_civilizations.state.fleets import reserve
from games.war_of_civilizations.state.records import crystals_of, option

WIDE = 18
MARGIN = 8
NOTE_WIDTH = 54  # letters, each of which may be two columns wide
LEGEND = (
    "C capital ship",
    "D destroyer",
    "F frigate",
    "G gunboat",
    "t teleporters",
    "p privateer",
    "* mounted crystal",
    "~ forecast tokens",
    "## barren",
    "? token",
)


def board(view: View, viewer: str) -> list[str]:
    """Return a match as a viewer sees it, in lines of text."""
    return [
        heading("War of Civilizations", view, viewer),
        _tracks(view),
        *_map(view),
        *paragraph("", [*LEGEND, *[f"{letter(seat)} {seat}" for seat in view["seats"]]]),
        *[line for seat in view["seats"] for line in _seat(view, seat)],
        *_cards(view),
        *_turn(view),
        *_open(view),
        *ended(view),
    ]


def _tracks(view: View) -> str:
    """Return the countdown, the round limit and the supply (WOC-RND-09, WOC-RND-10)."""
    countdown = view["countdown"]
    left = f"countdown {countdown} of {COUNTDOWN}" if countdown is not None else "no countdown yet"
    return apart(f"{left}, at most {option(view, 'round_limit')} rounds", f"{view['crystals']['supply']} crystals in the supply")


def _map(view: View) -> list[str]:
    """Return the map: the Isle of Myth above the ring of apex islands, which closes from right to left. Below each is the continent next to
    it, with the home base at the bottom (WOC-MAP-06, WOC-MAP-07, WOC-MAP-09)."""
    sheet = Sheet()
    _cell(sheet, 0, 0, len(RING), [_isle(view)])
    for column, island in enumerate(RING):
        _cell(sheet, 2, column, 1, [*_place(view, island), _token(view, island)])
        sheet.write(2, MARGIN + column * WIDE + 2, f" {island} ".replace("_", " "))
    for seat, island in view["attached"].items():
        if seat not in view["seats"]:
            continue
        column = RING.index(island)
        for row, location in enumerate(reversed(CONTINENT_OF[seat])):
            _cell(sheet, 6 + row * 3, column, 1, _place(view, location))
            sheet.write(7 + row * 3, 0, location.removeprefix(f"{seat}_"))
        sheet.write(6, MARGIN + column * WIDE + 2, f" {seat.upper()} ")
    return sheet.lines()


def _cell(sheet: Sheet, top: int, column: int, columns: int, lines: list[str]) -> None:
    left = MARGIN + column * WIDE
    sheet.box(top, left, top + len(lines) + 1, left + columns * WIDE)
    for line, text in enumerate(lines, 1):
        sheet.write(top + line, left + 1, text)


def _isle(view: View) -> str:
    """Return the fleets, the holder and the crystals of the Isle of Myth."""
    isle = view[ISLE]
    parts = ["ISLE OF MYTH", counted(view["crystals"][ISLE], "crystal"), *_fleets(view, ISLE)]
    if isle["holder"] is not None:
        parts.append(f"held by {isle['holder']} since round {isle['since']}, {counted(isle['full_rounds'], 'full round')}")
    return " " + "   ".join(parts)


def _place(view: View, location: str) -> list[str]:
    """Return a location in two lines: the fleets; teleporters, privateers, a crystal and forecasts."""
    players = view["players"]
    tokens = "".join([letter(seat) for seat in view["seats"] if location in players[seat]["teleporters"]])
    guests = "".join([letter(seat) for seat in view["seats"] if players[seat]["privateer"] == location])
    mark = view["marks"].get(location)
    things = [
        f"t{tokens}" if tokens else "",
        f"p{guests}" if guests else "",
        "*" if any(location in player["mounted"] for player in players.values()) else "",
        ("~" * mark if isinstance(mark, int) else "##") if mark is not None else "",
    ]
    return [" " + " ".join(_fleets(view, location)), " " + " ".join(filter(None, things))]


def _fleets(view: View, location: str) -> list[str]:
    """Return the fleets on a location, such as `F:CD2` for the capital ship and two destroyers of fox."""
    players = view["players"]
    return [f"{letter(seat)}:{_ships(players[seat]['fleets'][location])}" for seat in view["seats"] if location in players[seat]["fleets"]]


def _ships(fleet: dict[str, int]) -> str:
    return "".join([letter(ship) + (str(fleet[ship]) if fleet[ship] > 1 else "") for ship in SHIPS if fleet.get(ship)])


def _token(view: View, island: str) -> str:
    """Return the pirate and the lost expedition of an apex island, with its price for viewers who know it (WOC-EXP-01, WOC-PIR-01)."""
    here = view["apex"][island]
    if island in view["covered"]:
        return " covered"
    token = "" if here["explored"] else "?" if here["expedition"] is None else _price(EXPEDITIONS[here["expedition"]])
    return " " + " ".join(filter(None, ["pirate" if here["pirate"] else "", token]))


def _price(cost: dict[str, int]) -> str:
    return " ".join([f"{number}{name[:2]}" for name, number in cost.items()])


def _words(name: str) -> str:
    return name.replace("_", " ")


def _seat(view: View, seat: Seat) -> list[str]:
    """Return what a seat has besides its pieces on the map. Hands are open to all (WOC-GEN-05)."""
    player = view["players"][seat]
    mark = "x" if player["eliminated"] else ">" if seat in view["to_act"] else " "
    left = "".join([f"{letter(ship)}{number}" for ship in SHIPS if (number := reserve(view, seat, ship))])
    parts = [
        *[f"{name} {'?' if player[name] is None else player[name]}" for name in RESOURCES],
        counted(crystals_of(view, seat), "crystal") + (f" ({len(player['mounted'])} mounted)" if player["mounted"] else ""),
        f"level {player['ability']} of {MAX_LEVEL}",
        *([f"reserve {left}"] if left else []),
        *(["privateer in reserve"] if player["privateer"] == RESERVE else []),
        *[_words(card) for card in player["cards"]],
    ]
    return paragraph(f"{mark} {seat:<9}", parts)


def _cards(view: View) -> Iterator[str]:
    """Yield the display and the number of cards elsewhere. An auditor also sees the deck."""
    power = view["power"]
    deck = power["deck"]
    number = deck if isinstance(deck, int) else len(deck)
    yield from paragraph("display    ", [*map(_words, power["display"]), f"deck {number}", f"discard {len(power['discard'])}"])
    if not isinstance(deck, int) and deck:
        yield from paragraph("next cards ", [_words(card) for card in deck[:10]])


NAMES = telling.Names(str, _words, _words, _words)


def _turn(view: View) -> Iterator[str]:
    """Yield what the active seat has done this turn."""
    if view["turn"] is not None:
        yield from paragraph(f"turn       {view['active']}: ", telling.turn(view, NAMES))


def _open(view: View) -> Iterator[str]:
    """Yield the battle, the blockade and the offer that wait for a decision."""
    if view["battle"] is not None:
        yield from paragraph("BATTLE     ", telling.battle(view, NAMES))
    yield from [f"BLOCKADE   {text}" for text in telling.blockade(view, NAMES)]
    yield from [f"RANSOM     {text}" for text in telling.ransom(view, NAMES)]
    if view["ransom"] is not None:
        yield from [f"           {line}" for line in textwrap.wrap(legible(view["ransom"]["note"] or ""), NOTE_WIDTH)]
