"""The kernel: how a game is made of deeds and facts, and what can be done with it.

`decide` carries out an action and returns its events. `evolve` folds one event. `legal` lists the choices of an actor. `Branch` plays on
for search. Everything here is pure: functions take a document and return a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Protocol, TypedDict, TypeVar

from games.chance import Chance
from games.choices import Choice, Outside, Ranges, complete, outside
from games.documents import Own, copied, reaching
from games.draws import Draws
from games.profiles import Profiles
from games.scene import Fight, Scene
from games.schema import Fields, Malformed, Shape, always, record
from games.sentences import Sentence, Tell, either, listed, say

State = Any  # a game's own TypedDict (games/<game>/document.py); the kernel reads only the keys that every game has
S = TypeVar("S")
Seat = str
Action = dict[str, Any]
Event = dict[str, Any]
Fact = Callable[[State, Event, Own], None]
Memory = dict[str, Any]

RESTORED = "match_restored"  # the event that brings back an earlier document and what was remembered then (games/lifecycle.py)

SYSTEM = "system"
SPECTATOR = "spectator"
AUDITOR = "auditor"

SHARED_REFUSALS: Mapping[str, str] = {
    "match_over": "The match is over; nothing more can be done in it.",
    "bad_action": "This is not an action of the game: {reason}.",
    "not_your_turn": "{actor} cannot act now; it is the turn of {to_act}.",
    "wrong_phase": "{type} is not possible in the phase {phase}; possible there: {allowed}.",
    "bad_options": "The match cannot be set up like this: {reason}.",
}


class Outcome(TypedDict):
    """How a match has ended."""

    winners: list[Seat]
    reason: str
    scores: dict[Seat, int]


class Shared(TypedDict):
    """The keys of a state document that every game has, but for `options`: each game has its own."""

    game: str
    seats: list[Seat]
    round: int
    phase: str
    active: Seat | None
    to_act: list[Seat]
    outcome: Outcome | None


class Refusal(NamedTuple):
    """Why an action is not legal: a stable code, the id of the rule that forbids it, and the facts of the case."""

    code: str
    rule: str | None
    facts: Mapping[str, Any]


def no(code: str, rule: str | None = None, **facts: Any) -> Refusal:
    """Return a refusal by `rule`. `facts` fill the sentence that the game has for the code.

    >>> no("not_adjacent", "WAR-MOV-02", tile="c3", source="a1")
    Refusal(code='not_adjacent', rule='WAR-MOV-02', facts={'tile': 'c3', 'source': 'a1'})
    """
    return Refusal(code, rule, facts)


class Refused(Exception):
    """The rules do not allow an action, or the options of a match. Nothing has changed. `place`: the action's place in a list, from 0."""

    def __init__(self, refusal: Refusal, place: int = 0) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal
        self.place = place

    @property
    def code(self) -> str:
        """The stable code of the refusal."""
        return self.refusal.code


class Deed(NamedTuple):
    """A kind of action: its shape, and the functions that offer, judge and carry it out.

    `fields`: the shape of the action besides `type`.
    `offers(state, seat)`: every legal action of the seat, perhaps some illegal ones too. An open action comes without its counts.
    `refusal(state, seat, action)`: the first rule that the action breaks, or None. For an open deed it judges the fixed fields only.
    `act(match, seat, action)`: emits the facts. It is only called with an action that is not refused.

    An open deed, whose actions hold counts to be chosen, has two more:
    `ranges(state, seat, action)`: the counts that may be chosen, by field (games/choices.py). It is called only where `refusal` gave None.
    `{}` means that the action is complete as it stands.
    `outside(state, seat, action, found)`: the refusal for a count that the kernel found outside its range.

    A deed whose listing takes long may have one more:
    `choices(state, seat)`: all its choices at once. They are those that `offers`, `refusal` and `ranges` give one by one, in their order.
    """

    fields: Fields
    offers: Callable[[State, Seat], Iterable[Action]]
    refusal: Callable[[State, Seat, Action], Refusal | None]
    act: Callable[[Match[Any], Seat, Action], None]
    ranges: Callable[[State, Seat, Action], Ranges] | None = None
    outside: Callable[[State, Seat, Action, Outside], Refusal] | None = None
    choices: Callable[[State, Seat], list[Choice]] | None = None

    def listed(self, state: State, seat: Seat) -> list[Choice]:
        """Return the choices of the deed one by one: each action that is offered and not refused, with its ranges.

        >>> deed = Deed({}, only("end_turn"), never_refused, lambda match, seat, action: None)
        >>> deed.listed({}, "red")
        [{'action': {'type': 'end_turn'}}]
        >>> adding = deed._replace(offers=only("add"), ranges=lambda state, seat, action: {"by": [1, 3]})
        >>> adding.listed({}, "red")
        [{'action': {'type': 'add'}, 'choose': {'by': [1, 3]}}]
        """
        refusal, ranges_of = self.refusal, self.ranges
        listed: list[Choice] = []
        for action in self.offers(state, seat):
            if refusal(state, seat, action) is None:
                ranges = ranges_of(state, seat, action) if ranges_of is not None else None
                listed.append({"action": action, "choose": ranges} if ranges else {"action": action})
        return listed

    def judge(self, state: State, seat: Seat, action: Action) -> Refusal | None:
        """Return why a complete action is refused, or None: the first rule that its fixed fields break, then that its counts break.

        >>> def outside_of(state, seat, action, found):
        ...     return no("too_much", "TOY-ADD-01", by=found.given, most=found.high)
        >>> deed = Deed({}, only("add"), never_refused, print, lambda state, seat, action: {"by": [1, 3]}, outside_of)
        >>> deed.judge({}, "red", {"type": "add", "by": 3}) is None
        True
        >>> deed.judge({}, "red", {"type": "add", "by": 5})
        Refusal(code='too_much', rule='TOY-ADD-01', facts={'by': 5, 'most': 3})
        """
        refusal = self.refusal(state, seat, action)
        if refusal is not None or self.ranges is None:
            return refusal
        found = outside(self.ranges(state, seat, action), action)
        if found is None:
            return None
        assert self.outside is not None, "an open deed names the refusals of its counts"
        return self.outside(state, seat, action, found)


def only(kind: str) -> Callable[[State, Seat], list[Action]]:
    """Return the `offers` of a deed whose action has no fields. It is offered throughout its phase.

    >>> only("end_turn")({}, "red")
    [{'type': 'end_turn'}]
    """
    return lambda state, seat: [{"type": kind}]


def never_refused(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return None: the `refusal` of a deed that is legal throughout its phase."""
    return None


class Guess(Protocol):
    """Fills in what a viewer cannot see: a document that agrees with the view, and with everything that was shown before."""

    def __call__(self, view: State, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
        """Return the document. `memory` comes from `remembered`; without it only the view is known."""


class Seats(NamedTuple):
    """The seats of a game, and the least and the most that a match can have."""

    ids: tuple[Seat, ...]
    least: int
    most: int


def admissible(state: State, action: Action) -> Refusal | None:
    """Return None: the default for a game whose shapes say all that an action must be."""
    return None


class Board(Protocol):
    """Draws a view as lines of text. `tell` says its words in a language."""

    def __call__(self, view: State, viewer: str, tell: Tell = str, /) -> list[str]:
        """Return the lines."""
        ...


class Game(NamedTuple):
    """A whole game by the rules of one revision. docs/adding-a-game.md says what each part must do.

    `earlier`: the game by its earlier rules, as far as they are pinned (games.pinned).
    """

    id: str
    title: str
    revision: int
    seats: Seats
    options: Shape
    begin: Callable[[list[Seat], Mapping[str, Any]], State]
    phases: Mapping[str, Mapping[str, Deed]]
    facts: Mapping[str, Fact]
    document: Shape
    events: Mapping[str, Fields]
    refusals: Mapping[str, str]
    reveals: frozenset[str]
    rolls: frozenset[str]
    view: Callable[[State, str], State]
    shown: Callable[[Event, str], Event]
    guess: Guess
    worth: Callable[[State, Seat], float]
    playing: Callable[[State], list[Seat]]
    leave: Callable[[Match[Any], Seat], None]
    default: Callable[[State, Seat], Action]
    invariants: Callable[[State], Iterator[str]]
    board: Board
    scene: Callable[[State], Scene]
    folder: Path
    sets: frozenset[str] = frozenset()
    redacted: frozenset[str] = frozenset()
    remembers: Mapping[str, Callable[[Memory, Event], Memory]] = MappingProxyType({})
    inadmissible: Callable[[State, Action], Refusal | None] = admissible
    uncovers: frozenset[str] = frozenset()
    draws: Draws | None = None
    fight: Callable[[State, Sequence[Event]], Fight | None] | None = None
    profiles: Profiles = MappingProxyType({})
    earlier: Mapping[int, Game] = MappingProxyType({})

    def __repr__(self) -> str:
        return f"<Game {self.id}>"

    def of_revision(self, revision: int) -> Game | None:
        """Return this game by the rules of a revision, or None if they are not here.

        >>> from games import GAMES
        >>> war = GAMES["war"]
        >>> war.of_revision(war.revision), war.of_revision(0)
        (<Game war>, None)
        """
        return self if revision == self.revision else self.earlier.get(revision)

    def with_defaults(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a match with the default of each that was not given."""
        shapes = self.options.schema["properties"]
        return {**{name: shape["default"] for name, shape in shapes.items() if "default" in shape}, **options}

    def options_of(self, profile: str, seats: int) -> dict[str, Any]:
        """Return the options that a house profile sets in a match of so many seats. Raise Refused `bad_options`.

        >>> from games import GAMES
        >>> GAMES["war_of_civilizations"].options_of("balanced", 2)
        {'arrival_counts': True}
        >>> GAMES["war"].options_of("unheard of", 2)
        Traceback (most recent call last):
            ...
        games.kernel.Refused: bad_options
        """
        parts = self.profiles.get(profile)
        if parts is None:
            known = listed(list(self.profiles)) or say("none")
            raise Refused(no("bad_options", reason=say("there is no profile {profile!r}, only {known}", profile=profile, known=known)))
        return {name: value for part in parts if seats in part.seats for name, value in part.options.items()}

    def deeds(self) -> dict[str, Deed]:
        """Return every deed by the type of its action. If several phases have a deed of one type, the first.

        >>> from games import GAMES
        >>> list(GAMES["war"].deeds())
        ['advance', 'place_unit', 'reinforce', 'play_combat_card', 'end_cards', 'move', 'end_moves', 'attack', 'stop_attack', 'take_cards']
        """
        found: dict[str, Deed] = {}
        for deeds in self.phases.values():
            for kind, deed in deeds.items():
                found.setdefault(kind, deed)
        return found


class Match(Generic[S]):
    """A match while one action is carried out: the action as admitted, the state so far, the events so far, and chance."""

    __slots__ = ("state", "events", "chance", "facts", "action")
    action: Action

    def __init__(self, game: Game, state: S, chance: Chance) -> None:
        self.facts = game.facts
        self.state = state
        self.events: list[Event] = []
        self.chance = chance

    def emit(self, type: str, **facts: Any) -> None:
        """Record an event and fold it at once. Rules change a match in no other way.

        >>> from games import GAMES
        >>> from games.chance import Drawn
        >>> war = GAMES["war"]
        >>> state = war.begin(["red", "blue"], {})
        >>> match = Match(war, state, Drawn(lambda below: 0))
        >>> match.emit("round_started", round=2)
        >>> match.events, match.state["round"], state["round"]
        ([{'type': 'round_started', 'round': 2}], 2, 1)
        """
        event = {"type": type, **facts}
        self.events.append(event)
        state: Any = self.state
        after = state.copy()
        self.facts[type](after, event, copied)
        self.state = after


class Branch(Match[State]):
    """A match for search: the same deeds and facts, going on from a state, which it leaves untouched. No events are kept.

    A part of the state is copied when a fact first reaches it, and changed in place from then on. So a branch costs nothing but the parts
    that its actions change, and branches share the rest. A branch may begin from the state of another one, which must not be played on
    while the new one is in use.
    """

    __slots__ = ("phases", "_own")

    def __init__(self, game: Game, state: State, chance: Chance) -> None:
        self.facts = game.facts
        self.phases = game.phases
        self.state = state.copy()
        self.events = []
        self.chance = chance
        self._own = reaching()

    def emit(self, type: str, **facts: Any) -> None:
        """Fold an event in place."""
        self.facts[type](self.state, facts, self._own)

    def play(self, actor: Seat, action: Action) -> None:
        """Carry out an action that is known to be legal. Nothing is checked.

        >>> from games import GAMES
        >>> from games.chance import Drawn
        >>> war = GAMES["war"]
        >>> state = war.begin(["red", "blue"], {})
        >>> branch = Branch(war, state, Drawn(lambda below: 0))
        >>> branch.play("system", {"type": "advance"})
        >>> state["phase"], branch.state["phase"], branch.state["to_act"]
        ('setup', 'placement', ['red'])
        """
        self.phases[self.state["phase"]][action["type"]].act(self, actor, action)


def admit(game: Game, action: Any) -> Action:
    """Return the action with its shape checked and counts of 0 dropped. Raises Refused `bad_action`.

    >>> from games import GAMES
    >>> war = GAMES["war"]
    >>> admit(war, {"type": "move", "from": "a1", "to": {"a2": 3, "b1": 0}})
    {'type': 'move', 'from': 'a1', 'to': {'a2': 3}}
    >>> admit(war, {"type": "fly"})
    Traceback (most recent call last):
        ...
    games.kernel.Refused: bad_action
    """
    kind = action.get("type") if isinstance(action, dict) else None
    shape = _shapes(game).get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise Refused(no("bad_action", reason="it is not an object with a `type` that the game knows"))
    try:
        cleaned: Action = shape.clean(action)
    except Malformed as reason:
        raise Refused(no("bad_action", reason=f"{kind}: {reason}")) from None
    return cleaned


def has_fields(game: Game, kind: str) -> bool:
    """Return True if actions of a type hold more than their type.

    >>> from games import GAMES
    >>> has_fields(GAMES["war"], "move"), has_fields(GAMES["war"], "end_moves")
    (True, False)
    """
    return len(_shapes(game)[kind].schema["properties"]) > 1


def carry_out(game: Game, state: State, actor: Seat, action: Any, chance: Chance) -> Match[State]:
    """Return the match after `actor` has done `action`, with its events and the new state. Raises Refused. `state` is untouched.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> war = GAMES["war"]
    >>> state = war.begin(["red", "blue"], {})
    >>> match = carry_out(war, state, "system", {"type": "advance"}, Drawn(lambda below: 0))
    >>> [event["type"] for event in match.events]
    ['symbols_chosen', 'map_built', 'deck_built', 'row_filled', 'match_started', 'phase_changed']
    >>> match.state["phase"], match.state["to_act"], state["phase"]
    ('placement', ['red'], 'setup')
    >>> carry_out(war, state, "red", {"type": "end_moves"}, Drawn(lambda below: 0))
    Traceback (most recent call last):
        ...
    games.kernel.Refused: not_your_turn
    """
    if state["outcome"] is not None:
        raise Refused(no("match_over"))
    action = admit(game, action)
    refusal = game.inadmissible(state, action)
    if refusal is not None:
        raise Refused(refusal)
    if actor not in state["to_act"]:
        raise Refused(no("not_your_turn", actor=actor, to_act=listed(state["to_act"])))
    phase = game.phases[state["phase"]]
    deed = phase.get(action["type"])
    if deed is None:
        raise Refused(no("wrong_phase", type=action["type"], phase=state["phase"], allowed=either(phase)))
    refusal = deed.judge(state, actor, action)
    if refusal is not None:
        raise Refused(refusal)
    match = Match(game, state, chance)
    match.action = action
    deed.act(match, actor, action)
    return match


def withdraw(game: Game, state: State, seat: Seat, chance: Chance) -> Match[State]:
    """Return the match after a seat has left it, with its events and the new state. `state` is untouched.

    The seat is one of `game.playing(state)`. It need not be its turn, and the match may be in any phase but that of a match that is over.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> war = GAMES["war"]
    >>> state = war.begin(["red", "blue"], {})
    >>> match = withdraw(war, state, "red", Drawn(lambda below: 0))
    >>> [event["type"] for event in match.events]
    ['seat_withdrawn', 'scores_counted', 'match_ended']
    >>> match.state["outcome"]["winners"]
    ['blue']
    """
    match = Match(game, state, chance)
    game.leave(match, seat)
    return match


def decide(game: Game, state: State, actor: Seat, action: Any, chance: Chance) -> list[Event]:
    """Return the events that follow from `action`. Raises Refused. `state` is untouched.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> war = GAMES["war"]
    >>> state = war.begin(["red", "blue"], {})
    >>> decide(war, state, "system", {"type": "advance"}, Drawn(lambda below: 0))[0]
    {'type': 'symbols_chosen', 'symbols': ['circles', 'bricks', 'wheel', 'arrow']}
    """
    return carry_out(game, state, actor, action, chance).events


def evolve(game: Game, state: State, event: Event) -> State:
    """Return the state after a recorded event. This never fails and needs neither rules nor chance. `state` is untouched.

    >>> from games import GAMES
    >>> war = GAMES["war"]
    >>> state = war.begin(["red", "blue"], {})
    >>> after = evolve(war, state, {"type": "round_started", "round": 2})
    >>> state["round"], after["round"]
    (1, 2)
    """
    after = state.copy()
    game.facts[event["type"]](after, event, copied)
    return after


def fold(game: Game, state: State, events: Iterable[Event]) -> State:
    """Return the state after recorded events, in their order. `state` is untouched.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> war = GAMES["war"]
    >>> state = war.begin(["red", "blue"], {})
    >>> events = decide(war, state, "system", {"type": "advance"}, Drawn(lambda below: 0))
    >>> fold(war, state, events) == carry_out(war, state, "system", {"type": "advance"}, Drawn(lambda below: 0)).state
    True
    """
    for event in events:
        state = evolve(game, state, event)
    return state


def remembered(game: Game, memory: Memory, events: Iterable[Event]) -> Memory:
    """Return what everybody who has watched a match knows beyond the document, such as cards that went into a deck face up.

    It is `{}` at the start, and follows from what a spectator is shown. `memory` is untouched.

    >>> from games import GAMES
    >>> game = GAMES["war_of_the_worlds"]
    >>> remembered(game, {}, [{"type": "round_started", "round": 2}])
    {}
    >>> remembered(game, {}, [{"type": "card_bought", "seat": "aliens", "card": "tripod", "cost": 3, "to": "discard"}])
    {'aliens bought': ['tripod']}
    """
    for event in events:
        if event["type"] == RESTORED:
            memory = event["memory"]
            continue
        note = game.remembers.get(event["type"])
        if note is not None:
            memory = note(memory, game.shown(event, SPECTATOR))
    return memory


def legal(game: Game, state: State, actor: Seat) -> list[Choice]:
    """Return all choices of an actor: everything that is offered and not refused. Empty for an actor who is not to act.

    >>> from games import GAMES
    >>> war = GAMES["war"]
    >>> state = war.begin(["red", "blue"], {})
    >>> legal(war, state, "system"), legal(war, state, "red")
    ([{'action': {'type': 'advance'}}], [])
    """
    if actor not in state["to_act"]:
        return []
    listed: list[Choice] = []
    for deed in game.phases[state["phase"]].values():
        listed += (deed.choices or deed.listed)(state, actor)
    return listed


class Blocked(NamedTuple):
    """An action of the phase that is not possible now, as its deed offers it, and why not."""

    action: Action
    refusal: Refusal


MOST_BLOCKED, MOST_BLOCKED_OF_DEED = 50, 20


def blocked(game: Game, state: State, actor: Seat) -> list[Blocked]:
    """Return what belongs to the phase, but is not possible for an actor now: at most 50 actions, and at most 20 of a deed.

    These are the actions that a deed offers and refuses. A deed that offers nothing, and whose action has no fields, is judged, too.
    Empty for an actor who is not to act.

    >>> from games import GAMES
    >>> war = GAMES["war"]
    >>> state = {**war.begin(["red", "blue"], {}), "phase": "cards", "to_act": ["red"], "map": []}
    >>> state = {**state, "hands": {"red": ["hammers_pink_1"]}, "reserve": {"red": 0}}
    >>> [(found.action, found.refusal.code, found.refusal.rule) for found in blocked(war, state, "red")]
    [({'type': 'reinforce', 'card': 'hammers_pink_1'}, 'nothing_to_place', 'WAR-REI-08')]
    >>> blocked(war, state, "blue")
    []
    """
    found: list[Blocked] = []
    if actor not in state["to_act"]:
        return found
    for kind, deed in game.phases[state["phase"]].items():
        offered = list(deed.offers(state, actor)) or ([] if deed.fields else [{"type": kind}])
        refused = (Blocked(action, refusal) for action in offered if (refusal := deed.refusal(state, actor, action)) is not None)
        found += islice(refused, min(MOST_BLOCKED_OF_DEED, MOST_BLOCKED - len(found)))
    return found


def any_action(game: Game, state: State, actor: Seat, number: Callable[[int], int]) -> Action | None:
    """Return one legal action of an actor, drawn uniformly over the offered actions, or None if nothing is legal.

    >>> from games import GAMES
    >>> war = GAMES["war"]
    >>> state = war.begin(["red", "blue"], {})
    >>> any_action(war, state, "system", lambda below: below - 1)
    {'type': 'advance'}
    """
    deeds = game.phases[state["phase"]]
    offered: list[Action] = []
    for deed in deeds.values():
        offered += deed.offers(state, actor)
    while offered:
        place = number(len(offered))
        action = offered[place]
        deed = deeds[action["type"]]
        if deed.refusal(state, actor, action) is None:
            ranges = deed.ranges(state, actor, action) if deed.ranges is not None else None
            return complete(action, ranges, number) if ranges else action
        offered[place] = offered[-1]
        offered.pop()
    return None


def total(fractions: Iterable[float]) -> float:
    """Return the sum of some fractions, added one after the other. `sum` gives other last digits since Python 3.12.

    >>> total([0.1] * 10)
    0.9999999999999999
    """
    found = 0.0
    for fraction in fractions:
        found += fraction
    return found


def sentence(game: Game, refusal: Refusal) -> str:
    """Return a refusal in words, with the facts of the case.

    >>> from games import GAMES
    >>> sentence(GAMES["war"], no("not_adjacent", "WAR-MOV-02", tile="c3", source="a1"))
    'c3 does not touch a1.'
    >>> sentence(GAMES["war"], no("match_over"))
    'The match is over; nothing more can be done in it.'
    """
    return Sentence(game.refusals.get(refusal.code) or SHARED_REFUSALS[refusal.code], refusal.facts)


_SHAPES: dict[tuple[str, int], dict[str, Shape]] = {}


def _shapes(game: Game) -> dict[str, Shape]:
    """Return the shape of every action, by its type. It is made once for each revision of a game."""
    found = _SHAPES.get((game.id, game.revision))
    if found is None:
        found = _SHAPES[game.id, game.revision] = {
            kind: record({"type": always(kind), **deed.fields}) for kind, deed in game.deeds().items()
        }
    return found
