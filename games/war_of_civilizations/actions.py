"""Deeds of the turn: deploying, active actions, the end of a turn, power cards in hand, and the system's end of the round."""

from __future__ import annotations

from games.choices import Outside, Ranges
from games.kernel import Action, Deed, Refusal, Seat, never_refused, no, only
from games.schema import counts, optional
from games.sentences import joined, listed, say
from games.war_of_civilizations.data import ACTIONS, BATTLE_CARDS, CARDS, DEPLOY_PHASE, FREE_SHIPS, LANDINGS
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.effects import VERBS
from games.war_of_civilizations.flow import begin_action, end_action, end_turn, may_begin, pass_to, start_round
from games.war_of_civilizations.setup import set_up, setup_refusal
from games.war_of_civilizations.state.records import in_words, still_in, turn_of
from games.war_of_civilizations.state.shape import ACTIVE_ACTION, CARD, LOCATION, SHIP
from games.war_of_civilizations.upkeep import end_round

# ---------------------------------------------------------------- deploying


def deploy_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for each of the two islands next to the home base (WOC-SET-08, WOC-MAP-05)."""
    return [{"type": "deploy", "at": location} for location in LANDINGS[seat]]


def deploy_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why ships cannot be deployed on a location, or None: they go to the two islands only (WOC-SET-08)."""
    return None if action["at"] in LANDINGS[seat] else _misdeployed(seat)


def deploy_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return the free ships, any of which may be deployed here. The others go to the other island (WOC-SET-08)."""
    return {"ships": {"each": {ship: [0, number] for ship, number in FREE_SHIPS.items()}, "total": [0, sum(FREE_SHIPS.values())]}}


def deploy_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for other ships than the free ones (WOC-SET-08)."""
    return _misdeployed(seat)


def _misdeployed(seat: Seat) -> Refusal:
    reason = say("{ships} are split over {islands}", ships=in_words(FREE_SHIPS), islands=listed(LANDINGS[seat]))
    return no("bad_choice", "WOC-SET-08", reason=reason)


def deploy(match: Match, seat: Seat, action: Action) -> None:
    """Place the free ships and let the next seat follow. After the last one round 1 begins (WOC-SET-08, WOC-SET-11)."""
    ships = action["ships"]
    rest = {ship: number - ships.get(ship, 0) for ship, number in FREE_SHIPS.items() if number > ships.get(ship, 0)}
    other = next(location for location in LANDINGS[seat] if location != action["at"])
    for at, part in ((action["at"], ships), (other, rest)):
        if part:
            match.emit("ships_placed", seat=seat, at=at, ships=part, reason="deploy")
    pass_on(match, seat)


def pass_on(match: Match, seat: Seat) -> None:
    """Let the next seat after a seat deploy. After the last one round 1 begins (WOC-SET-08, WOC-SET-11, WOC-LEA-05)."""
    playing = still_in(match.state)
    seats = match.state["seats"]
    following = [other for other in seats[seats.index(seat) + 1 :] if other in playing]
    if following:
        pass_to(match, DEPLOY_PHASE, [following[0]], following[0])
    else:
        start_round(match, 1)


# ---------------------------------------------------------------- active actions and turns


def begin_offers(state: State, seat: Seat) -> list[Action]:
    """Return all five kinds of action if one is left; the same one may be begun twice (WOC-TRN-02, WOC-TRN-03)."""
    turn = state["turn"]
    if turn is None or turn["action"] is not None or not may_begin(state, seat):
        return []
    return [{"type": "begin", "action": action} for action in ACTIONS]


def begin_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no action can be begun, or None: another one is under way, or none is left (WOC-TRN-02, WOC-TRN-04, WOC-TRN-05)."""
    turn = turn_of(state)
    if turn["action"] is not None:
        return no("action_under_way", "WOC-TRN-05", action=turn["action"])
    return None if may_begin(state, seat) else no("no_actions_left", "WOC-TRN-02", used=turn["actions_used"])


def begin(match: Match, seat: Seat, action: Action) -> None:
    """Begin an active action (WOC-TRN-05)."""
    begin_action(match, seat, action["action"])


def end_action_offers(state: State, seat: Seat) -> list[Action]:
    """Return the action that ends the one under way, which is possible at any time (WOC-TRN-09, WOC-LIM-01)."""
    turn = state["turn"]
    return [] if turn is None or turn["action"] is None else [{"type": "end_action"}]


def end_action_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no action can be ended, or None: none is under way (WOC-TRN-09)."""
    return no("no_action", "WOC-TRN-09", wanted=say("of any kind")) if turn_of(state)["action"] is None else None


def stop(match: Match, seat: Seat, action: Action) -> None:
    """End the active action (WOC-TRN-09, WOC-TRN-10)."""
    end_action(match)


def end_turn_offers(state: State, seat: Seat) -> list[Action]:
    """Return the action that ends the turn, between two actions (WOC-TRN-09, WOC-LIM-01)."""
    turn = state["turn"]
    return [{"type": "end_turn"}] if turn is None or turn["action"] is None else []


def end_turn_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the turn cannot be ended, or None: an action is under way (WOC-TRN-09)."""
    under_way = turn_of(state)["action"]
    return None if under_way is None else no("action_under_way", "WOC-TRN-09", action=under_way)


def finish_turn(match: Match, seat: Seat, action: Action) -> None:
    """End the turn (WOC-TRN-01, WOC-TRN-09)."""
    end_turn(match, seat)


# ---------------------------------------------------------------- cards in hand


def play_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every different turn card in hand, with every place that it may name (WOC-TRN-11, WOC-PWR-04, WOC-PWR-06)."""
    offers: list[Action] = []
    for card in dict.fromkeys(state["players"][seat]["cards"]):
        if card not in BATTLE_CARDS:
            places = VERBS[CARDS[card].verb].places
            if places is None:
                offers.append({"type": "play_card", "card": card})
            else:
                offers += [{"type": "play_card", "card": card, "at": at} for at in places(state, seat)]
    return offers


def misplaced(action: Action) -> Refusal | None:
    """Return why a card is played with a wrong place, or None. A card that names a place needs one of its kind, any other has none
    (WOC-PWR-29, WOC-PWR-31)."""
    card = CARDS[action["card"]]
    verb = VERBS.get(card.verb) if card.moment == "turn" else None
    if verb is None or not verb.known:
        return no("bad_action", reason=say("play_card: {card} names no `at`", card=card.id)) if "at" in action else None
    if action.get("at") not in verb.known:
        return no("bad_action", reason=say("play_card: {card} needs an `at` of its kind", card=card.id))
    return None


def play_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a card cannot be played, or None: it is not in hand, no turn card, or its effect is impossible (WOC-TRN-11,
    WOC-PWR-06)."""
    card = CARDS[action["card"]]
    hand = state["players"][seat]["cards"]
    if card.id not in hand:
        return no("card_not_there", "WOC-PWR-04", card=card.id, where=say("your hand"), there=joined(hand) or say("nothing"))
    if card.id in BATTLE_CARDS:
        return no("wrong_moment", "WOC-PWR-06", what=card.id, when=say("with a bid in a battle"))
    asked = VERBS[card.verb].refusal
    return None if asked is None else asked(state, seat, card, action["at"])


def play(match: Match, seat: Seat, action: Action) -> None:
    """Use a card once and discard it (WOC-PWR-04, WOC-TRN-11)."""
    card = CARDS[action["card"]]
    match.emit("card_spent", seat=seat, card=card.id, reason="played")
    VERBS[card.verb].act(match, seat, card, action.get("at", ""))


def discard_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every different card in hand (WOC-PWR-05)."""
    return [{"type": "discard_card", "card": card} for card in dict.fromkeys(state["players"][seat]["cards"])]


def discard_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a card cannot be discarded, or None: it is not in hand (WOC-PWR-05)."""
    card, hand = action["card"], state["players"][seat]["cards"]
    if card in hand:
        return None
    return no("card_not_there", "WOC-PWR-05", card=card, where=say("your hand"), there=joined(hand) or say("nothing"))


def discard(match: Match, seat: Seat, action: Action) -> None:
    """Discard a card unused (WOC-PWR-05, WOC-TRN-11)."""
    match.emit("card_spent", seat=seat, card=action["card"], reason="discarded")


# ---------------------------------------------------------------- the system


def finish_round(match: Match, seat: Seat, action: Action) -> None:
    """End the round, and perhaps the match (WOC-RND-01)."""
    end_round(match)


SET_UP = Deed({}, only("advance"), setup_refusal, set_up)
DEPLOY = Deed(
    {"at": LOCATION, "ships": counts(SHIP, about="the free ships that go there, by kind; the others go to the other island")},
    deploy_offers,
    deploy_refusal,
    deploy,
    deploy_ranges,
    deploy_outside,
)
BEGIN = Deed({"action": ACTIVE_ACTION}, begin_offers, begin_refusal, begin)
END_ACTION = Deed({}, end_action_offers, end_action_refusal, stop)
END_TURN = Deed({}, end_turn_offers, end_turn_refusal, finish_turn)
PLAY_CARD = Deed({"card": CARD, "at": optional(LOCATION)}, play_offers, play_refusal, play)
DISCARD_CARD = Deed({"card": CARD}, discard_offers, discard_refusal, discard)
END_ROUND = Deed({}, only("advance"), never_refused, finish_round)
