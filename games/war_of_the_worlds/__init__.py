"""War of the Worlds: The New Wave: aliens against humans, with decks that grow, figures on a map of Great Britain, and two goals of 30."""

from __future__ import annotations

from games.kernel import Game, Seats
from games.war_of_the_worlds.board import board
from games.war_of_the_worlds.data import DRAWS, FOLDER, PROFILES, SEATS
from games.war_of_the_worlds.facts import FACTS
from games.war_of_the_worlds.guess import REMEMBERS, guess
from games.war_of_the_worlds.invariants import broken
from games.war_of_the_worlds.leaving import default, leave, playing
from games.war_of_the_worlds.phases import PHASES
from games.war_of_the_worlds.scene import fight, scene
from games.war_of_the_worlds.setup import OPTIONS, begin
from games.war_of_the_worlds.sight import shown, view
from games.war_of_the_worlds.state import DOCUMENT
from games.war_of_the_worlds.worth import worth

REFUSALS = {
    "not_in_hand": "{card} is not in your hand.",
    "bad_option": "{card} has no option {option}; it has {options}.",
    "strike_pending": "The strike on {region} has {damage} of {need} damage. Only attacks that add to it may follow.",
    "must_act": "{card} must act: there are {cards} such cards in hand, and {fresh} {kind} figures can still take one.",
    "none_left": "All {figures} {kind} figures are on the board already.",
    "no_unit": "There is no {kind} {where}.",
    "unit_used": "{unit} has taken a unit card this turn.",
    "unit_blocked": "{unit} is pinned in {region}: its side has no more land figures there than the enemy.",
    "wrong_terrain": "{region} is the wrong terrain; {wanted} is needed.",
    "not_adjacent": "{goal} is not {wanted} {source}.",
    "sealed": "Nothing human may leave {region} this turn.",
    "closed": "Nothing human may enter {region} this turn.",
    "balloons": "Balloons keep {unit} out of {region}.",
    "no_path": "{goal} is near enough to {source}, but every way there is barred.",
    "no_civilian": "There is {wanted} in {region}.",
    "protected": "The civilians in {region} are protected by other human pieces there.",
    "no_target": "There is no {wanted} in {region}.",
    "too_weak": "The strike on {region} is too weak: {total} gathered and at most {reach} to follow, against a need of {need}.",
    "no_strike": "An attack with {damage} on {region} needs no strike: the need there is {need}.",
    "hostile": "{region} is hostile: an alien figure or building is there.",
    "occupied": "There is a {token} in {region} already.",
    "humans_there": "There are human pieces in {region}.",
    "not_on_offer": "{card} is not in your offer pool. On offer: {offer}.",
    "too_expensive": "{what} costs {cost}; you have {resources} left.",
    "already_swapped": "You have made your swap this turn.",
    "offer_deck_empty": "Your offer deck is empty; there is nothing to swap for.",
    "no_building": "You have no building with an action of its own in {region}.",
    "already_used": "The {building} in {region} has been used this turn.",
    "fogged": "Fog keeps the {building} in {region} from attacking this turn.",
    "no_damage": "There is no damage to repair.",
    "cards_left": "{card} can still be played, so the turn cannot end yet.",
}

GAME = Game(
    id="war_of_the_worlds",
    title="War of the Worlds: The New Wave",
    revision=1,
    seats=Seats(SEATS, len(SEATS), len(SEATS)),
    options=OPTIONS,
    begin=begin,
    phases=PHASES,
    facts={name: fact for name, (fact, _) in FACTS.items()},
    document=DOCUMENT,
    events={name: fields for name, (_, fields) in FACTS.items()},
    refusals=REFUSALS,
    reveals=frozenset({"cards_drawn", "offer_filled"}),
    rolls=frozenset({"supply_shuffled", "offer_deck_shuffled"}),
    uncovers=frozenset({"card_played", "hand_discarded"}),
    view=view,
    shown=shown,
    guess=guess,
    worth=worth,
    playing=playing,
    leave=leave,
    default=default,
    invariants=broken,
    board=board,
    scene=scene,
    fight=fight,
    folder=FOLDER,
    draws=DRAWS,
    profiles=PROFILES,
    remembers=REMEMBERS,
)
