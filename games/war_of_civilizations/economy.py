"""Deeds of the active actions Collect and Buy with their bonus: resources, disasters, ships and power cards."""

from __future__ import annotations

from collections.abc import Mapping

from games.choices import Outside, Ranges
from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, no
from games.schema import Fields, counts, known, listing, nullable, optional, text, whole
from games.sentences import joined, say
from games.war_of_civilizations import data
from games.war_of_civilizations.checks import bonus_open, cannot_pay, no_bonus, no_room, no_step, played_without
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.flow import change_resources, close_bonus, end_action, lose_teleporter, move_ships, pay, to_turn
from games.war_of_civilizations.state import records
from games.war_of_civilizations.state.control import controlled, controls
from games.war_of_civilizations.state.fleets import occupants, reserve, room, ships_at
from games.war_of_civilizations.state.shape import CARD, DECK, LOCATION, RESOURCE, SEAT

WARE = known([*data.SHIPS, data.PRIVATEER], "a kind of ship, or a privateer")

# ---------------------------------------------------------------- Collect


def gathered_from(state: State, seat: Seat) -> list[str]:
    """Return the locations from which a seat can collect, in map order: those under its control that have something to collect
    (WOC-COL-01, WOC-PRV-05)."""
    return records.collected_from(state, seat, controlled(state, seat))


def threatened(state: State, locations: list[str]) -> list[str]:
    """Return the locations with forecast tokens (WOC-DIS-04, WOC-DIS-10)."""
    marks = state["marks"]
    return [location for location in locations if location in marks and marks[location] != data.BARREN]


def collect_offers(state: State, seat: Seat) -> list[Action]:
    """Return one collection. With disasters there is one more for each set of islands with forecast tokens that may be left out
    (WOC-DIS-04)."""
    turn = state["turn"]
    if turn is None or turn["action"] != data.COLLECTING:
        return []
    whence = gathered_from(state, seat)
    if not whence:
        return []
    if not records.option(state, "disasters"):
        return [{"type": "collect"}]
    if not turn["forecast_drawn"]:
        return []
    risky = threatened(state, whence)
    skips = [[risky[place] for place in range(len(risky)) if chosen >> place & 1] for chosen in range(1 << len(risky))]
    return [{"type": "collect"}, *[{"type": "collect", "skip": skip} for skip in skips if len(skip) < len(whence)]]


def collect_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why nothing can be collected like this, or None (WOC-COL-01, WOC-COL-05, WOC-DIS-01, WOC-DIS-04, WOC-ABL-06)."""
    skip = action.get("skip", [])
    refusal = no_step(state, data.COLLECTING)
    if refusal is not None:
        return refusal
    if records.option(state, "disasters") and not records.turn_of(state)["forecast_drawn"]:
        return no("forecast_first", "WOC-DIS-01")
    whence = gathered_from(state, seat)
    risky = threatened(state, whence)
    if len(set(skip)) < len(skip) or any(location not in risky for location in skip):
        return no(
            "bad_choice", "WOC-DIS-04", reason=say("only {islands} may be left out", islands=records.either_of(risky) or say("nothing"))
        )
    left = [location for location in whence if location not in skip]
    if not left:
        return no("nothing_to_collect", "WOC-COL-05")
    return _extra(state, seat, left) if action.get("extra") and not records.ability(state, seat, data.COLLECT_EXTRA) else None


def collect_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return what more Squirrel may collect, among what it gathers. Nobody else has anything to choose (WOC-ABL-06)."""
    more = records.ability(state, seat, data.COLLECT_EXTRA)
    if not more:
        return {}
    skip = action.get("skip", ())
    found = records.harvest([location for location in gathered_from(state, seat) if location not in skip])
    return {"extra": {"each": {name: [0, more] for name in found}, "total": [more, more]}}


def collect_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for another number than Squirrel collects more, or for what it does not gather (WOC-ABL-06)."""
    skip = action.get("skip", ())
    return _extra(state, seat, [location for location in gathered_from(state, seat) if location not in skip])


def _extra(state: State, seat: Seat, left: list[str]) -> Refusal:
    more = records.ability(state, seat, data.COLLECT_EXTRA)
    reason = say("{number} more are collected, out of {yields}", number=more, yields=records.in_words(records.harvest(left)))
    return no("bad_choice", "WOC-ABL-06", reason=reason)


def collect(match: Match, seat: Seat, action: Action) -> None:
    """Give the seat what its locations yield. Those with forecast tokens become barren (WOC-COL-01, WOC-COL-03, WOC-DIS-05, WOC-ABL-06,
    WOC-TRN-10)."""
    skip, extra = action.get("skip", ()), action.get("extra", {})
    whence = [location for location in gathered_from(match.state, seat) if location not in skip]
    found = records.harvest(whence)
    change_resources(match, seat, {name: number + extra.get(name, 0) for name, number in found.items()}, "collect")
    for location in threatened(match.state, whence):
        lay_waste(match, location)
    end_action(match)
    to_turn(match)


def lay_waste(match: Match, location: str) -> None:
    """Make an island barren. Ships of all seats go to the reserve, their capital ships home, and their teleporters are lost. A mounted
    crystal stays (WOC-DIS-05, WOC-DIS-06, WOC-LIM-04)."""
    for seat in match.state["seats"]:
        if data.FLAGSHIP in ships_at(match.state, seat, location) and location != data.HOME[seat]:
            move_ships(match, seat, location, data.HOME[seat], {data.FLAGSHIP: 1}, "disaster")
    for seat in match.state["seats"]:
        there = ships_at(match.state, seat, location)
        struck = {ship: there[ship] for ship in data.SHIPS if ship in there and ship != data.FLAGSHIP}
        if struck:
            match.emit("ships_removed", seat=seat, at=location, ships=struck, reason="disaster")
    for seat in match.state["seats"]:
        if location in match.state["players"][seat]["teleporters"]:
            lose_teleporter(match, seat, location, "disaster")
    match.emit("island_laid_waste", at=location)


def forecast_offers(state: State, seat: Seat) -> list[Action]:
    """Return the draw of a disaster card, which with disasters comes before anything is collected (WOC-DIS-01)."""
    turn = state["turn"]
    drawn = turn is None or turn["action"] != data.COLLECTING or turn["forecast_drawn"] or not records.option(state, "disasters")
    return [] if drawn else [{"type": "forecast"}]


def forecast_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no forecast card may be drawn, or None: one for each collect action, and only with disasters (WOC-DIS-01)."""
    refusal = played_without(state, "disasters") or no_step(state, data.COLLECTING)
    if refusal is not None or not records.turn_of(state)["forecast_drawn"]:
        return refusal
    return no("already_done", "WOC-DIS-01", what=say("The forecast of a collect action"))


def forecast(match: Match, seat: Seat, action: Action) -> None:
    """Draw a disaster card from all of them. It names an island of the seat's continent, or takes a token off every island. Barren islands
    stay as they are (WOC-DIS-01, WOC-DIS-02, WOC-DIS-03, WOC-DIS-10, WOC-TRN-07, WOC-SET-10, WOC-CMP-08)."""
    card = match.chance.pick(list(data.DISASTERS))
    match.emit("disaster_drawn", seat=seat, card=card)
    island = data.STRUCK[seat].get(card)
    if island is None:
        cool_down(match)
    elif match.state["marks"].get(island) not in (data.BARREN, data.FORECAST_TOKENS):
        match.emit("island_marked", at=island, mark=data.FORECAST_TOKENS)


def cool_down(match: Match) -> None:
    """Take a token off every island with forecast tokens (WOC-DIS-03, WOC-DIS-09)."""
    marks = match.state["marks"]
    for location in data.LOCATIONS:
        mark = marks.get(location)
        if isinstance(mark, int):
            match.emit("island_marked", at=location, mark=mark - 1 or None)


def rebuild_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every island of the seat's own continent that is barren (WOC-DIS-08)."""
    marks = state["marks"]
    if not marks or not bonus_open(state, data.REBUILDING) or not records.option(state, "disasters"):
        return []
    return [{"type": "rebuild", "at": location} for location in data.CONTINENT_OF[seat] if marks.get(location) == data.BARREN]


def rebuild_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why an island cannot be rebuilt, or None. It is barren, on the own continent, without an opponent's ship, and was laid waste
    in an earlier turn (WOC-DIS-08)."""
    at = action["at"]
    refusal = played_without(state, "disasters") or no_bonus(state, data.REBUILDING)
    if refusal is not None:
        return refusal
    if data.CONTINENT[at] != seat:
        return no("not_your_continent", "WOC-DIS-08", at=at)
    if state["marks"].get(at) != data.BARREN:
        return no("not_barren", "WOC-DIS-08", at=at)
    if at in records.turn_of(state)["laid_waste"]:
        return no("too_soon", "WOC-DIS-08", what=say("{at} was laid waste in this turn", at=at))
    others = occupants(state, at, seat)
    if others:
        return no("enemy_there", "WOC-DIS-08", at=at, seat=others[0])
    return cannot_pay(state, seat, data.REBUILD_PRICE, "WOC-DIS-08")


def rebuild(match: Match, seat: Seat, action: Action) -> None:
    """Make a barren island as it was before (WOC-DIS-08)."""
    pay(match, seat, data.REBUILD_PRICE, "rebuild")
    match.emit("island_marked", at=action["at"], mark=None)


# ---------------------------------------------------------------- Buy


def buy_card_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every different card of the display that the seat can pay (WOC-PWR-01)."""
    if not bonus_open(state, data.CARD_BUYING) or records.turn_of(state)["cards_bought"] >= data.CARDS_A_TURN:
        return []
    if len(state["players"][seat]["cards"]) >= data.HAND_LIMIT:
        return []
    return [
        {"type": "buy_card", "card": card}
        for card in dict.fromkeys(state["power"]["display"])
        if records.can_pay(state, seat, data.CARDS[card].cost)
    ]


def buy_card_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a card cannot be bought, or None. It is on display and can be paid; no more than two are bought in a turn, or than the
    limit kept in hand (WOC-PWR-01, WOC-PWR-02)."""
    card = action["card"]
    refusal = no_bonus(state, data.CARD_BUYING)
    if refusal is not None:
        return refusal
    display = state["power"]["display"]
    if card not in display:
        return no("card_not_there", "WOC-PWR-01", card=card, where=say("the display"), there=joined(display) or say("nothing"))
    if records.turn_of(state)["cards_bought"] >= data.CARDS_A_TURN:
        return no("card_limit", "WOC-PWR-02", limit=data.CARDS_A_TURN)
    if len(state["players"][seat]["cards"]) >= data.HAND_LIMIT:
        return no("hand_full", "WOC-PWR-02", limit=data.HAND_LIMIT)
    return cannot_pay(state, seat, data.CARDS[card].cost, "WOC-PWR-01")


def buy_card(match: Match, seat: Seat, action: Action) -> None:
    """Move a card to the hand and replace it at once. An empty deck is renewed from the discard pile (WOC-PWR-01, WOC-PWR-02, WOC-PWR-03,
    WOC-PWR-07, WOC-TRN-08)."""
    card = action["card"]
    pay(match, seat, data.CARDS[card].cost, "buy_card")
    match.emit("card_bought", seat=seat, card=card)
    power = match.state["power"]
    if len(power["display"]) < data.DISPLAY_SIZE:
        if not power["deck"] and power["discard"]:
            match.emit("deck_reshuffled", deck=match.chance.shuffle(power["discard"]))
        deck = match.state["power"]["deck"]
        if deck:
            match.emit("card_revealed", card=deck[0])


def price_of(state: State, ship: str, number: int) -> data.Counts:
    """Return the price of ships: so many times the price of one, less what is left of Lion's discount on the OC (WOC-BUY-01, WOC-ABL-07,
    WOC-PRV-11, WOC-CMP-06)."""
    each = data.PRIVATEER_PRICE if ship == data.PRIVATEER else data.PRICE[ship]
    price = {name: count * number for name, count in each.items()}
    price[data.MONEY] -= min(price[data.MONEY], records.turn_of(state)["discount_left"])
    return price


def buy_ships_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every kind of ship and every location under control but the Isle, and for a privateer from the reserve to the
    home base (WOC-BUY-02, WOC-PRV-11)."""
    turn = state["turn"]
    if turn is None or turn["action"] != data.BUYING:
        return []
    places = [location for location in controlled(state, seat) if location != data.ISLE]
    kinds = [ship for ship in data.PRICE if records.can_pay(state, seat, price_of(state, ship, 1)) and reserve(state, seat, ship)]
    offers: list[Action] = [{"type": "buy_ships", "ship": ship, "at": location} for ship in kinds for location in places]
    if state["players"][seat]["privateer"] == data.RESERVE and records.option(state, "pirates"):
        offers.append({"type": "buy_ships", "ship": data.PRIVATEER, "at": data.HOME[seat], "count": 1})
    return offers


def buy_ships_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why not one ship of a kind can be bought for a location, or None (WOC-BUY-01, WOC-BUY-02, WOC-BUY-03, WOC-BUY-04, WOC-PRV-11,
    WOC-LIM-03)."""
    ship, at = action["ship"], action["at"]
    if ship == data.PRIVATEER:
        return privateer_refusal(state, seat, at, action["count"])
    refusal = no_step(state, data.BUYING)
    if refusal is not None:
        return refusal
    if not reserve(state, seat, ship):
        return no("reserve_empty", "WOC-BUY-03", ship=ship, wanted=1, left=0)
    if not controls(state, seat, at):
        return no("not_controlled", "WOC-BUY-02", at=at)
    if at == data.ISLE:
        return no("isle_closed", "WOC-BUY-02")
    return no_room(state, at, 1) or cannot_pay(state, seat, price_of(state, ship, 1), "WOC-BUY-01")


def privateer_refusal(state: State, seat: Seat, at: str, number: int) -> Refusal | None:
    """Return why no privateer can be bought, or None. The only one comes from the reserve to the home base (WOC-PRV-11)."""
    refusal = played_without(state, "pirates") or no_step(state, data.BUYING)
    if refusal is not None:
        return refusal
    left = int(state["players"][seat]["privateer"] == data.RESERVE)
    if number > left:
        return no("reserve_empty", "WOC-BUY-03", ship=data.PRIVATEER, wanted=number, left=left)
    if at != data.HOME[seat]:
        return no("not_controlled", "WOC-BUY-02", at=at)
    return cannot_pay(state, seat, price_of(state, data.PRIVATEER, 1), "WOC-BUY-01")


def buy_ships_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return how many ships may be bought: as many as reserve, room and money allow; one privateer (WOC-BUY-01, WOC-BUY-02, WOC-BUY-03)."""
    ship = action["ship"]
    if ship == data.PRIVATEER:
        return {}
    most = min(reserve(state, seat, ship), room(state, action["at"]))
    return {"count": [1, next((number for number in range(most, 1, -1) if records.can_pay(state, seat, price_of(state, ship, number))), 1)]}


def buy_ships_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for more ships than reserve, room and money allow (WOC-BUY-01, WOC-BUY-02, WOC-BUY-03)."""
    ship, at, number = action["ship"], action["at"], found.given
    left = reserve(state, seat, ship)
    if number > left:
        return no("reserve_empty", "WOC-BUY-03", ship=ship, wanted=number, left=left)
    price = price_of(state, ship, number)
    refusal = no_room(state, at, number) or cannot_pay(state, seat, price, "WOC-BUY-01")
    assert refusal is not None, "a count outside its range is refused"
    return refusal


def buy_ships(match: Match, seat: Seat, action: Action) -> None:
    """Place ships from the reserve on the board. The rest of a discount serves the next purchase (WOC-BUY-01, WOC-BUY-02, WOC-ABL-07,
    WOC-PRV-11)."""
    ship, at, number = action["ship"], action["at"], action["count"]
    state = match.state
    price = price_of(state, ship, number)
    discount = (data.PRIVATEER_PRICE if ship == data.PRIVATEER else data.PRICE[ship])[data.MONEY] * number - price[data.MONEY]
    close_bonus(match, seat)
    pay(match, seat, price, "buy_ships")
    if ship == data.PRIVATEER:
        match.emit("privateer_moved", seat=seat, to=at)
    else:
        match.emit("ships_placed", seat=seat, at=at, ships={ship: number}, reason="buy")
    if discount:
        match.emit("discount_used", seat=seat, left=records.turn_of(state)["discount_left"] - discount)


# ---------------------------------------------------------------- facts


def discount_used(state: State, event: Event, own: Own) -> None:
    """Part of the discount is used."""
    records.own_turn(state, own)["discount_left"] = event["left"]


def card_bought(state: State, event: Event, own: Own) -> None:
    """A card leaves the display for a hand."""
    own(own(state, "power"), "display").remove(event["card"])
    records.own_turn(state, own)["cards_bought"] += 1
    own(records.own_player(state, event["seat"], own), "cards").append(event["card"])


def card_revealed(state: State, event: Event, own: Own) -> None:
    """The top card of the deck joins the display."""
    power = own(state, "power")
    del own(power, "deck")[0]
    own(power, "display").append(event["card"])


def deck_reshuffled(state: State, event: Event, own: Own) -> None:
    """The discard pile has become the deck."""
    power = own(state, "power")
    power["deck"] = list(event["deck"])
    power["discard"] = []


def disaster_drawn(state: State, event: Event, own: Own) -> None:
    """A disaster card is shown and goes back (WOC-DIS-01). The forecast of this action is done."""
    turn = records.own_turn(state, own)
    turn["forecast_drawn"] = True
    turn["bonus_open"] = False


def island_marked(state: State, event: Event, own: Own) -> None:
    """An island has other forecast tokens, or is no longer marked."""
    marks = own(state, "marks")
    if event["mark"] is None:
        del marks[event["at"]]
    else:
        marks[event["at"]] = event["mark"]


def island_laid_waste(state: State, event: Event, own: Own) -> None:
    """An island is barren, and noted for this turn (WOC-DIS-08)."""
    own(state, "marks")[event["at"]] = data.BARREN
    own(records.own_turn(state, own), "laid_waste").append(event["at"])


_MARK = nullable(whole(1, data.FORECAST_TOKENS, "forecast tokens on the island; null for none"))

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "discount_used": (discount_used, {"seat": SEAT, "left": whole(0, about="what is left of it, in OC")}),
    "card_bought": (card_bought, {"seat": SEAT, "card": CARD}),
    "card_revealed": (card_revealed, {"card": CARD}),
    "deck_reshuffled": (deck_reshuffled, {"deck": DECK}),
    "disaster_drawn": (disaster_drawn, {"seat": SEAT, "card": text(about="a disaster card")}),
    "island_laid_waste": (island_laid_waste, {"at": LOCATION}),
    "island_marked": (island_marked, {"at": LOCATION, "mark": _MARK}),
}

# ---------------------------------------------------------------- deeds

COLLECT = Deed(
    {
        "skip": optional(listing(LOCATION, about="islands with forecast tokens that are left out")),
        "extra": optional(counts(RESOURCE, about="what Squirrel's ability brings, by resource")),
    },
    collect_offers,
    collect_refusal,
    collect,
    collect_ranges,
    collect_outside,
)
FORECAST = Deed({}, forecast_offers, forecast_refusal, forecast)
REBUILD = Deed({"at": LOCATION}, rebuild_offers, rebuild_refusal, rebuild)
BUY_CARD = Deed({"card": CARD}, buy_card_offers, buy_card_refusal, buy_card)
BUY_SHIPS = Deed(
    {"ship": WARE, "at": LOCATION, "count": whole(1, about="how many ships")},
    buy_ships_offers,
    buy_ships_refusal,
    buy_ships,
    buy_ships_ranges,
    buy_ships_outside,
)
