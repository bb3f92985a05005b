"""The shapes of problems and of their kinds."""

from __future__ import annotations

from games.kernel import SHARED_REFUSALS
from games.schema import Shape, anything, described, either, ids, listing, nullable, optional, record, text, unchecked, whole
from service.api.shapes import VERSION, Games, named, prefix
from service.http.limits import SCOPES
from service.http.problems import CODES

CODE = named("ProblemCode", ids(CODES, "Why the platform refuses."))
REFUSAL_CODE = named("RefusalCode", ids(SHARED_REFUSALS, "Why any game refuses."))
SCOPE = named("LimitScope", ids(SCOPES, "What a limit applies to."))

KIND = named(
    "ProblemKind",
    record(
        {
            "code": described(CODE, "The code, which is stable."),
            "status": whole(400, 599, "The HTTP status."),
            "title": text(about="A short title."),
            "detail": text(about="A sentence. A name in braces stands for a fact of the case."),
        },
        "One kind of problem: its status, its title and its sentence.",
    ),
)
KINDS = named("ProblemKinds", record({"problems": listing(KIND, about="Every kind.")}, "Every kind of problem."))

_ERROR = record(
    {"where": text(about="The place, as a JSON Pointer."), "what": text(about="What is wrong there.")},
    "What is wrong in one place.",
)


def problem(games: Games) -> Shape:
    """Return the shape of a problem (RFC 9457). Its code comes from the platform or from a game."""
    codes = [named(f"{prefix(game)}RefusalCode", ids(game.refusals, f"Why {game.title} refuses.")) for game in games.values()]
    return named(
        "Problem",
        record(
            {
                "type": unchecked({"type": "string", "format": "uri-reference"}, "The address of the explanation."),
                "title": text(about="A short title."),
                "status": whole(400, 599, "The HTTP status."),
                "code": either(CODE, REFUSAL_CODE, *codes, about="The code is stable. Programs should act on it."),
                "detail": text(about="What happened in this case, in a sentence."),
                "errors": optional(listing(_ERROR, about="Where a request is malformed.")),
                "version": optional(described(VERSION, "When stale: the present version of the match.")),
                "game": optional(text(about="When a game refuses: the game.")),
                "rule": optional(nullable(text(about="When a game refuses: the id of the rule, if there is one."))),
                "facts": optional(anything("When a game refuses: the facts of the case.")),
                "limit": optional(text(about="When a limit is used up: its name. `GET /v1/limits` lists them.")),
                "scope": optional(described(SCOPE, "When a limit is used up: what it applies to.")),
                "amount": optional(whole(0, about="When a limit is used up: its amount.")),
                "retry_after": optional(whole(1, about="When a limit is used up: the seconds to wait, as in `Retry-After`.")),
                "statement": optional(text(about="When a signature does not fit: the text that should be signed.")),
                "place": optional(whole(0, about="When an action of a list is refused: its place, from 0.")),
            },
            "Why a request failed (RFC 9457).",
        ),
    )
