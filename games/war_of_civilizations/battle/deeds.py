"""Deeds of a battle: bringing ships in, bids, the ability used in battle, and the choice of a retreat."""

from __future__ import annotations

from games.choices import Outside, Ranges
from games.kernel import Action, Deed, Refusal, Seat, no, only
from games.schema import counts
from games.sentences import joined, say
from games.war_of_civilizations.battle.record import other_seat, waiting
from games.war_of_civilizations.battle.resolve import close, prepare, resolve, send_home, start_bids
from games.war_of_civilizations.checks import cannot_take_ships, no_room
from games.war_of_civilizations.data import BATTLE_CARDS, FLAGSHIP, PIRATE, POWDER, SHIPS
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.flow import lose_isle, move_ships, start_countdown
from games.war_of_civilizations.state.control import reinforcements
from games.war_of_civilizations.state.fleets import room, ships_at, some_ships
from games.war_of_civilizations.state.map import neighbours
from games.war_of_civilizations.state.records import battle_of, in_words, so_many, targets
from games.war_of_civilizations.state.shape import AMMO_BID, CARDS_BID, FROM, LOCATION, SHIP, TO

# ---------------------------------------------------------------- reinforcements


def reinforce_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action from every location connected with the battle (WOC-BAT-02)."""
    at = battle_of(state)["at"]
    return [{"type": "redistribute", "from": source, "to": at} for source in reinforcements(state, seat, at)]


def reinforce_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why ships cannot be brought in, or None. They go into the battle only, from a location connected with it, if there is room
    (WOC-BAT-02, WOC-MAP-13)."""
    source, goal = action["from"], action["to"]
    there = ships_at(state, seat, source)
    if not there:
        return no("no_ships", "WOC-BAT-02", at=source, wanted=say("a ship"), there=in_words(there))
    at = battle_of(state)["at"]
    if goal != at or source not in reinforcements(state, seat, at):
        return no("not_connected", "WOC-BAT-02", at=source, to=goal)
    return no_room(state, goal, 1)


def reinforce_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return the ships that may come: as many as there is room for (WOC-BAT-02, WOC-MAP-13)."""
    return some_ships(ships_at(state, seat, action["from"]), room(state, action["to"]))


def reinforce_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for no ship, ships that are not there, or more than there is room for (WOC-BAT-02, WOC-MAP-13)."""
    return cannot_take_ships(action, found, ships_at(state, seat, action["from"]), "WOC-BAT-02")


def reinforce(match: Match, seat: Seat, action: Action) -> None:
    """Bring ships into the battle (WOC-BAT-02, WOC-BAT-03, WOC-ISL-03, WOC-ISL-04)."""
    move_ships(match, seat, action["from"], action["to"], action["ships"], "reinforce")
    start_countdown(match, action["to"], action["ships"])
    if match.state["active"] != seat:
        lose_isle(match, seat)
    prepare(match)


def ready_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return None: a defender may stop at any time (WOC-BAT-02)."""
    return None


def ready(match: Match, seat: Seat, action: Action) -> None:
    """Let both sides bid. No more ships come (WOC-BAT-03)."""
    start_bids(match)


# ---------------------------------------------------------------- bids


def bid_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for each different set of battle cards in hand (WOC-BAT-04, WOC-PWR-06)."""
    hand = [card for card in state["players"][seat]["cards"] if card in BATTLE_CARDS]
    sets = dict.fromkeys([tuple([hand[i] for i in range(len(hand)) if chosen >> i & 1]) for chosen in range(1 << len(hand))])
    return [{"type": "bid", "cards": list(cards)} for cards in sets]


def bid_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why cards cannot be bid, or None: one is not in hand, or no battle card (WOC-BAT-04, WOC-PWR-06)."""
    cards, hand = action["cards"], state["players"][seat]["cards"]
    for card in cards:
        if cards.count(card) > hand.count(card):
            return no("card_not_there", "WOC-BAT-04", card=card, where=say("your hand"), there=joined(hand) or say("nothing"))
    for card in cards:
        if card not in BATTLE_CARDS:
            return no("wrong_moment", "WOC-PWR-06", what=card, when=say("in your own turn"))
    return None


def bid_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return the ammunition that may be bid: from none to all (WOC-BAT-04)."""
    return {"ammo": [0, state["players"][seat]["ammo"]]}


def bid_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for more ammunition than the seat has (WOC-BAT-04)."""
    return no("cannot_pay", "WOC-BAT-04", price=in_words({POWDER: found.given}), stock=in_words({POWDER: found.high}))


def bid(match: Match, seat: Seat, action: Action) -> None:
    """Seal a bid, which is final. When all bids are in they are revealed (WOC-BAT-04, WOC-BAT-05, WOC-GEN-05)."""
    left = list(action["cards"])
    cards = []
    for card in match.state["players"][seat]["cards"]:
        if card in left:
            left.remove(card)
            cards.append(card)
    match.emit("bid_sealed", seat=seat, ammo=action["ammo"], cards=cards)
    if waiting(match.state):
        start_bids(match)
    else:
        resolve(match)


# ---------------------------------------------------------------- an ability in battle


def use_ability_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every ship of the opponent next to the battle that the seat may destroy (WOC-ABL-02)."""
    kinds = targets(state, seat)
    battle = battle_of(state)
    other = other_seat(battle, seat)
    if not kinds or other == PIRATE or seat in battle["ability_used"]:
        return []
    return [
        {"type": "use_ability", "at": location, "ship": ship}
        for location in neighbours(state)[battle["at"]]
        for ship in kinds
        if ship in ships_at(state, other, location)
    ]


def use_ability_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the ability cannot destroy a ship, or None. It can once in a battle, a kind that the level allows, of the opponent, on a
    location adjacent by the map (WOC-ABL-02)."""
    at, ship = action["at"], action["ship"]
    battle = battle_of(state)
    other = other_seat(battle, seat)
    if ship not in targets(state, seat) or other == PIRATE:
        return no("no_ability", "WOC-ABL-02", ship=ship)
    if seat in battle["ability_used"]:
        return no("already_done", "WOC-ABL-02", what=say("Using your ability in a battle"))
    if at not in neighbours(state)[battle["at"]]:
        return no("not_adjacent", "WOC-ABL-02", at=battle["at"], to=at)
    there = ships_at(state, other, at)
    if ship not in there:
        return no("no_ships", "WOC-ABL-02", at=at, wanted=so_many(1, ship), there=in_words(there))
    return None


def use_ability(match: Match, seat: Seat, action: Action) -> None:
    """Send a ship of the opponent to its reserve (WOC-ABL-02)."""
    other = other_seat(battle_of(match.state), seat)
    match.emit("ability_used", seat=seat, at=action["at"], ship=action["ship"])
    match.emit("ships_removed", seat=other, at=action["at"], ships={action["ship"]: 1}, reason="ability")


# ---------------------------------------------------------------- the choice of a retreat


def retreat_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return None: only the ships are to be chosen (WOC-RET-02)."""
    return None


def retreat_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return the ships that may go home: exactly as many of the beaten ones as do, the capital ship among them (WOC-RET-01, WOC-RET-02)."""
    battle = battle_of(state)
    assert battle["retreat"] is not None, "a retreat was ordered"
    fleet, count = ships_at(state, seat, battle["at"]), battle["retreat"]["count"]
    each = {ship: [1 if ship == FLAGSHIP else 0, fleet[ship]] for ship in SHIPS if ship in fleet}
    return {"ships": {"each": each, "total": [count, count]}}


def retreat_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for other ships than as many of the beaten ones as go home, the capital ship among them (WOC-RET-01,
    WOC-RET-02)."""
    battle = battle_of(state)
    assert battle["retreat"] is not None, "a retreat was ordered"
    fleet = ships_at(state, seat, battle["at"])
    facts = {"number": battle["retreat"]["count"], "ships": in_words(fleet)}
    if FLAGSHIP in fleet:
        return no("bad_choice", "WOC-RET-01", reason=say("{number} of {ships} go home, the capital ship among them", **facts))
    return no("bad_choice", "WOC-RET-01", reason=say("{number} of {ships} go home", **facts))


def choose_retreat(match: Match, seat: Seat, action: Action) -> None:
    """Send the chosen ships home and the others to the reserve (WOC-RET-01, WOC-RET-02)."""
    send_home(match, seat, action["ships"])
    close(match)


REINFORCE = Deed(
    {"from": FROM, "to": TO, "ships": counts(SHIP, about="the ships that go, by kind")},
    reinforce_offers,
    reinforce_refusal,
    reinforce,
    reinforce_ranges,
    reinforce_outside,
)
READY = Deed({}, only("ready"), ready_refusal, ready)
BID = Deed({"ammo": AMMO_BID, "cards": CARDS_BID}, bid_offers, bid_refusal, bid, bid_ranges, bid_outside)
USE_ABILITY = Deed({"at": LOCATION, "ship": SHIP}, use_ability_offers, use_ability_refusal, use_ability)
RETREAT = Deed(
    {"ships": counts(SHIP, about="the ships that go home, by kind")},
    only("retreat"),
    retreat_refusal,
    choose_retreat,
    retreat_ranges,
    retreat_outside,
)
