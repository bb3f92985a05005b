"""Settings: what is chosen when a match is created and shown to everybody before anybody joins. Each has a shape, bounds and defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from games.kernel import Refusal, no
from games.lifecycle import VOID
from games.schema import Fields, Malformed, Schema, Shape, always, described, either, ids, known, optional, record, whole
from games.sentences import say
from table import data

NONE = "none"
PER_ACTION = "per_action"
BANK = "bank"
DAYS = "days"

FORFEIT = "forfeit"
SUBSTITUTE = "substitute"
SKIP = "skip"
WAIT = "wait"
POLICIES = (FORFEIT, SUBSTITUTE, SKIP, WAIT)
FINAL_POLICIES = (FORFEIT, SUBSTITUTE)
DECISIONS = (FORFEIT, SUBSTITUTE, VOID)
"""What the others may decide about a seat whose time has run out (TBL-VOT-01)."""

ALL = "all"

ACCEPTED = "accepted"
REQUIRED = "required"

Setting = dict[str, Any]


def _number(bounds: data.Bounds, about: str) -> Shape:
    """Return the shape of a whole number whose bounds are documented. `settings_refusal` checks them, with a sentence that names both."""
    low, high = bounds
    bounded: Schema = {"minimum": low, "maximum": high}
    shape = whole(about=f"{about}, {low} to {high}")
    return shape._replace(schema={**shape.schema, **bounded}, seen={**shape.seen, **bounded})


def _by_kind(kinds: Mapping[str, tuple[str, Fields]], about: str) -> Shape:
    """Return the shape of an object whose `kind` says which other fields it has. `kinds` gives each kind a description and its fields."""
    shapes = {
        kind: record({"kind": always(kind, "the kind of clock"), **fields}, description) for kind, (description, fields) in kinds.items()
    }

    def clean(given: Any) -> Any:
        shape = shapes.get(given["kind"]) if isinstance(given, dict) and isinstance(given.get("kind"), str) else None
        if shape is None:
            raise Malformed(f"expected an object whose `kind` is one of {', '.join(kinds)}")
        return shape.clean(given)

    return either(*shapes.values(), about=about)._replace(clean=clean)


def _clock(needed: bool) -> Shape:
    """Return the shape of a clock: with all its fields, or with those that have a default left out at will."""
    perhaps = (lambda shape: shape) if needed else optional
    kinds: Mapping[str, tuple[str, Fields]] = {
        NONE: (
            f"Nobody's time is limited. After {data.ABANDONMENT_DAYS} days without play the seats that must act forfeit.",
            {"claim_days": optional(_number(data.CLAIM_DAYS, "days without play after which a seat that waits may claim it; else never"))},
        ),
        PER_ACTION: ("A time for each action.", {"seconds": _number(data.SECONDS, "seconds for each action")}),
        BANK: (
            "A store of time, with an increment or a delay for each stretch: a time without a break in which the seat must act.",
            {
                "seconds": _number(
                    (0, data.SECONDS[1]), f"seconds in the bank at the start; less than {data.SECONDS[0]} only with such a delay"
                ),
                "increment": perhaps(_number(data.INCREMENT, "seconds that the bank gains at the end of each stretch; 0 if left out")),
                "delay": perhaps(_number(data.DELAY, "seconds of each stretch that the bank does not lose; 0 if left out")),
            },
        ),
        DAYS: (
            "Play by correspondence.",
            {
                "hours": _number(data.HOURS, "hours for each stretch, which is mostly a turn"),
                "vacation_days": perhaps(_number(data.VACATION_DAYS, "days that are used when these hours are over; 0 if left out")),
            },
        ),
    }
    return _by_kind(kinds, "the clock of each seat")


def _time_out(needed: bool) -> Fields:
    """Return the fields that say what a time-out does: all needed, or those left out at will have their default."""
    perhaps = (lambda shape: shape) if needed else optional
    return {
        "policy": perhaps(described(known(POLICIES, "a policy"), f"what a time-out does; {data.POLICY} if left out")),
        "level": perhaps(described(known(data.LEVELS, "a level of play"), f"the level of play of a substitute; {data.LEVEL} if left out")),
        "in_a_row": perhaps(
            _number(
                data.IN_A_ROW,
                f"from which time-out of a seat in a row `then` holds; {data.USUAL_IN_A_ROW} if left out",
            )
        ),
        "then": perhaps(
            described(
                known(FINAL_POLICIES, "a final policy"),
                f"what happens then: it forfeits, or a substitute plays it to the end; {data.THEN} if left out",
            )
        ),
    }


_DELAY = record({"delay": _number(data.SPECTATORS_DELAY, "how many versions late")}, "Spectators see play some versions late.")
_SPECTATORS_ABOUT = "what spectators see of play before the match is over: all, none, or all with a delay"

CLOCK = _clock(needed=True)
CLOCK_GIVEN = _clock(needed=False)
TIME_OUT = either(
    record({}, "Nothing: the match has no clock."),
    record(_time_out(needed=True), "What a time-out does."),
    about="what a time-out does; empty without a clock",
)
TIME_OUT_GIVEN = record(_time_out(needed=False), about="what a time-out does; only with a clock")
SPECTATORS = either(ids([ALL, NONE]), _DELAY, about=_SPECTATORS_ABOUT)
SIGNED_ABOUT = f"whether people sign what they do after the start: {REQUIRED}, or {ACCEPTED} if left out"
SIGNED = ids([ACCEPTED, REQUIRED], SIGNED_ABOUT)
SIGNED_GIVEN = described(known([ACCEPTED, REQUIRED], "accepted or required"), SIGNED_ABOUT)
SPECTATORS_GIVEN = either(known([ALL, NONE], "all or none"), _DELAY, about=_SPECTATORS_ABOUT)
for _shape, _title in ((CLOCK, "Clock"), (TIME_OUT, "TimeOut")):
    _shape.schema["title"] = _title


DISPUTE_DAYS = _number(
    data.WAIT_DAYS, f"for how many days, at most, the disputes of a seat freeze the match; {data.USUAL_WAIT_DAYS} if left out"
)


def settings_refusal(action: Mapping[str, Any], usual: Setting) -> Refusal | None:
    """Return why the settings of a new match are refused, or None: the first one that is out of its bounds (TBL-CLK-01, TBL-TIM-01,
    TBL-PRV-01, TBL-DIS-14). `usual`: the clock of a match for which none is chosen."""
    clock: Setting = action.get("clock", usual)
    for name, reason in _beyond(clock):
        return no("bad_settings", "TBL-CLK-01", setting=f"clock.{name}", reason=reason)
    time_out: Setting | None = action.get("time_out")
    if time_out is not None:
        if clock["kind"] == NONE:
            return no("bad_settings", "TBL-TIM-01", setting="time_out", reason=say("the match has no clock"))
        if "in_a_row" in time_out and not data.IN_A_ROW[0] <= time_out["in_a_row"] <= data.IN_A_ROW[1]:
            return no("bad_settings", "TBL-TIM-01", setting="time_out.in_a_row", reason=_from_to(data.IN_A_ROW))
    spectators = action.get("spectators", ALL)
    if isinstance(spectators, dict) and not data.SPECTATORS_DELAY[0] <= spectators["delay"] <= data.SPECTATORS_DELAY[1]:
        return no("bad_settings", "TBL-PRV-01", setting="spectators.delay", reason=_from_to(data.SPECTATORS_DELAY))
    if not data.WAIT_DAYS[0] <= action.get("dispute_days", data.USUAL_WAIT_DAYS) <= data.WAIT_DAYS[1]:
        return no("bad_settings", "TBL-DIS-14", setting="dispute_days", reason=_from_to(data.WAIT_DAYS))
    return None


def usual_clock(people: int) -> Setting:
    """Return the clock of a match for which none is chosen: days if two people or more may play, else none (TBL-CLK-09)."""
    return {"kind": DAYS, "hours": data.USUAL_HOURS} if people > 1 else {"kind": NONE}


def chosen_settings(action: Mapping[str, Any], usual: Setting) -> dict[str, Any]:
    """Return the settings of a new match with their defaults filled in, without those that are as if nothing was chosen.

    (TBL-CLK-01, TBL-CLK-09, TBL-TIM-01, TBL-PRV-01, TBL-DIS-14, TBL-SIG-01) `usual`: the clock of a match for which none is chosen.
    """
    clock: Setting = action.get("clock", usual)
    found: dict[str, Any] = {"dispute_days": action.get("dispute_days", data.USUAL_WAIT_DAYS)}
    if clock["kind"] == NONE:
        found |= {"clock": clock} if len(clock) > 1 else {}
    else:
        left_out: Setting = {"policy": data.POLICY, "level": data.LEVEL, "in_a_row": data.USUAL_IN_A_ROW, "then": data.THEN}
        found |= {"clock": {**_USUAL.get(clock["kind"], {}), **clock}, "time_out": {**left_out, **action.get("time_out", {})}}
    if action.get("spectators", ALL) != ALL:
        found["spectators"] = action["spectators"]
    if action.get("signed", ACCEPTED) != ACCEPTED:
        found["signed"] = action["signed"]
    return found


_USUAL: Mapping[str, Setting] = {BANK: {"increment": 0, "delay": 0}, DAYS: {"vacation_days": 0}}
_BOUNDS: Mapping[str, Mapping[str, data.Bounds]] = {
    NONE: {"claim_days": data.CLAIM_DAYS},
    PER_ACTION: {"seconds": data.SECONDS},
    BANK: {"increment": data.INCREMENT, "delay": data.DELAY},
    DAYS: {"hours": data.HOURS, "vacation_days": data.VACATION_DAYS},
}


def _beyond(clock: Setting) -> Iterator[tuple[str, str]]:
    """Yield each field of a clock that is out of its bounds, and why."""
    for name, bounds in _BOUNDS[clock["kind"]].items():
        if name in clock and not bounds[0] <= clock[name] <= bounds[1]:
            yield name, _from_to(bounds)
    if clock["kind"] == BANK and not data.SECONDS[0] <= clock["seconds"] <= data.SECONDS[1]:
        if clock["seconds"] != 0:
            yield "seconds", say("{bounds}, or 0 with a delay", bounds=_from_to(data.SECONDS))
        elif clock.get("delay", 0) < data.SECONDS[0]:
            yield "seconds", say("it may be 0 only with a delay of at least {seconds} seconds", seconds=data.SECONDS[0])


def _from_to(bounds: data.Bounds) -> str:
    return say("it must be from {least} to {most}", least=bounds[0], most=bounds[1])
