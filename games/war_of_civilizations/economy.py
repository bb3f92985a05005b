"""Deeds of the active actions Collect and Buy with their bonus: resources, disasters, ships and power cards."""

from __future__ import annotations

from games.choices import Ranges
from games.kernel import Action, Deed, Match, Refusal, Seat, State, no
from games.schema import counts, known, listing, optional, whole
from games.war_of_civilizations.checks import (
    bonus_open,
    cannot_pay,
    listed,
    no_bonus,
    no_room,
    no_step,
    played_without,
)
from games.war_of_civilizations.data import (
    CARDS,
    CARDS_A_TURN,
    COLLECTOR,
    CONTINENT,
    CONTINENT_OF,
    DISASTERS,
    DISPLAY_SIZE,
    FLAGSHIP,
    FORECAST_TOKENS,
    HAND_LIMIT,
    HOME,
    ISLE,
    LOCATIONS,
    PRICE,
    PRIVATEER_PRICE,
    REBUILD_PRICE,
    RESOURCES,
    SHIPS,
    STRUCK,
    YIELDS,
    Counts,
)
from games.war_of_civilizations.flow import change_resources, change_turn, end_action, move_ships, pay, to_turn
from games.war_of_civilizations.state import (
    CARD,
    LOCATION,
    RESOURCE,
    ability,
    can_pay,
    controlled,
    controls,
    occupants,
    option,
    reserve,
    room,
    ships_at,
)

BARREN = "barren"
PRIVATEER = "privateer"
WARE = known([*SHIPS, PRIVATEER], "a kind of ship, or a privateer")

# ---------------------------------------------------------------- Collect


def gathered_from(state: State, seat: Seat) -> list[str]:
    """The locations from which a seat can collect, in map order: under its control, with a gunboat, not barren, and with something to give
    (WOC-COL-01, WOC-COL-02, WOC-COL-04, WOC-DIS-07, WOC-PRV-05)."""
    fleets, marks = state["players"][seat]["fleets"], state["marks"]
    return [
        location
        for location in controlled(state, seat)
        if COLLECTOR in fleets[location] and YIELDS[location] and marks.get(location) != BARREN
    ]


def threatened(state: State, locations: list[str]) -> list[str]:
    """The locations with forecast tokens (WOC-DIS-04, WOC-DIS-10)."""
    marks = state["marks"]
    return [location for location in locations if location in marks and marks[location] != BARREN]


def harvest(locations: list[str]) -> Counts:
    """What some locations give together, each once (WOC-COL-02, WOC-COL-03, WOC-MAP-15)."""
    total: Counts = {}
    for name in RESOURCES:
        number = sum([YIELDS[location].get(name, 0) for location in locations])
        if number:
            total[name] = number
    return total


def collect_offers(state: State, seat: Seat) -> list[Action]:
    """One collection; with disasters one for each set of islands with forecast tokens that may be left out (WOC-DIS-04)."""
    turn = state["turn"]
    if turn["action"] != "collect":
        return []
    whence = gathered_from(state, seat)
    if not whence:
        return []
    if not option(state, "disasters"):
        return [{"type": "collect"}]
    if not turn["forecast_drawn"]:
        return []
    risky = threatened(state, whence)
    skips = [[risky[place] for place in range(len(risky)) if chosen >> place & 1] for chosen in range(1 << len(risky))]
    return [{"type": "collect"}, *[{"type": "collect", "skip": skip} for skip in skips if len(skip) < len(whence)]]


def collect_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """Squirrel chooses what more it collects, among what it gathers; nobody else has anything to choose (WOC-ABL-06)."""
    more = ability(state, seat, "collect_extra")
    if not more:
        return {}
    skip = action.get("skip", ())
    found = harvest([location for location in gathered_from(state, seat) if location not in skip])
    return {"extra": {"each": {name: [0, more] for name in found}, "total": [more, more]}}


def collect_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first rule that a collection breaks (WOC-COL-01, WOC-COL-05, WOC-DIS-01, WOC-DIS-04, WOC-ABL-06)."""
    skip, extra = action.get("skip", []), action.get("extra", {})
    refusal = no_step(state, "collect")
    if refusal is not None:
        return refusal
    if option(state, "disasters") and not state["turn"]["forecast_drawn"]:
        return no("forecast_first", "WOC-DIS-01")
    whence = gathered_from(state, seat)
    risky = threatened(state, whence)
    if len(set(skip)) < len(skip) or any(location not in risky for location in skip):
        return no("bad_choice", "WOC-DIS-04", reason=f"what may be left out is {' or '.join(risky) or 'nothing'}")
    left = [location for location in whence if location not in skip]
    if not left:
        return no("nothing_to_collect", "WOC-COL-05")
    more = ability(state, seat, "collect_extra")
    found = harvest(left)
    if sum(extra.values()) != more or any(name not in found for name in extra):
        return no("bad_choice", "WOC-ABL-06", reason=f"{more} more are collected, out of {listed(found)}")
    return None


def collect(match: Match, seat: Seat, action: Action) -> None:
    """The seat gains what its locations give, and those with forecast tokens become barren (WOC-COL-01, WOC-COL-03, WOC-DIS-05, WOC-ABL-06,
    WOC-TRN-10)."""
    skip, extra = action.get("skip", ()), action.get("extra", {})
    whence = [location for location in gathered_from(match.state, seat) if location not in skip]
    found = harvest(whence)
    change_resources(match, seat, {name: number + extra.get(name, 0) for name, number in found.items()}, "collect")
    for location in threatened(match.state, whence):
        lay_waste(match, location)
    end_action(match)
    to_turn(match)


def lay_waste(match: Match, location: str) -> None:
    """An island becomes barren: ships there go to the reserve, the capital ship home, and teleporters are lost, of all seats; a mounted
    crystal stays (WOC-DIS-05, WOC-DIS-06, WOC-LIM-04)."""
    for seat in match.state["seats"]:
        if FLAGSHIP in ships_at(match.state, seat, location) and location != HOME[seat]:
            move_ships(match, seat, location, HOME[seat], {FLAGSHIP: 1}, "disaster")
    for seat in match.state["seats"]:
        there = ships_at(match.state, seat, location)
        struck = {ship: there[ship] for ship in SHIPS if ship in there and ship != FLAGSHIP}
        if struck:
            match.emit("ships_removed", seat=seat, at=location, ships=struck, reason="disaster")
    for seat in match.state["seats"]:
        if location in match.state["players"][seat]["teleporters"]:
            match.emit("teleporter_lost", seat=seat, at=location, reason="disaster")
    match.emit("island_marked", at=location, mark=BARREN)


def forecast_offers(state: State, seat: Seat) -> list[Action]:
    """With disasters a card is drawn before anything is collected (WOC-DIS-01)."""
    turn = state["turn"]
    drawn = turn["action"] != "collect" or turn["forecast_drawn"] or not option(state, "disasters")
    return [] if drawn else [{"type": "forecast"}]


def forecast_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """One card for each collect action, and only with disasters (WOC-DIS-01)."""
    refusal = played_without(state, "disasters") or no_step(state, "collect")
    if refusal is not None or not state["turn"]["forecast_drawn"]:
        return refusal
    return no("already_done", "WOC-DIS-01", what="The forecast of a collect action")


def forecast(match: Match, seat: Seat, action: Action) -> None:
    """A card is drawn from all of them and names an island of the seat's continent, or heals all islands by a token; barren islands stay
    as they are (WOC-DIS-01, WOC-DIS-02, WOC-DIS-03, WOC-DIS-10, WOC-TRN-07, WOC-SET-10, WOC-CMP-08)."""
    card = match.chance.pick(list(DISASTERS))
    match.emit("disaster_drawn", seat=seat, card=card)
    island = STRUCK[seat].get(card)
    if island is None:
        cool_down(match)
    elif match.state["marks"].get(island) not in (BARREN, FORECAST_TOKENS):
        match.emit("island_marked", at=island, mark=FORECAST_TOKENS)
    change_turn(match, forecast_drawn=True, bonus_open=False)


def cool_down(match: Match) -> None:
    """Every island with forecast tokens loses one (WOC-DIS-03, WOC-DIS-09)."""
    marks = match.state["marks"]
    for location in LOCATIONS:
        mark = marks.get(location, BARREN)
        if mark != BARREN:
            match.emit("island_marked", at=location, mark=mark - 1 or None)


def rebuild_offers(state: State, seat: Seat) -> list[Action]:
    """Every island of the seat's own continent that is barren (WOC-DIS-08)."""
    marks = state["marks"]
    if not marks or not bonus_open(state, "rebuild") or not option(state, "disasters"):
        return []
    return [{"type": "rebuild", "at": location} for location in CONTINENT_OF[seat] if marks.get(location) == BARREN]


def rebuild_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Only on the own continent, without an opponent's ship there, and not in the turn in which the island became barren (WOC-DIS-08)."""
    at = action["at"]
    refusal = played_without(state, "disasters") or no_bonus(state, "rebuild")
    if refusal is not None:
        return refusal
    if CONTINENT[at] != seat:
        return no("not_your_continent", "WOC-DIS-08", at=at)
    if state["marks"].get(at) != BARREN:
        return no("not_barren", "WOC-DIS-08", at=at)
    if at in state["turn"]["laid_waste"]:
        return no("too_soon", "WOC-DIS-08", what=f"{at} was laid waste in this turn")
    others = occupants(state, at, seat)
    if others:
        return no("enemy_there", "WOC-DIS-08", at=at, seat=others[0])
    return cannot_pay(state, seat, REBUILD_PRICE, "WOC-DIS-08")


def rebuild(match: Match, seat: Seat, action: Action) -> None:
    """A barren island is as it was before (WOC-DIS-08)."""
    pay(match, seat, REBUILD_PRICE, "rebuild")
    match.emit("island_marked", at=action["at"], mark=None)


# ---------------------------------------------------------------- Buy


def buy_card_offers(state: State, seat: Seat) -> list[Action]:
    """Every different card of the display (WOC-PWR-01)."""
    if not bonus_open(state, "buy_card") or state["turn"]["cards_bought"] >= CARDS_A_TURN:
        return []
    if len(state["players"][seat]["cards"]) >= HAND_LIMIT:
        return []
    return [{"type": "buy_card", "card": card} for card in dict.fromkeys(state["power"]["display"])]


def buy_card_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The card is on display, no more than two are bought in a turn or kept in hand, and it can be paid (WOC-PWR-01, WOC-PWR-02)."""
    card = action["card"]
    refusal = no_bonus(state, "buy_card")
    if refusal is not None:
        return refusal
    display = state["power"]["display"]
    if card not in display:
        return no("card_not_there", "WOC-PWR-01", card=card, where="the display", there=", ".join(display) or "nothing")
    if state["turn"]["cards_bought"] >= CARDS_A_TURN:
        return no("card_limit", "WOC-PWR-02", limit=CARDS_A_TURN)
    if len(state["players"][seat]["cards"]) >= HAND_LIMIT:
        return no("hand_full", "WOC-PWR-02", limit=HAND_LIMIT)
    return cannot_pay(state, seat, CARDS[card].cost, "WOC-PWR-01")


def buy_card(match: Match, seat: Seat, action: Action) -> None:
    """A card goes to the hand and is replaced at once; an empty deck is renewed from the discard pile (WOC-PWR-01, WOC-PWR-02, WOC-PWR-03,
    WOC-PWR-07, WOC-TRN-08)."""
    card = action["card"]
    pay(match, seat, CARDS[card].cost, "buy_card")
    match.emit("card_bought", seat=seat, card=card)
    power = match.state["power"]
    if len(power["display"]) < DISPLAY_SIZE:
        if not power["deck"] and power["discard"]:
            match.emit("deck_reshuffled", deck=match.chance.shuffle(power["discard"]))
        deck = match.state["power"]["deck"]
        if deck:
            match.emit("card_revealed", card=deck[0])
    change_turn(match, cards_bought=match.state["turn"]["cards_bought"] + 1)


def price_of(state: State, ship: str, number: int) -> Counts:
    """What ships cost: so many times the price, with Lion's discount off the OC as far as it is not used up (WOC-BUY-01, WOC-ABL-07,
    WOC-PRV-11, WOC-CMP-06)."""
    each = PRIVATEER_PRICE if ship == PRIVATEER else PRICE[ship]
    price = {name: count * number for name, count in each.items()}
    price["oc"] -= min(price["oc"], state["turn"]["discount_left"])
    return price


def buy_ships_offers(state: State, seat: Seat) -> list[Action]:
    """Every kind of ship to every location under control but the Isle, and a privateer from the reserve to the home base (WOC-BUY-02,
    WOC-PRV-11)."""
    if state["turn"]["action"] != "buy":
        return []
    places = [location for location in controlled(state, seat) if location != ISLE]
    kinds = [ship for ship in PRICE if can_pay(state, seat, price_of(state, ship, 1)) and reserve(state, seat, ship)]
    offers: list[Action] = [{"type": "buy_ships", "ship": ship, "at": location} for ship in kinds for location in places]
    if state["players"][seat]["privateer"] == "reserve" and option(state, "pirates"):
        offers.append({"type": "buy_ships", "ship": PRIVATEER, "at": HOME[seat], "count": 1})
    return offers


def buy_ships_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """As many as reserve, room and money allow (WOC-BUY-01, WOC-BUY-02, WOC-BUY-03)."""
    ship = action["ship"]
    if ship == PRIVATEER:
        return {} if can_pay(state, seat, price_of(state, ship, 1)) else None
    most = min(reserve(state, seat, ship), room(state, action["at"]))
    while most and not can_pay(state, seat, price_of(state, ship, most)):
        most -= 1
    return {"count": [1, most]} if most else None


def buy_ships_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first rule that a purchase breaks (WOC-BUY-01, WOC-BUY-02, WOC-BUY-03, WOC-BUY-04, WOC-PRV-11, WOC-LIM-03)."""
    ship, at, number = action["ship"], action["at"], action["count"]
    refusal = (played_without(state, "pirates") if ship == PRIVATEER else None) or no_step(state, "buy")
    if refusal is not None:
        return refusal
    stocked = state["players"][seat]["privateer"] == "reserve"
    left = int(stocked) if ship == PRIVATEER else reserve(state, seat, ship)
    if number > left:
        return no("reserve_empty", "WOC-BUY-03", ship=ship, wanted=number, left=left)
    if not (at == HOME[seat] if ship == PRIVATEER else controls(state, seat, at)):
        return no("not_controlled", "WOC-BUY-02", at=at)
    if ship != PRIVATEER:
        refusal = no("isle_closed", "WOC-BUY-02") if at == ISLE else no_room(state, at, number)
    return refusal or cannot_pay(state, seat, price_of(state, ship, number), "WOC-BUY-01")


def buy_ships(match: Match, seat: Seat, action: Action) -> None:
    """Ships come from the reserve on the board; what is left of a discount serves the next purchase (WOC-BUY-01, WOC-BUY-02, WOC-ABL-07,
    WOC-PRV-11)."""
    ship, at, number = action["ship"], action["at"], action["count"]
    state = match.state
    price = price_of(state, ship, number)
    full = (PRIVATEER_PRICE if ship == PRIVATEER else PRICE[ship])["oc"] * number
    left = state["turn"]["discount_left"] - (full - price["oc"])
    pay(match, seat, price, "buy_ships")
    if ship == PRIVATEER:
        match.emit("privateer_moved", seat=seat, to=at)
    else:
        match.emit("ships_placed", seat=seat, at=at, ships={ship: number}, reason="buy")
    change_turn(match, bonus_open=False, discount_left=left)


COLLECT = Deed(
    {"skip": optional(listing(LOCATION)), "extra": optional(counts(RESOURCE))}, collect_offers, collect_refusal, collect, collect_ranges
)
FORECAST = Deed({}, forecast_offers, forecast_refusal, forecast)
REBUILD = Deed({"at": LOCATION}, rebuild_offers, rebuild_refusal, rebuild)
BUY_CARD = Deed({"card": CARD}, buy_card_offers, buy_card_refusal, buy_card)
BUY_SHIPS = Deed({"ship": WARE, "at": LOCATION, "count": whole(1)}, buy_ships_offers, buy_ships_refusal, buy_ships, buy_ships_ranges)
