"""The shape of the document.

A seat wins by holding the Isle of Myth, or by magic crystals, which are gained there, in battles, on apex islands and from the beaten
(WOC-GEN-01, WOC-GEN-02). Resources and crystals are plain numbers, open to all; secret are a deck, tokens and sealed bids
(WOC-GEN-03, WOC-GEN-04, WOC-GEN-05).
"""

from __future__ import annotations

from games.lifecycle import OVER, ROUND, ROUND_END, SETUP, SHARED_REASONS, shared_shapes
from games.schema import (
    BLANK,
    COUNTED,
    Fields,
    always,
    counts,
    described,
    either,
    flag,
    ids,
    known,
    listing,
    mapping,
    nullable,
    optional,
    record,
    settings,
    text,
    veiled,
    whole,
)
from games.war_of_civilizations import data

SEAT = ids(data.SEATS, "a seat, named after its clan")
LOCATION = known(data.LOCATIONS, "a location of the map")
APEX_ISLAND = ids(data.RING, "an apex island")
SHIP = known(data.SHIPS, "a kind of ship")
RESOURCE = known(data.RESOURCES, "a resource")
GOODS = known([*data.RESOURCES, "crystals"], "a resource, or crystals")
CARD = known(data.CARDS, "a power card")
TOKEN = ids(data.EXPEDITIONS, "a lost expedition")
ACTIVE_ACTION = known(data.ACTIONS, "an active action")
SIDE = ids([data.ATTACKER, data.DEFENDER], "a side of the battle")
FROM = described(LOCATION, "where it comes from")
TO = described(LOCATION, "where it goes")
SHIP_MAP = counts(SHIP, 1, "ships by kind")
CHANGES = mapping(RESOURCE, whole(), "what is added, or taken where negative")
OFFER = counts(GOODS, 1, "what the seat that is blocked would pay")
REASONS = (data.ISLE_WIN, data.CRYSTAL_WIN, data.ROUND_LIMIT_WIN, data.SURVIVOR_WIN, *SHARED_REASONS)
SCORE = whole(0, about="magic crystals (WOC-END-01)")
PHASES = (
    SETUP,
    data.DEPLOY_PHASE,
    data.TURN_PHASE,
    data.PIRATE_PHASE,
    data.BLOCKADE_PHASE,
    data.RANSOM_PHASE,
    data.REINFORCE_PHASE,
    data.BIDS_PHASE,
    data.RETREAT_PHASE,
    ROUND_END,
    OVER,
)
DECK = veiled(listing(CARD, about="top card first; a view has the number of cards instead"), COUNTED)
MARK = either(whole(1, data.FORECAST_TOKENS), always(data.BARREN), about="forecast tokens, or barren")
STEPS_LEFT = whole(0, about="steps that the Move may still make")

TURN_RECORD = record(
    {
        "actions_used": whole(0, about="active actions begun this turn"),
        "extra_actions": whole(0, about="active actions that cards have granted this turn"),
        "action": nullable(described(ACTIVE_ACTION, "the active action under way, or null")),
        "bonus_open": flag("whether bonus steps of the action are still allowed"),
        "cards_bought": whole(0, about="power cards bought this turn"),
        "crystal_use": nullable(
            ids([data.MOUNTING, data.DISMOUNTING], "whether crystals were mounted or dismounted this turn; null for neither")
        ),
        "teleporter_to": listing(LOCATION, about="where tokens were placed in this action"),
        "free_teleporter": flag("whether the next teleporter bonus is free"),
        "extra_steps": whole(0, about="steps from cards for the next Move"),
        "mover": nullable(
            record(
                {
                    "from": described(LOCATION, "where the ships came from"),
                    "at": described(LOCATION, "where the ships are"),
                    "ships": SHIP_MAP,
                    "steps_left": STEPS_LEFT,
                },
                about="the last step of this Move, or null",
            )
        ),
        "trail": nullable(listing(LOCATION, about="the trail of this Redistribute, in map order; null as long as it is open")),
        "arrived": mapping(LOCATION, SHIP_MAP, "ships that have moved in this Redistribute, by location"),
        "discount_left": whole(0, about="what is left of Lion's discount in this Buy, in OC"),
        "converted": listing(RESOURCE, about="resources already converted into in this action"),
        "forecast_drawn": flag("whether the forecast of this action is done"),
        "privateer_used": flag("whether the seat has moved its privateer this turn"),
        "laid_waste": listing(LOCATION, about="islands that became barren this turn, in that order (WOC-DIS-08)"),
        "teleporters_lost": whole(0, about="the active seat's own tokens lost this turn (WOC-TEL-10)"),
    },
    about="the record of the active seat's turn so far",
)
AMMO_BID = whole(0, about="ammunition bid")
CARDS_BID = listing(CARD, about="battle cards bid")
BID = record({"ammo": AMMO_BID, "cards": CARDS_BID})
SIDE_RECORD = record(
    {
        "fleet": whole(0, about="the strength of the ships, of the pirate or of the privateer, less what cards take from it"),
        "ammo": whole(0, about="the ammunition bid, or the dice of a pirate, with what cards add or take"),
        "bonus": whole(0, about="what cards, abilities and a home base add"),
        "total": whole(0, about="the sum"),
    }
)
SIDES = mapping(SIDE, SIDE_RECORD, "what each side's strength is made of (WOC-BAT-07)")
DICE = listing(whole(1), about="the pirate's dice")
KIND = ids([data.FLEET, data.PIRATE, data.PRIVATEER], "who fights")
WINNER = described(SIDE, "the side that has won")
SENT_HOME = whole(1, about="how many ships go home")
BATTLE_START: Fields = {
    "at": described(LOCATION, "where the battle is"),
    "kind": KIND,
    "attacker": described(SEAT, "the seat that attacks"),
    "defender": ids([*data.SEATS, data.PIRATE], "the seat that defends, or the pirate"),
    "privateer": nullable(described(SIDE, "the side that is the privateer itself, or null")),
    "from": nullable(described(LOCATION, "where the attacking fleet came from, or null")),
    "hostages": described(SHIP_MAP, "the defender's ships there that do not fight, by kind"),
}
BATTLE = record(
    {
        **BATTLE_START,
        "bids": mapping(SEAT, veiled(BID, BLANK), about="those sealed so far; before the reveal a view has null for others' bids"),
        "ability_used": listing(SEAT, about="seats that have used their ability"),
        "dice": nullable(described(DICE, "the pirate's dice; null before they are thrown")),
        "result": nullable(record({"winner": WINNER, "sides": SIDES}, about="how the battle was decided, or null")),
        "retreat": nullable(record({"seat": SEAT, "count": SENT_HOME}, about="who must choose how many ships to send home, or null")),
    },
    about="the battle under way, or null",
)
BLOCKADE_START: Fields = {
    "at": described(LOCATION, "where the privateer is"),
    "owner": described(SEAT, "the seat of the privateer"),
    "occupant": described(SEAT, "the seat that must answer"),
}
BLOCKADE = record(
    {
        **BLOCKADE_START,
        "offers": optional(whole(1, data.OFFERS_A_MOMENT, "offers of ransom that the owner has made earlier in the turn")),
    },
    about="a privateer that has arrived and waits for an answer, or null",
)
NOTE = nullable(text(about="free text for the other seat, or null; it binds nobody"))
RANSOM_OFFERED: Fields = {
    "from": described(SEAT, "the seat that offers"),
    "to": described(SEAT, "the privateer's owner, who must answer"),
    "at": described(LOCATION, "where the privateer is"),
    "offer": OFFER,
    "note": NOTE,
}
RANSOM = record(RANSOM_OFFERED, about="the offer that waits for an answer, or null")
FULL_ROUNDS = whole(0, data.ROUNDS_TO_WIN, "full rounds for which it was held")
ISLE_RECORD = record(
    {
        "holder": nullable(described(SEAT, "the seat that holds the Isle, or null")),
        "since": nullable(described(ROUND, "the round in which it took the Isle, or null")),
        "full_rounds": FULL_ROUNDS,
    },
    about="who holds the Isle, and for how long",
)
RESOURCE_NAMES = {"oc": "OC, the money", "alwood": "AlWood", "ammo": "ammunition"}
PRIVATEER_PLACE = either(LOCATION, always(data.RESERVE), about="a location, or the reserve")
PLAYER = record(
    {
        **{name: whole(0, about=f"{RESOURCE_NAMES[name]} in stock") for name in data.MATERIALS},
        data.POWDER: veiled(whole(0, about=f"{RESOURCE_NAMES[data.POWDER]} in stock; null where others may not see it"), BLANK),
        "crystals": whole(0, data.CRYSTALS, "crystals in stock, without those that are mounted"),
        "ability": whole(0, data.MAX_LEVEL, "the level of the clan's ability"),
        "cards": listing(CARD, 0, data.HAND_LIMIT, "oldest first"),
        "fleets": mapping(LOCATION, SHIP_MAP, "all ships on the board by location, hostages included"),
        "teleporters": listing(LOCATION, 0, data.TELEPORTERS, "in order of placing"),
        "mounted": mapping(LOCATION, ROUND, "the round in which a crystal was mounted"),
        "entered_central": flag("whether the seat has entered the central continent (WOC-MOV-03)"),
        "privateer": nullable(described(PRIVATEER_PLACE, "where the seat's privateer is; null if it has none")),
        "eliminated": flag("whether the seat is out"),
    }
)
OPTION_TEXTS = {
    "pirates": "whether pirates and privateers are in play (WOC-PIR, WOC-PRV)",
    "disasters": "whether disasters are forecast (WOC-DIS)",
    "round_limit": "the round after which the match ends at the latest (WOC-RND-10)",
    "arrival_counts": "whether the round in which the first seat takes the Isle of Myth is a full round for it (WOC-ISL-07)",
    "first_seat_rotates": "whether each round begins with the seat after the one that began the round before (WOC-RND-12)",
    "ability_level": "the level at which abilities begin (WOC-SET-06)",
    "hidden_ammo": "whether a seat's ammunition is for it alone to see (WOC-GEN-05)",
    "privateer_by_token": "whether privateers go only where their seat has a token (WOC-PRV-02)",
    "all_tokens_lost": "whether the loser of a battle loses all its tokens (WOC-TEL-09)",
}
OPTION_SHAPES = settings(data.OPTIONS, OPTION_TEXTS)

COVERED_ISLANDS = listing(APEX_ISLAND, about="apex islands that are not in play")
ATTACHED_ISLANDS = mapping(SEAT, APEX_ISLAND, "the apex island next to each north island")
COUNTDOWN_NUMBER = whole(1, data.COUNTDOWN, "the number on the tracker")
DOCUMENT = record(
    {
        **shared_shapes(data.ID, SEAT, PHASES, REASONS, SCORE, OPTION_SHAPES),
        "first": optional(described(SEAT, "the seat with which the round began, where the first seat rotates")),
        "players": mapping(SEAT, PLAYER, "what each seat has"),
        "attached": ATTACHED_ISLANDS,
        "covered": COVERED_ISLANDS,
        "apex": mapping(
            APEX_ISLAND,
            record(
                {
                    "explored": flag("whether the lost expedition is gone; else its token lies there, with a crystal"),
                    "expedition": nullable(described(TOKEN, "the token there; null if there is none or the viewer may not know it")),
                    "known_to": listing(SEAT, about="seats that have looked at the token"),
                    "pirate": flag("whether a pirate is there"),
                }
            ),
            about="all six apex islands",
        ),
        data.ISLE: ISLE_RECORD,
        "crystals": mapping(ids([data.SUPPLY, data.ISLE]), whole(0, data.CRYSTALS), "those that no seat has"),
        "countdown": nullable(described(COUNTDOWN_NUMBER, "the number on the tracker; null before it is set")),
        "power": record(
            {"display": listing(CARD, about="oldest first"), "deck": DECK, "discard": listing(CARD, about="oldest first")},
            about="the power cards that no seat has",
        ),
        "marks": mapping(LOCATION, MARK, "forecast tokens of islands, or barren"),
        "turn": nullable(TURN_RECORD),
        "battle": nullable(BATTLE),
        "blockade": nullable(BLOCKADE),
        "ransom": nullable(RANSOM),
        "offers": whole(0, data.OFFERS_A_MOMENT, "offers of ransom made in this turn, or in this blockade"),
    },
    about="the state of a match of War of Civilizations",
)
