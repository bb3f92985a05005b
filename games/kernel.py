"""The kernel: how a game is put together from deeds and facts, and the four things one can do with it.

`decide` carries out an action and gives its events, `evolve` folds one event, `legal` lists an actor's choices, `Scratch` plays on a
private copy for search. Everything here is pure: a document comes in, a new one goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from games.chance import Chance
from games.choices import Choice, Ranges, complete
from games.documents import Document, Own, clone, copied, owned
from games.schema import Fields, Malformed, Shape, always, record

State = Document
Seat = str
Action = dict[str, Any]
Event = dict[str, Any]
Fact = Callable[[State, Event, Own], None]
Memory = dict[str, Any]

SYSTEM = "system"
SPECTATOR = "spectator"
AUDITOR = "auditor"

SHARED_REFUSALS: Mapping[str, str] = {
    "match_over": "The match is over; nothing more can be done in it.",
    "bad_action": "This is no action of the game: {reason}.",
    "not_your_turn": "It is not for {actor} to act now; {to_act} must.",
    "wrong_phase": "{type} does not belong to the phase {phase}; there one may {allowed}.",
    "bad_options": "The match cannot be set up like this: {reason}.",
}


class Refusal(NamedTuple):
    """Why an action is not legal: a stable code, the id of the rule that forbids it, and the facts of the case."""

    code: str
    rule: str | None
    facts: Mapping[str, Any]


def no(code: str, rule: str | None = None, **facts: Any) -> Refusal:
    """A refusal by `rule`; `facts` fill the sentence that the game has for the code."""
    return Refusal(code, rule, facts)


class Refused(Exception):
    """An action, or the options of a match, that the rules do not allow. Nothing has changed. `place`: which of a list, from 0."""

    def __init__(self, refusal: Refusal, place: int = 0) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal
        self.place = place

    @property
    def code(self) -> str:
        """The refusal's stable code."""
        return self.refusal.code


class Deed(NamedTuple):
    """Something that an actor can choose: an action's shape, and three functions that stand side by side.

    `offers` gives at least every legal action of the actor, with its `type`; of an open one, its fixed fields. `refusal` gives the
    first rule broken. `act` emits the facts; it is called only with what is not refused. `ranges`, for an open deed, gives the counts
    that may be chosen: `{}` where the action is complete as it is offered, None where it is not legal.
    """

    fields: Fields
    offers: Callable[[State, Seat], Iterable[Action]]
    refusal: Callable[[State, Seat, Action], Refusal | None]
    act: Callable[[Table, Seat, Action], None]
    ranges: Callable[[State, Seat, Action], Ranges | None] | None = None


class Guess(Protocol):
    """Fills what a viewer cannot see: a document that agrees with the view, and with what everybody has been shown before."""

    def __call__(self, view: State, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
        """`memory` as `remembered` gives it; without one, nothing is known but the view."""


class Seats(NamedTuple):
    """The seats that a game knows, and how many of them a match takes."""

    ids: tuple[Seat, ...]
    least: int
    most: int


def fits(state: State, action: Action) -> Refusal | None:
    """For a game whose shapes say all that an action must be."""
    return None


class Game(NamedTuple):
    """A whole game by name; see docs/adding-a-game.md for what each part must do."""

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
    view: Callable[[State, str], State]
    shown: Callable[[Event, str], Event]
    guess: Guess
    worth: Callable[[State, Seat], float]
    invariants: Callable[[State], Iterator[str]]
    board: Callable[[State, str], list[str]]
    folder: Path
    sets: frozenset[str] = frozenset()
    remembers: Mapping[str, Callable[[Memory, Event], Memory]] = MappingProxyType({})
    misfit: Callable[[State, Action], Refusal | None] = fits

    def __repr__(self) -> str:
        return f"<Game {self.id}>"

    def deeds(self) -> dict[str, Deed]:
        """Every deed by the type of its action; where several phases share a type, the first."""
        found: dict[str, Deed] = {}
        for deeds in self.phases.values():
            for kind, deed in deeds.items():
                found.setdefault(kind, deed)
        return found


class Table:
    """A match while one action is carried out: the state so far, the events so far, and chance."""

    __slots__ = ("state", "events", "chance", "facts")

    def __init__(self, game: Game, state: State, chance: Chance) -> None:
        self.facts = game.facts
        self.state = state
        self.events: list[Event] = []
        self.chance = chance

    def emit(self, type: str, **facts: Any) -> None:
        """Record a fact and fold it at once; the only way in which rules change a match."""
        event = {"type": type, **facts}
        self.events.append(event)
        state = self.state.copy()
        self.facts[type](state, event, copied)
        self.state = state


class Scratch(Table):
    """A table for search: the same deeds and facts on a private copy, folded where it lies, with no events kept."""

    __slots__ = ("phases",)

    def __init__(self, game: Game, state: State, chance: Chance) -> None:
        super().__init__(game, clone(state), chance)
        self.phases = game.phases

    def emit(self, type: str, **facts: Any) -> None:
        """Fold a fact in place."""
        self.facts[type](self.state, facts, owned)

    def play(self, actor: Seat, action: Action) -> None:
        """Carry out an action that is known to be legal; nothing is checked."""
        self.phases[self.state["phase"]][action["type"]].act(self, actor, action)


def admit(game: Game, action: Any) -> Action:
    """The action as the rules want it: its shape checked, counts of 0 dropped. Raises Refused `bad_action`."""
    kind = action.get("type") if isinstance(action, dict) else None
    shape = _shapes(game).get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise Refused(no("bad_action", reason="it is not an object with a `type` that the game knows"))
    try:
        cleaned: Action = shape.clean(action)
    except Malformed as reason:
        raise Refused(no("bad_action", reason=f"{kind}: {reason}")) from None
    return cleaned


def carry_out(game: Game, state: State, actor: Seat, action: Any, chance: Chance) -> Table:
    """The table after `actor` has done `action`, with its events and the state they lead to. Raises Refused; `state` is untouched."""
    if state["outcome"] is not None:
        raise Refused(no("match_over"))
    action = admit(game, action)
    refusal = game.misfit(state, action)
    if refusal is not None:
        raise Refused(refusal)
    if actor not in state["to_act"]:
        raise Refused(no("not_your_turn", actor=actor, to_act=" and ".join(state["to_act"])))
    phase = game.phases[state["phase"]]
    deed = phase.get(action["type"])
    if deed is None:
        raise Refused(no("wrong_phase", type=action["type"], phase=state["phase"], allowed=" or ".join(phase)))
    refusal = deed.refusal(state, actor, action)
    if refusal is not None:
        raise Refused(refusal)
    table = Table(game, state, chance)
    deed.act(table, actor, action)
    return table


def decide(game: Game, state: State, actor: Seat, action: Any, chance: Chance) -> list[Event]:
    """The events that follow from `action`. Raises Refused; `state` is untouched."""
    return carry_out(game, state, actor, action, chance).events


def evolve(game: Game, state: State, event: Event) -> State:
    """The state after a recorded event. Total, without rules or chance; `state` is untouched."""
    after = state.copy()
    game.facts[event["type"]](after, event, copied)
    return after


def fold(game: Game, state: State, events: Iterable[Event]) -> State:
    """The state after recorded events, in their order; `state` is untouched."""
    for event in events:
        state = evolve(game, state, event)
    return state


def remembered(game: Game, memory: Memory, events: Iterable[Event]) -> Memory:
    """What everybody who has watched a match knows beyond the document, such as cards that went into a deck face up; `{}` at its start.
    Made from what a spectator is shown; `memory` is untouched."""
    for event in events:
        note = game.remembers.get(event["type"])
        if note is not None:
            memory = note(memory, game.shown(event, SPECTATOR))
    return memory


def legal(game: Game, state: State, actor: Seat) -> list[Choice]:
    """All choices of `actor`: what is offered and not refused. Empty for whoever is not to act."""
    if actor not in state["to_act"]:
        return []
    listed: list[Choice] = []
    for deed in game.phases[state["phase"]].values():
        for action in deed.offers(state, actor):
            if deed.ranges is not None:
                ranges = deed.ranges(state, actor, action)
                if ranges is not None:
                    listed.append({"action": action, "choose": ranges} if ranges else {"action": action})
            elif deed.refusal(state, actor, action) is None:
                listed.append({"action": action})
    return listed


def any_action(game: Game, state: State, actor: Seat, number: Callable[[int], int]) -> Action | None:
    """One legal action of `actor`, even over what is offered; None where nothing is legal."""
    deeds = game.phases[state["phase"]]
    offered: list[Action] = []
    for deed in deeds.values():
        offered += deed.offers(state, actor)
    while offered:
        place = number(len(offered))
        action = offered[place]
        deed = deeds[action["type"]]
        if deed.ranges is not None:
            ranges = deed.ranges(state, actor, action)
            if ranges is not None:
                return complete(action, ranges, number)
        elif deed.refusal(state, actor, action) is None:
            return action
        offered[place] = offered[-1]
        offered.pop()
    return None


def sentence(game: Game, refusal: Refusal) -> str:
    """A refusal in words, with the facts of the case."""
    return (game.refusals.get(refusal.code) or SHARED_REFUSALS[refusal.code]).format_map(dict(refusal.facts))


_SHAPES: dict[str, dict[str, Shape]] = {}


def _shapes(game: Game) -> dict[str, Shape]:
    """The shape of every action, by its type; made once for each game."""
    found = _SHAPES.get(game.id)
    if found is None:
        found = _SHAPES[game.id] = {kind: record({"type": always(kind), **deed.fields}) for kind, deed in game.deeds().items()}
    return found
