"""War of Civilizations: two to six clans sail for the Isle of Myth, with an economy, teleporters, secret bids, pirates and disasters."""

from __future__ import annotations

from games.kernel import Game, Seats
from games.war_of_civilizations.board import board
from games.war_of_civilizations.data import DRAWS, FOLDER, ID, LEAST_SEATS, MOST_SEATS, PROFILES, SEATS
from games.war_of_civilizations.facts import FACTS
from games.war_of_civilizations.guess import REMEMBERS, guess
from games.war_of_civilizations.invariants import broken
from games.war_of_civilizations.leaving import default, leave
from games.war_of_civilizations.phases import PHASES, inadmissible
from games.war_of_civilizations.scene import fight, scene
from games.war_of_civilizations.setup import OPTIONS, begin
from games.war_of_civilizations.sight import shown, view
from games.war_of_civilizations.state.records import still_in
from games.war_of_civilizations.state.shape import DOCUMENT
from games.war_of_civilizations.worth import worth

REFUSALS = {
    "option_off": "This match is played without {option}.",
    "no_action": "No active action ({wanted}) is under way.",
    "action_under_way": "The active action {action} must be ended first.",
    "no_actions_left": "All active actions of the turn are used: {used}.",
    "bonus_closed": "The main part of the action {action} has begun, so its bonus is over.",
    "forecast_first": "A disaster card must be drawn before anything is collected.",
    "already_done": "{what} can be done only once.",
    "bad_choice": "The parts of the choice contradict each other: {reason}.",
    "nothing_to_collect": "There is no location to collect from. It must be under your control, with a gunboat, and not barren.",
    "not_barren": "{at} is not barren.",
    "not_your_continent": "{at} is not on your continent.",
    "enemy_there": "Ships of {seat} are in {at}.",
    "card_not_there": "{card} is not in {where}. There: {there}.",
    "card_limit": "You have bought {limit} cards this turn; there can be no more.",
    "hand_full": "You have {limit} cards in hand; discard one first.",
    "wrong_moment": "{what} belongs to another moment: {when}.",
    "reserve_empty": "The reserve has {left} of {ship}; {wanted} were asked for.",
    "not_controlled": "You do not control what is needed for {at}.",
    "isle_closed": "Ships are never placed on the Isle of Myth.",
    "capacity_full": "{at} has room for {room} more ships, not for {wanted}.",
    "cannot_pay": "That takes {price}; you have {stock}.",
    "no_teleporter": "No token can be taken from {source} now.",
    "not_dockable": "{at} is not a dockable island.",
    "already_there": "{what} is in {at} already.",
    "no_ships": "{wanted} cannot go from {at}. Ships that can: {there}.",
    "no_steps": "This Move cannot go on like this: {reason}.",
    "not_adjacent": "{to} is neither adjacent to {at} nor linked with it.",
    "already_controlled": "You control {at} already; a Move goes to places that you do not control.",
    "blocked": "The privateer of {seat} blocks {at}.",
    "capital_first": "The first entry of the central continent, here of {to}, needs your capital ship.",
    "not_connected": "{at} and {to} are not on the connected trail.",
    "no_crystal": "There is no crystal for this: {reason}.",
    "mount_or_dismount": "You have {use} crystals this turn; only one of the two is possible.",
    "too_soon": "{what}.",
    "max_level": "Your ability is at level {level} already.",
    "no_ability": "Your ability does not destroy a {ship} here.",
    "no_privateer": "There is no such privateer: {reason}.",
    "privateer_limit": "You have a privateer already, on the board or in the reserve.",
    "capital_there": "The capital ship of the opponent is in {at}.",
    "no_target": "No opponent has ships in {at}.",
    "offer_limit": "You have made {limit} offers; no more can be made now.",
}

GAME = Game(
    id=ID,
    title="War of Civilizations",
    revision=1,
    seats=Seats(SEATS, LEAST_SEATS, MOST_SEATS),
    options=OPTIONS,
    begin=begin,
    phases=PHASES,
    facts={name: fact for name, (fact, _) in FACTS.items()},
    document=DOCUMENT,
    events={name: fields for name, (_, fields) in FACTS.items()},
    refusals=REFUSALS,
    reveals=frozenset({"card_revealed", "expedition_seen", "expedition_recovered", "dice_rolled", "bids_revealed", "disaster_drawn"}),
    rolls=frozenset({"tokens_placed", "deck_built", "deck_reshuffled", "dice_rolled", "disaster_drawn"}),
    view=view,
    shown=shown,
    guess=guess,
    worth=worth,
    playing=still_in,
    leave=leave,
    default=default,
    invariants=broken,
    board=board,
    scene=scene,
    fight=fight,
    folder=FOLDER,
    draws=DRAWS,
    profiles=PROFILES,
    sets=frozenset({"collect.skip", "collect.extra{}", "bid.cards"}),
    redacted=frozenset({"answer_ransom", "bid", "buy_card", "collect", "convert", "move", "play_card"}),
    remembers=REMEMBERS,
    inadmissible=inadmissible,
)
