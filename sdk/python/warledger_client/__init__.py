"""A client of Warledger, the service for board games whose matches can be replayed and audited. README.md shows how to begin.

`Client` is for ordinary programs and `AsyncClient` for `async` ones; both have the same methods. `warledger_client.types` has the types of
requests and answers, for type checkers.
"""

from .asynchronous import AsyncClient, AsyncMatch, AsyncTurn
from .evidence import Evidence, Receipt
from .problems import (
    Alarm,
    BadReceipt,
    BrokenChain,
    Conflict,
    Error,
    Forbidden,
    Limited,
    Malformed,
    NotFound,
    Problem,
    Refused,
    Stale,
    TwoHistories,
    TwoLogs,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from .reading import News, in_the_game
from .receipts import Receipts
from .signing import Key
from .synchronous import Client, Match, Turn

__all__ = [
    "Alarm", "AsyncClient", "AsyncMatch", "AsyncTurn", "BadReceipt", "BrokenChain", "Client", "Conflict", "Error", "Evidence",
    "Forbidden", "Key", "Limited", "Malformed", "Match", "News", "NotFound", "Problem", "Receipt", "Receipts", "Refused", "Stale",
    "Turn", "TwoHistories", "TwoLogs", "Unauthorized", "Unavailable", "Unreachable", "in_the_game",
]  # fmt: skip
