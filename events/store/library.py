"""Build the library of Redis functions from the Lua scripts of this folder, and the rights of the users of the store.

The service's user may read, and may call these functions. Redis checks a user's rights inside functions, too. So the user needs the right
to each writing command of the functions, but must not know its name. The server has renamed these commands, for example `XADD` to 11 random
letters and digits and an `a`: short, since the append-only file has the names in full. Only the keeper and the functions have the new
names. The functions also work without renamed commands, but then the user can send those commands directly.
The archivist is a user of its own. It may do what the service may, and call `archive`.

The names of the library and of its functions contain a hash of the scripts. So different versions of the code can use one store.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

FORMAT = 3  # of everything in the store; data of another format is refused
FAMILY = "warledger_"
SHARED = ("shared", "filing", "away")  # not functions, but the code that the functions share, in this order

_PLAYER, _DELIVERIES, _UNTOLD, _BEGUN = "~{players}:p:*", "~{players}:l:*", "~{players}:untold", "~{store}:begun"
_SIGNING_KEYS, _UNLOGGED = "~{players}:s:*", "~{players}:unlogged"
_PROCESSES, _OUTAGES, _NOW = "~{pulse}:processes", "~{pulse}:outages", "~{pulse}:now"
_SERVER_LOG = "~{log}:*"
_RATINGS = "~{ratings}:*"
_PUZZLES = "~{puzzles}:*"
_BARRIERS = " ".join(f"~{{{tag}}}:barrier" for tag in ("p?", "p??", "p???", "players", "log", "ratings", "puzzles", "store", "pulse"))


def _of_matches(*kinds: str, sign: str = "~") -> str:
    """Return the patterns of the keys of matches of some kinds. `?` keeps a pattern inside its hash tag."""
    return " ".join(f"{sign}{{{tag}}}:{kind}" for kind in kinds for tag in ("p?", "p??", "p???"))


_INDEXES = _of_matches("i:*", "due", "pending", "refused", "hooks", "groups", "passing")

# The writing commands of the functions, and the keys or channels that the service's user may apply each to. They are renamed, so the server
# must write each command to its append-only file under the name that was called. For keys that expire, the server writes DEL and PEXPIREAT
# under those names. So functions call UNLINK and PEXPIRE instead, and SET without an expiry.
WRITES: Mapping[str, str] = {
    "XADD": f"{_of_matches('s:*', 'filed')} {_SERVER_LOG}",
    "XDEL": _of_matches("filed"),
    "SET": f"{_of_matches('x:*', 'm:*', 'g:*')} {_BEGUN} {_BARRIERS}",
    "HSET": (
        f"{_of_matches('d:*', 'r:*', 'f:*', 'w:*', 'hooked', 'cursors', 'counts', 'given')} {_PLAYER} {_DELIVERIES} "
        f"{_SIGNING_KEYS} {_PROCESSES} {_NOW} {_SERVER_LOG} {_RATINGS} {_PUZZLES}"
    ),
    "HDEL": f"{_of_matches('d:*', 'f:*', 'hooked', 'cursors')} {_PLAYER} {_SIGNING_KEYS} {_NOW} {_RATINGS} {_PUZZLES}",
    "ZADD": f"{_INDEXES} {_UNTOLD} {_UNLOGGED} {_OUTAGES} {_RATINGS} {_PUZZLES}",
    "ZREM": f"{_INDEXES} {_UNTOLD} {_UNLOGGED} {_OUTAGES} {_PUZZLES}",
    "UNLINK": f"{_of_matches('m:*', 'd:*', 'r:*', 's:*', 'x:*', 'f:*', 'w:*', 'g:*')} {_PLAYER} {_DELIVERIES} {_NOW} {_RATINGS} {_PUZZLES}",
    "PUBLISH": f"{_of_matches('heads', 'hooks', sign='&')} &{{players}}:changed",
}

# The writing commands that only the archivist may apply. The function `archive` begins with one, so for everybody else it changes nothing.
ARCHIVING: Mapping[str, str] = {"XTRIM": f"{_of_matches('s:*')} {_SERVER_LOG}", "UNLINK": _SERVER_LOG}
RENAMED: Mapping[str, str] = {**WRITES, **ARCHIVING}

# The rights of the service. It may read everything. No command here disturbs another connection or reveals the names of commands.
RIGHTS = (
    "resetkeys %R~* resetchannels &* nocommands +@read -@dangerous -@blocking -lcs -pfcount "
    "+hello +auth +ping +time +memory|stats +client|setinfo +client|setname +subscribe +unsubscribe +wait +role (~* +fcall +fcall_ro) "
    + " ".join(f"({patterns} +{command.lower()})" for command, patterns in WRITES.items())
)
ARCHIVIST = "archivist"  # the Redis user that moves finished matches to the archive
ARCHIVIST_RIGHTS = " ".join([RIGHTS, *[f"({patterns} +{command.lower()})" for command, patterns in ARCHIVING.items()]])

# A server whose memory is full refuses every function that writes, except those that free memory, and the barrier and `updates`, which take
# hardly any. The function RESERVE has a second name under which it is not refused, for players who resign or leave.
FREEING = frozenset(
    (
        *("archive", "barrier", "delete_hook", "delete_player", "drop_puzzle", "forget_leaves"),
        *("remove", "remove_unstarted", "revoke_key", "shed", "updates"),
    )
)
RESERVE = "append"

_MARK = f"# Warledger, data of format {FORMAT}"
_CALL = re.compile(r"redis\.p?call\('([A-Z]+)'")
_WORD = re.compile(r"\w+")
_ANY_CALL = re.compile(r"\bp?call\b")


class Script(NamedTuple):
    """A function of the library: the command that calls it, and its name."""

    command: str
    function: str


HALTED = "HALTED "  # what an answer begins with instead of a result, while nothing may be written
MOVED = b"moved-to "  # what the mark of a store begins with that has moved


class Halted(NamedTuple):
    """Let functions answer with a sentence, until a moment in seconds since 1970: those that write, or all of them."""

    until: int
    sentence: str
    everything: bool


class UnknownCommand(Exception):
    """A script calls a command in a way that the library cannot rename. The text says which script."""


def _source(name: str) -> str:
    return (Path(__file__).parent / f"{name}.lua").read_text()


def _names() -> list[str]:
    return sorted(file.stem for file in Path(__file__).parent.glob("*.lua") if file.stem not in SHARED)


def _version() -> str:
    """Return a hash of all scripts."""
    return sha256("\0".join(f"{name}\0{_source(name)}" for name in [*SHARED, *_names()]).encode()).hexdigest()[:16]


VERSION = _version()
NAME = FAMILY + VERSION


def script(name: str) -> Script:
    """Return the function of a script in this folder, by name."""
    return Script("FCALL" if _writes(_source(name)) else "FCALL_RO", f"{name}_{VERSION}")


def with_reserve(script: Script) -> Script:
    """Return the function of RESERVE that also writes when the memory of the server is full."""
    return script._replace(function=f"{script.function}_reserve")


def code(renamed: Mapping[str, str], halted: Halted | None = None) -> str:
    """Return the source of the library for a server with renamed commands. `halted`: the functions refuse."""
    functions = [_function(name, _source(name), renamed, halted) for name in _names()]
    shared = [_with_names(name, _source(name), renamed) for name in SHARED]
    return "\n".join([f"#!lua name={NAME}", *shared, *functions])


def new_token() -> str:
    """Return what new names of commands begin with: a letter and 10 letters or digits: 56 bits, which nobody guesses over a connection."""
    return secrets.choice(string.ascii_lowercase) + "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(10))


def configuration(token: str) -> str:
    """Return the lines of a server's configuration that rename the commands. The first line states the format of the data."""
    names = zip(RENAMED, string.ascii_lowercase, strict=False)
    return "\n".join([_MARK, *[f"rename-command {command} {token}{letter}" for command, letter in names], ""])


def fits(configuration: str) -> bool:
    """Return True if a configuration states this format, and renames the commands of these functions."""
    return configuration.startswith(f"{_MARK}\n") and renames(configuration).keys() == RENAMED.keys()


def other_format(place: str) -> str:
    """Return a sentence for an operator: this place has data of another format."""
    return (
        f"{place} has data of another format. This version of Warledger reads only format {FORMAT}. Nothing was changed. "
        "Start the version that wrote it, or name an empty folder with --data or an empty server in WARLEDGER_REDIS_URL"
    )


def moved_to(place: str) -> str:
    """Return a sentence for an operator: the matches of a store are elsewhere."""
    return f"The matches of this store have moved to {place}. Name that in WARLEDGER_REDIS_URL"


def renames(configuration: str) -> dict[str, str]:
    """Return the new name of each command that a configuration renames."""
    lines = [line.split() for line in configuration.splitlines()]
    return {words[1].upper(): words[2] for words in lines if len(words) == 3 and words[0].lower() == "rename-command"}


def _function(name: str, source: str, renamed: Mapping[str, str], halted: Halted | None) -> str:
    flag = "" if _writes(source) else "'no-writes'"
    registered = [(f"{name}_{VERSION}", "'allow-oom'" if name in FREEING else flag)]
    if name == RESERVE:
        registered.append((f"{name}_{VERSION}_reserve", "'allow-oom'"))
    names = [
        f"redis.register_function{{function_name='{function}', flags={{{flags}}}, callback=do_{name}}}" for function, flags in registered
    ]
    first = []
    if halted is not None and (halted.everything or _writes(source)):
        sentence = re.sub(r"[^ -~]|['\\\\]", "", halted.sentence)
        first = [f"if tonumber(redis.call('TIME')[1]) < {halted.until} then return redis.error_reply('{HALTED}{sentence}') end"]
    return "\n".join([f"local do_{name} = function(KEYS, ARGV)", *first, _with_names(name, source, renamed), "end", *names])


def _with_names(name: str, source: str, renamed: Mapping[str, str]) -> str:
    """Return the source of a script with the server's names of the commands. Raises UnknownCommand."""
    lines = [line.partition("--")[0] for line in source.splitlines()]
    if len(list(_called(source))) != len(_ANY_CALL.findall("\n".join(lines))):
        raise UnknownCommand(f"{name}.lua calls a command without writing its name out")
    return _CALL.sub(lambda call: call[0].replace(f"'{call[1]}'", f"'{renamed.get(call[1], call[1])}'"), source)


def _called(source: str) -> Iterator[str]:
    """Yield the command of each call in a script."""
    for call in _CALL.finditer(source):
        yield call[1]


def _writes(source: str) -> bool:
    """Return True if a script calls a command that writes, or a shared function that does so."""
    return any(command in RENAMED for command in _called(source)) or not _writing().isdisjoint(_words(source))


def _words(source: str) -> list[str]:
    return _WORD.findall("\n".join(line.partition("--")[0] for line in source.splitlines()))


@cache
def _writing() -> frozenset[str]:
    """Return the names of the shared functions that write."""
    bodies: dict[str, str] = {}
    for name in SHARED:
        for body in _source(name).split("\nlocal function ")[1:]:
            bodies[_words(body)[0]] = body
    found: set[str] = set()
    while more := {
        name
        for name, body in bodies.items()
        if name not in found and (any(command in RENAMED for command in _called(body)) or not found.isdisjoint(_words(body)))
    }:
        found |= more
    return frozenset(found)
