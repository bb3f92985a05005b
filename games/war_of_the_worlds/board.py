"""The board as text, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from games.drawing import Sheet, apart, ended, heading, paragraph, tallied
from games.kernel import AUDITOR, Seat
from games.sentences import Tell, counted, named, say
from games.war_of_the_worlds import data
from games.war_of_the_worlds.sight import View, size
from games.war_of_the_worlds.state import civilians_left, income

HIGH = 4


def board(view: View, viewer: str, tell: Tell = str) -> list[str]:
    """Return the drawing of a match for a viewer, as lines."""
    return [
        heading("War of the Worlds", view, viewer, tell),
        *_map(view, tell),
        _tracks(view, tell),
        *_open(view, tell),
        *[line for seat in view["seats"] for line in _side(view, seat, viewer, tell)],
        *ended(view, tell),
    ]


def _map(view: View, tell: Tell) -> list[str]:
    """Return the map of Great Britain. Boxes that touch are adjacent regions. Each sea names its coast (WOW-MAP-01, WOW-MAP-02)."""
    sheet = Sheet()
    for region in data.LAND:
        place = data.SKETCH[region]
        sheet.box(place.line, place.column, place.line + HIGH, place.column + place.width)
        for line, text in enumerate(_land(view, region, place.width - 1, tell), 1):
            sheet.write(place.line + line, place.column + 1, text)
    for region in data.SEA:
        place = data.SKETCH[region]
        coast = paragraph("", [tell(data.SKETCH[near].short) for near in data.BESIDE[region]], width=place.width)
        for line, text in enumerate([f"~ {tell(place.short)} {_figures(view, region, tell) or '~'}", *coast]):
            sheet.write(place.line + line, place.column, text)
    drawn = sheet.lines()
    return [*drawn[:-1], tell(say("* has acted this turn")).ljust(len(drawn[-1]) - len(drawn[-1].lstrip())) + drawn[-1].lstrip()]


def _land(view: View, region: str, width: int, tell: Tell) -> list[str]:
    """Return three lines for a land region. `*` marks pieces that have acted this turn."""
    land = view["regions"][region]
    people = tell(counted(land["civilians"], "civilian")) if land["civilians"] else ""
    if land["fought"]:
        people = tell(say("{civilians} civ., {fought}*", civilians=land["civilians"], fought=land["fought"]))
    full, short = _tokens(view, region, land, tell)
    return [
        apart(f" {tell(data.SKETCH[region].short).upper()}", f"{people} ", width),
        " " + _figures(view, region, tell),
        " " + full if len(full) < width else short,
    ]


def _tokens(view: View, region: str, land: dict[str, Any], tell: Tell) -> tuple[str, str]:
    """Return the tokens in a region by name, and in short words. Influence is in brackets."""
    standing = [*([land["building"]] if land["building"] else []), *([data.BALLOONS.id] if land["balloons"] else [])]
    marks = ["*" if name == land["building"] and region in view["fired"] else "" for name in standing]
    laid = [tell(data.SHORT[name]) for name in land["influence"]]
    full = [tell(data.NAMES[name]) + mark for name, mark in zip(standing, marks, strict=True)]
    short = [tell(data.SHORT[name]) + mark for name, mark in zip(standing, marks, strict=True)]
    return " + ".join([*full, *([f"({', '.join(laid)})"] if laid else [])]), " ".join([*short, *laid])


def _figures(view: View, region: str, tell: Tell) -> str:
    """Return the figures in a region by kind and number. `*` marks a figure that has taken a unit card this turn."""
    found = []
    for kind in data.KINDS.values():
        here = [
            f"{number}*" if view["units"][figure]["used"] else str(number)
            for number, figure in enumerate(kind.figures, 1)
            if view["units"][figure]["region"] == region
        ]
        if here:
            found.append(f"{tell(data.NAMES[kind.id])} {''.join(here)}")
    return " ".join(found)


def _tracks(view: View, tell: Tell) -> str:
    """Return the two tracks that lead to the goals (WOW-END-01, WOW-END-02)."""
    left = civilians_left(view)
    return apart(
        f"{tell(say('damage')):<11}{_bar(view['damage'], data.DAMAGE_TO_WIN)}  {_of(str(view['damage']), data.DAMAGE_TO_WIN, tell)}",
        f"{tell(say('civilians')):<11}{_bar(left, data.CIVILIANS)}  {_of(f'{left:>2}', data.CIVILIANS, tell)}",
    )


def _of(number: str, whole: int, tell: Tell) -> str:
    return tell(say("{number} of {whole}", number=number, whole=whole))


def _bar(number: int, whole: int) -> str:
    return ("#" * number).ljust(whole, ".")


def _open(view: View, tell: Tell) -> Iterator[str]:
    """Yield a line for an open strike or evacuation."""
    strike, evacuation = view["strike"], view["evacuation"]
    if strike is not None:
        region, gathered, needed = data.SKETCH[strike["region"]].short, strike["damage"], strike["need"]
        yield tell(say("STRIKE on {region}: {gathered} gathered, {needed} needed", region=region, gathered=gathered, needed=needed))
    if evacuation is not None:
        region = data.SKETCH[evacuation["region"]].short
        moved = say("EVACUATION: the civilian that moved first is in {region}; one more may move", region=region)
        if evacuation["fought"]:
            moved = say("EVACUATION: the civilian that moved first is in {region}, and has fought; one more may move", region=region)
        yield tell(moved)


def _side(view: View, seat: Seat, viewer: str, tell: Tell) -> Iterator[str]:
    """Yield the lines for the cards of a side: names of open cards, counts of hidden ones (WOW-VIS-01, WOW-VIS-02, WOW-VIS-03)."""
    side = view["sides"][seat]
    sizes: list[str] = [
        say("{count} in supply", count=size(side["supply"])),
        say("{count} in the offer deck", count=size(side["offer_deck"])),
        say("income {count}", count=income(view, seat)),
    ]
    if seat == view["active"]:
        left = say("{resources} left", resources=counted(view["resources"], "resource"))
        sizes += [left, say("swap made") if view["swapped"] else say("swap open")]
    yield f"{tell(named(seat)).upper()}{' <' if seat in view['to_act'] else ''}   {', '.join(map(tell, sizes))}"
    hand = side["hand"]
    if isinstance(hand, int):
        yield _label(say("hand"), tell) + tell(counted(hand, "card"))
    else:
        yield from paragraph(_label(say("hand"), tell), map(tell, tallied([data.NAMES[card] for card in hand]) or ["-"]))
    offer = [f"{tell(data.NAMES[card])} {data.CARDS[card].cost}" for card in side["offer"]]
    yield from paragraph(_label(say("offer"), tell), offer or ["-"])
    for label, pile in ((say("discard"), data.DISCARD), (say("removed"), data.REMOVED)):
        if side[pile]:
            yield from paragraph(_label(label, tell), map(tell, tallied([data.NAMES[card] for card in side[pile]])))
    if viewer == AUDITOR:
        for label, pile in ((say("supply"), "supply"), (say("to come"), data.OFFER_DECK)):
            if side[pile]:
                yield from paragraph(_label(label, tell), [tell(data.NAMES[card]) for card in side[pile]])


def _label(label: str, tell: Tell) -> str:
    return f"  {tell(label):<8} "
