"""Deeds of a battle: bringing ships in, bids under seal, the ability used in battle, and the retreat."""

from __future__ import annotations

from games.choices import Ranges
from games.kernel import Action, Deed, Match, Refusal, Seat, State, no
from games.schema import counts, listing, whole
from games.war_of_civilizations.battle import PIRATE, close, prepare, resolve, send_home, start_bids, start_countdown, unsealed
from games.war_of_civilizations.checks import cannot_pay, lacks, listed, never_refused, no_room
from games.war_of_civilizations.data import BATTLE_CARDS, FLAGSHIP, SHIPS
from games.war_of_civilizations.flow import lose_isle, move_ships, pass_to
from games.war_of_civilizations.movement import fleet_ranges
from games.war_of_civilizations.state import CARD, LOCATION, SHIP, ability, neighbours, room, ships_at
from games.war_of_civilizations.trails import reinforcements

# ---------------------------------------------------------------- reinforcements


def reinforce_offers(state: State, seat: Seat) -> list[Action]:
    """From every location connected with the battle (WOC-BAT-02)."""
    at = state["battle"]["at"]
    return [{"type": "redistribute", "from": source, "to": at} for source in reinforcements(state, seat, at)]


def reinforce_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """As many ships as there is room for (WOC-BAT-02, WOC-MAP-13)."""
    return fleet_ranges(ships_at(state, seat, action["from"]), room(state, action["to"]))


def reinforce_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Ships go into the battle only, from what is connected with it, within the room left (WOC-BAT-02, WOC-MAP-13)."""
    source, goal, ships = action["from"], action["to"], action["ships"]
    there = ships_at(state, seat, source)
    if not ships or lacks(there, ships):
        return no("no_ships", "WOC-BAT-02", at=source, wanted=listed(ships), there=listed(there))
    at = state["battle"]["at"]
    if goal != at or source not in reinforcements(state, seat, at):
        return no("not_connected", "WOC-BAT-02", at=source, to=goal)
    return no_room(state, goal, sum(ships.values()))


def reinforce(match: Match, seat: Seat, action: Action) -> None:
    """Ships are brought into the battle (WOC-BAT-02, WOC-BAT-03, WOC-ISL-03, WOC-ISL-04)."""
    move_ships(match, seat, action["from"], action["to"], action["ships"], "reinforce")
    start_countdown(match, action["to"], action["ships"])
    if match.state["active"] != seat:
        lose_isle(match, seat)
    prepare(match)


def ready_offers(state: State, seat: Seat) -> list[Action]:
    """Nobody has to bring in more (WOC-BAT-02)."""
    return [{"type": "ready"}]


def ready(match: Match, seat: Seat, action: Action) -> None:
    """No more ships come (WOC-BAT-03)."""
    start_bids(match)


# ---------------------------------------------------------------- bids


def bid_offers(state: State, seat: Seat) -> list[Action]:
    """One for each different set of battle cards in hand (WOC-BAT-04, WOC-PWR-06)."""
    hand = [card for card in state["players"][seat]["cards"] if card in BATTLE_CARDS]
    sets = dict.fromkeys([tuple([hand[i] for i in range(len(hand)) if chosen >> i & 1]) for chosen in range(1 << len(hand))])
    return [{"type": "bid", "cards": list(cards)} for cards in sets]


def bid_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """From none of the ammunition to all (WOC-BAT-04)."""
    return {"ammo": [0, state["players"][seat]["ammo"]]}


def bid_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Only battle cards in hand and ammunition in stock are bid (WOC-BAT-04, WOC-PWR-06)."""
    cards, hand = action["cards"], state["players"][seat]["cards"]
    for card in cards:
        if cards.count(card) > hand.count(card):
            return no("card_not_there", "WOC-BAT-04", card=card, where="your hand", there=", ".join(hand) or "nothing")
    for card in cards:
        if card not in BATTLE_CARDS:
            return no("wrong_moment", "WOC-PWR-06", what=card, when="in your own turn")
    return cannot_pay(state, seat, {"ammo": action["ammo"]}, "WOC-BAT-04")


def bid(match: Match, seat: Seat, action: Action) -> None:
    """A bid is sealed, and final; when all are in they are revealed (WOC-BAT-04, WOC-BAT-05, WOC-GEN-05)."""
    left = list(action["cards"])
    cards = []
    for card in match.state["players"][seat]["cards"]:
        if card in left:
            left.remove(card)
            cards.append(card)
    match.emit("bid_sealed", seat=seat, ammo=action["ammo"], cards=cards)
    waiting = unsealed(match.state)
    if waiting:
        pass_to(match, "bids", waiting)
    else:
        resolve(match)


# ---------------------------------------------------------------- an ability in battle


def foe(state: State, seat: Seat) -> str:
    """The other side of a battle."""
    battle = state["battle"]
    other: str = battle["defender"] if battle["attacker"] == seat else battle["attacker"]
    return other


def use_ability_offers(state: State, seat: Seat) -> list[Action]:
    """Every ship of the opponent next to the battle that the seat may destroy (WOC-ABL-02)."""
    kinds = ability(state, seat, "destroy_adjacent")
    battle = state["battle"]
    other = foe(state, seat)
    if not kinds or other == PIRATE or seat in battle["ability_used"]:
        return []
    return [
        {"type": "use_ability", "at": location, "ship": ship}
        for location in neighbours(state)[battle["at"]]
        for ship in kinds
        if ship in ships_at(state, other, location)
    ]


def use_ability_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Once in a battle, a kind that the level allows, of the opponent, on a location adjacent by the map (WOC-ABL-02)."""
    at, ship = action["at"], action["ship"]
    kinds = ability(state, seat, "destroy_adjacent")
    battle = state["battle"]
    other = foe(state, seat)
    if not kinds or ship not in kinds or other == PIRATE:
        return no("no_ability", "WOC-ABL-02", ship=ship)
    if seat in battle["ability_used"]:
        return no("already_done", "WOC-ABL-02", what="Using your ability in a battle")
    if at not in neighbours(state)[battle["at"]]:
        return no("not_adjacent", "WOC-ABL-02", at=battle["at"], to=at)
    there = ships_at(state, other, at)
    if ship not in there:
        return no("no_ships", "WOC-ABL-02", at=at, wanted=f"1 {ship}", there=listed(there))
    return None


def use_ability(match: Match, seat: Seat, action: Action) -> None:
    """A ship of the opponent goes to its reserve (WOC-ABL-02)."""
    other = foe(match.state, seat)
    match.emit("ability_used", seat=seat, at=action["at"], ship=action["ship"])
    match.emit("ships_removed", seat=other, at=action["at"], ships={action["ship"]: 1}, reason="ability")


# ---------------------------------------------------------------- retreat


def retreat_offers(state: State, seat: Seat) -> list[Action]:
    """The loser chooses the ships that go home (WOC-RET-02)."""
    return [{"type": "retreat"}]


def retreat_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """So many ships as go home, the capital ship among them (WOC-RET-01, WOC-RET-02)."""
    battle = state["battle"]
    fleet, count = ships_at(state, seat, battle["at"]), battle["retreat"]["count"]
    each = {ship: [1 if ship == FLAGSHIP else 0, fleet[ship]] for ship in SHIPS if ship in fleet}
    return {"ships": {"each": each, "total": [count, count]}}


def retreat_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Exactly as many of the beaten ships as go home, the capital ship among them (WOC-RET-01, WOC-RET-02)."""
    ships, battle = action["ships"], state["battle"]
    fleet, count = ships_at(state, seat, battle["at"]), battle["retreat"]["count"]
    if sum(ships.values()) != count or lacks(fleet, ships) or (FLAGSHIP in fleet and FLAGSHIP not in ships):
        always = ", the capital ship among them" if FLAGSHIP in fleet else ""
        return no("bad_choice", "WOC-RET-01", reason=f"{count} of {listed(fleet)} go home{always}")
    return None


def choose_retreat(match: Match, seat: Seat, action: Action) -> None:
    """The chosen ships go home, the others to the reserve (WOC-RET-01, WOC-RET-02)."""
    send_home(match, seat, action["ships"])
    close(match)


REINFORCE = Deed(
    {"from": LOCATION, "to": LOCATION, "ships": counts(SHIP)}, reinforce_offers, reinforce_refusal, reinforce, reinforce_ranges
)
READY = Deed({}, ready_offers, never_refused, ready)
BID = Deed({"ammo": whole(0), "cards": listing(CARD)}, bid_offers, bid_refusal, bid, bid_ranges)
USE_ABILITY = Deed({"at": LOCATION, "ship": SHIP}, use_ability_offers, use_ability_refusal, use_ability)
RETREAT = Deed({"ships": counts(SHIP)}, retreat_offers, retreat_refusal, choose_retreat, retreat_ranges)
