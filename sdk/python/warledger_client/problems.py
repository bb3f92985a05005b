"""What can go wrong, as exceptions. Programs act on the class or on `code`; people read the sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

OTHER = "what the server says now is not what it has signed before"
PROBLEM_TEXT = 200  # characters that are kept of an error page


class Error(Exception):
    """Whatever this package raises."""


class Unreachable(Error):
    """The server did not answer in time. A request that creates something may have been carried out."""


class Problem(Error):
    """The server answered with an error. Its text is the status, the code, and a sentence for people.

    `status`, `code`, `detail`: the HTTP status, the stable code, the sentence. `rule`, `facts`, `game`: where the rules of a game or of the
    table refuse, the id of the rule or None, what the sentence is about, and the game. `place`: where a list of actions was refused, the
    place of the refused one, from 0. `problem`: the whole problem+json (RFC 9457).
    """

    def __init__(self, status: int, problem: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{status} {problem.get('code', '')}: {problem.get('detail', '')}")
        self.status = status
        self.problem = problem
        self.headers: Mapping[str, str] = headers or {}
        self.code = str(problem.get("code", ""))
        self.detail = str(problem.get("detail", ""))
        self.rule: str | None = problem.get("rule")
        self.facts: Mapping[str, Any] = problem.get("facts") or {}
        self.game: str | None = problem.get("game")
        self.place: int | None = problem.get("place")

    @property
    def retry_after(self) -> float | None:
        """How many seconds the server asks to wait, or None."""
        try:
            return float(self.headers.get("Retry-After", ""))
        except ValueError:
            return None


class Malformed(Problem):
    """400, 413 to 415, 431: the request has the wrong form. `errors` says where."""

    @property
    def errors(self) -> list[dict[str, str]]:
        """The places that are wrong: `where`, a JSON Pointer, and `what`."""
        return list(self.problem.get("errors", ()))


class Unauthorized(Problem):
    """401: there is no key, or no player has it."""


class Forbidden(Problem):
    """403: this player, or this key, may not do that."""


class NotFound(Problem):
    """404: there is no such thing."""


class Conflict(Problem):
    """409: this is not possible now."""


class Stale(Problem):
    """412: the match has moved on. `version` is the present one."""

    @property
    def version(self) -> int:
        """The present version of the match."""
        return int(self.problem.get("version", 0))


class Refused(Problem):
    """422: the rules do not allow it. `rule` is the id of the rule, `detail` the sentence."""


class Limited(Problem):
    """429: a limit is used up, and waiting for it would take longer than the client's patience. Nothing was carried out."""

    @property
    def limit(self) -> str:
        """The name of the limit, as in `GET /v1/limits`."""
        return str(self.problem.get("limit", ""))


class Unavailable(Problem):
    """5xx: the server could not answer, for longer than the client's patience. It may have carried the request out."""


class Alarm(Error):
    """The server has contradicted itself. What the exception has is evidence: where receipts are kept, it is saved in `file`."""

    def __init__(self, match: str, version: int, sentence: str) -> None:
        super().__init__(f"match {match}, version {version}: {sentence}" if match else sentence)
        self.match = match
        self.version = version
        self.sentence = sentence
        self.file: Path | None = None


class BrokenChain(Alarm):
    """An entry does not follow from those before it. `entry` is what the server has sent, `expected` the digest that follows."""

    def __init__(self, match: str, entry: Mapping[str, Any], expected: str | None, sentence: str) -> None:
        super().__init__(match, int(entry.get("version", 0)), sentence)
        self.entry = entry
        self.expected = expected


class TwoHistories(Alarm):
    """The server has said one thing about a version of a match and now says another.

    `kept` is the older receipt, `received` the one that differs from it. Where there is no receipt it is the digest of the entry.
    """

    def __init__(self, match: str, version: int, kept: str, received: str, sentence: str = OTHER) -> None:
        super().__init__(match, version, sentence)
        self.kept = kept
        self.received = received


class BadReceipt(Alarm):
    """A receipt is for something else, or no key of the server has signed it. `receipt` is its text."""

    def __init__(self, match: str, version: int, receipt: str, sentence: str) -> None:
        super().__init__(match, version, sentence)
        self.receipt = receipt


class TwoLogs(Alarm):
    """The server's log of all matches does not continue the log that it was.

    `kept` is the older checkpoint, `received` the other one, `hashes` the proof of consistency that should lead from one to the other.
    """

    def __init__(self, kept: str, received: str, hashes: Sequence[str], sentence: str) -> None:
        super().__init__("", 0, f"the server's log of all matches: {sentence}")
        self.kept = kept
        self.received = received
        self.hashes = list(hashes)


CLASSES: Mapping[int, type[Problem]] = {
    **dict.fromkeys((400, 413, 414, 415, 431), Malformed),
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Stale,
    422: Refused,
    429: Limited,
}


def problem_of(status: int, body: bytes, headers: Mapping[str, str]) -> Problem:
    """Return the exception for an answer. If its body is no JSON object, the text becomes the `detail`.

    >>> problem_of(422, b'{"code": "not_adjacent", "detail": "a1 does not border c7.", "rule": "WAR-MOV-03"}', {}).rule
    'WAR-MOV-03'
    >>> problem_of(502, b"<html>", {})
    Unavailable('502 : <html>')
    """
    problem: Any
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"detail": body.decode(errors="replace")[:PROBLEM_TEXT]}
    return CLASSES.get(status, Unavailable if status >= 500 else Problem)(status, problem, headers)


def parsed(text: bytes | str) -> Any:
    """Return the JSON in an answer. Raises Unreachable if it is none, as when something between here and the server has answered."""
    try:
        return json.loads(text)
    except ValueError:
        raise Unreachable("the answer is no JSON, so it is not that of a Warledger server") from None
