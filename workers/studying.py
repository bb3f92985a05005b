"""Studying: hints for practice matches, and analyses and puzzles of finished matches. They do not change a match; whoever asked gets the
answer.

An analysis and a puzzle are made in parts, so that they never occupy a worker for long. A lost part is made again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import structlog

from events import puzzles, recall
from events.due import NotDue, Owed
from events.errors import PlatformError
from events.platform import Platform
from events.store.queue.studies import hinted
from players.analysis import Judged, rounded
from players.level import Option
from record.decisions import Decision, decisions
from record.entries import parse
from record.puzzles import LEVEL, Puzzle, Weighed, id_of, listed, weighed
from record.thinking.judging import advice, analysis, compares, judged
from record.thinking.puzzling import Riddle, compared
from workers.brake import Ending, is_ending

PART = 0.25  # seconds after which a part of an analysis ends, at the end of the current decision
MOST_OPTIONS = 100  # how many options a hint has, the best ones

log = structlog.get_logger(__name__)


def hint(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Think for a seat of a practice match and store the answer. Nothing is due next.

    Raises NotDue if the match has moved on or the hint may not be given; Ending, NoMatch, StoreUnavailable, and any error of the level.
    """
    with _failing(platform, work):
        return _hint(platform, work)


def analyse(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Judge the next decisions of a finished match. Return the work for the rest, or nothing if all are judged.

    Raises NotDue if the analysis is not wanted any more or not allowed; Ending, NoMatch, StoreUnavailable, and any error of the level.
    """
    with _failing(platform, work):
        return _analyse(platform, work)


def puzzle(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Do the next part of a puzzle, or judge an action that somebody tries in one. Return the work for the rest, or nothing.

    Raises NotDue if it is not wanted any more or not allowed; Ending, NoMatch, StoreUnavailable, and any error of the level.
    """
    with _failing(platform, work):
        if is_ending():
            raise Ending
        study, decision = platform.studies.look(work), puzzles.decision(platform, work.match, work.version)
        if study is None or study.answer is not None or decision is None:
            raise NotDue(work.member)
        before, entry = decision
        game = recall.rules_of(platform, before)
        made = not work.target and platform.store.puzzles.get(id_of(work.match, work.version)) is not None
        if made or not compares(game, len(before.document["seats"]), LEVEL):
            raise NotDue(work.member)
        riddle = Riddle(game, before.document, entry.actor, before.memory)
        if work.target:
            platform.studies.answer(work, orjson.dumps(listed(riddle.weigh(orjson.loads(work.target)))))
            return ()
        return _make(platform, work, decision, study.asker, riddle)


def _make(platform: Platform, work: Owed, decision: Decision, asker: str, riddle: Riddle) -> tuple[Owed, ...]:
    """Do the next part of a puzzle: find the actions to judge, or judge one of them. After the last one, store the puzzle."""
    parts = [orjson.loads(part) for part in platform.studies.parts(work)]
    first: dict[str, Any] = parts[0] if parts else {}
    judged: list[Weighed] = [weighed(part) for part in parts[1:]]
    until = time.monotonic() + PART
    while not first or len(judged) < len(first["actions"]):
        if not first:
            actions, found, count = riddle.candidates(decision.entry.action)
            first = {"actions": actions, "found": found, "count": count}
            part = orjson.dumps(first)
        else:
            judged.append(riddle.weigh(first["actions"][len(judged)]))
            part = orjson.dumps(listed(judged[-1]))
        if not platform.studies.add(work, len(judged), part):
            return ()
        if time.monotonic() >= until or is_ending():
            return (work,)
    ranked = compared(judged, first["found"], first["count"])
    answer: dict[str, Any] = {}
    if ranked is not None:
        before, entry = decision
        made = Puzzle(
            work.match, work.version, before.game, entry.actor, asker, platform.clock.now(), ranked.difficulty, ranked.gap, ranked.weighed
        )
        platform.store.puzzles.put(made)
        answer = {"id": made.id}
    platform.studies.answer(work, orjson.dumps(answer))
    log.info("study_done", match=work.match, version=work.version, kind=work.kind)
    return ()


@contextmanager
def _failing(platform: Platform, work: Owed) -> Iterator[None]:
    """Mark a study as failed if the block fails, for whoever waits for it."""
    try:
        yield
    except (Ending, NotDue, PlatformError):
        raise
    except Exception:
        platform.studies.fail(work)
        raise


def _hint(platform: Platform, work: Owed) -> tuple[Owed, ...]:
    if is_ending():
        raise Ending
    position = recall.position(platform, work.match)
    seat, level = hinted(work.target)
    if position.version != work.version or seat not in position.to_act or not position.table["practice"]:
        raise NotDue(work.member)
    thought = advice(recall.rules_of(platform, position), position.document, seat, position.memory, level)
    options = in_order(thought.options[:MOST_OPTIONS])
    platform.studies.answer(work, orjson.dumps({"action": thought.action, "iterations": thought.spent, "options": options}))
    log.info("study_done", match=work.match, version=work.version, kind=work.kind)
    return ()


def in_order(options: Iterable[Option]) -> list[dict[str, Any]]:
    """Return the options of a hint, the best first, with worths that never rise.

    A search follows poor actions less far than good ones, so their worth may be too high. Such an action gets the worth of the one before.
    """
    found: list[dict[str, Any]] = []
    least = 1.0
    for option in options:
        least = min(least, rounded(option.worth))
        found.append({**option._asdict(), "worth": least})
    return found


def _analyse(platform: Platform, work: Owed) -> tuple[Owed, ...]:
    if is_ending():
        raise Ending
    position, level = recall.position(platform, work.match), work.target
    game = recall.rules_of(platform, position)
    study = platform.studies.look(work)
    if study is None or study.answer is not None or not position.ended or position.document["outcome"] is None:
        raise NotDue(work.member)
    if not compares(game, len(position.document["seats"]), level):
        raise NotDue(work.member)
    reached = 0 if study.last is None else int(orjson.loads(study.last)["version"])
    before = recall.state_at(platform, work.match, reached) if reached else None
    until, found = time.monotonic() + PART, list[Judged]()
    for decision in decisions(platform.games, map(parse, platform.store.log.read_all(work.match, reached)), before):
        judgement = judged(game, decision, level)
        found += [] if judgement is None else [judgement]
        if time.monotonic() >= until or is_ending():
            part = orjson.dumps({"version": decision.entry.version, "judged": list(map(list, found))})
            return (work,) if platform.studies.add(work, study.parts, part) else ()
    parts = [orjson.loads(part)["judged"] for part in platform.studies.parts(work)]
    whole = analysis(position, level, [*(Judged(*each) for part in parts for each in part), *found])
    platform.studies.answer(work, orjson.dumps(whole))
    log.info("study_done", match=work.match, version=position.version, kind=work.kind)
    return ()
