"""The board as text, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from games.drawing import Sheet, apart, ended, heading, paragraph, tallied
from games.kernel import AUDITOR, Seat
from games.sentences import counted
from games.war_of_the_worlds import data
from games.war_of_the_worlds.sight import View, size
from games.war_of_the_worlds.state import civilians_left, income

HIGH = 4


def board(view: View, viewer: str) -> list[str]:
    """Return the drawing of a match for a viewer, as lines."""
    return [
        heading("War of the Worlds", view, viewer),
        *_map(view),
        _tracks(view),
        *_open(view),
        *[line for seat in view["seats"] for line in _side(view, seat, viewer)],
        *ended(view),
    ]


def _map(view: View) -> list[str]:
    """Return the map of Great Britain. Boxes that touch are adjacent regions. Each sea names its coast (WOW-MAP-01, WOW-MAP-02)."""
    sheet = Sheet()
    for region in data.LAND:
        place = data.SKETCH[region]
        sheet.box(place.line, place.column, place.line + HIGH, place.column + place.width)
        for line, text in enumerate(_land(view, region, place.width - 1), 1):
            sheet.write(place.line + line, place.column + 1, text)
    for region in data.SEA:
        place = data.SKETCH[region]
        coast = paragraph("", [data.SKETCH[near].short for near in data.BESIDE[region]], width=place.width)
        for line, text in enumerate([f"~ {place.short} {_figures(view, region) or '~'}", *coast]):
            sheet.write(place.line + line, place.column, text)
    drawn = sheet.lines()
    return [*drawn[:-1], "* has acted this turn".ljust(len(drawn[-1]) - len(drawn[-1].lstrip())) + drawn[-1].lstrip()]


def _land(view: View, region: str, width: int) -> list[str]:
    """Return three lines for a land region. `*` marks pieces that have acted this turn."""
    land = view["regions"][region]
    people = counted(land["civilians"], "civilian") if land["civilians"] else ""
    if land["fought"]:
        people = f"{land['civilians']} civ., {land['fought']}*"
    full, short = _tokens(view, region, land)
    return [
        apart(f" {data.SKETCH[region].short.upper()}", f"{people} ", width),
        " " + _figures(view, region),
        " " + full if len(full) < width else short,
    ]


def _tokens(view: View, region: str, land: dict[str, Any]) -> tuple[str, str]:
    """Return the tokens in a region by name, and in short words. Influence is in brackets."""
    standing = [*([land["building"]] if land["building"] else []), *([data.BALLOONS.id] if land["balloons"] else [])]
    marks = ["*" if name == land["building"] and region in view["fired"] else "" for name in standing]
    laid = [data.SHORT[name] for name in land["influence"]]
    full = [data.NAMES[name] + mark for name, mark in zip(standing, marks, strict=True)]
    short = [data.SHORT[name] + mark for name, mark in zip(standing, marks, strict=True)]
    return " + ".join([*full, *([f"({', '.join(laid)})"] if laid else [])]), " ".join([*short, *laid])


def _figures(view: View, region: str) -> str:
    """Return the figures in a region by kind and number. `*` marks a figure that has taken a unit card this turn."""
    found = []
    for kind in data.KINDS.values():
        here = [
            f"{number}*" if view["units"][figure]["used"] else str(number)
            for number, figure in enumerate(kind.figures, 1)
            if view["units"][figure]["region"] == region
        ]
        if here:
            found.append(f"{data.NAMES[kind.id]} {''.join(here)}")
    return " ".join(found)


def _tracks(view: View) -> str:
    """Return the two tracks that lead to the goals (WOW-END-01, WOW-END-02)."""
    left = civilians_left(view)
    return apart(
        f"damage     {_bar(view['damage'], data.DAMAGE_TO_WIN)}  {view['damage']} of {data.DAMAGE_TO_WIN}",
        f"civilians  {_bar(left, data.CIVILIANS)}  {left:>2} of {data.CIVILIANS}",
    )


def _bar(number: int, whole: int) -> str:
    return ("#" * number).ljust(whole, ".")


def _open(view: View) -> Iterator[str]:
    """Yield a line for an open strike or evacuation."""
    strike, evacuation = view["strike"], view["evacuation"]
    if strike is not None:
        yield f"STRIKE on {data.SKETCH[strike['region']].short}: {strike['damage']} gathered, {strike['need']} needed"
    if evacuation is not None:
        fought = ", and has fought" if evacuation["fought"] else ""
        yield f"EVACUATION: the civilian that moved first is in {data.SKETCH[evacuation['region']].short}{fought}; one more may move"


def _side(view: View, seat: Seat, viewer: str) -> Iterator[str]:
    """Yield the lines for the cards of a side: names of open cards, counts of hidden ones (WOW-VIS-01, WOW-VIS-02, WOW-VIS-03)."""
    side = view["sides"][seat]
    sizes = [f"{size(side['supply'])} in supply", f"{size(side['offer_deck'])} in the offer deck", f"income {income(view, seat)}"]
    if seat == view["active"]:
        sizes += [counted(view["resources"], "resource") + " left", "swap made" if view["swapped"] else "swap open"]
    yield f"{seat.upper()}{' <' if seat in view['to_act'] else ''}   {', '.join(sizes)}"
    hand = side["hand"]
    if isinstance(hand, int):
        yield f"  hand     {counted(hand, 'card')}"
    else:
        yield from paragraph("  hand     ", tallied([data.NAMES[card] for card in hand]) or ["-"])
    yield from paragraph("  offer    ", [f"{data.NAMES[card]} {data.CARDS[card].cost}" for card in side["offer"]] or ["-"])
    for pile in (data.DISCARD, data.REMOVED):
        if side[pile]:
            yield from paragraph(f"  {pile:<9}", tallied([data.NAMES[card] for card in side[pile]]))
    if viewer == AUDITOR:
        for label, pile in (("supply", "supply"), ("to come", data.OFFER_DECK)):
            if side[pile]:
                yield from paragraph(f"  {label:<9}", [data.NAMES[card] for card in side[pile]])
