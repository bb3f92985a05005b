"""The rights of the service's user: no command of the server, and no function with hostile arguments, changes the source data."""

from __future__ import annotations

import contextlib
import json
import math
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import hiredis
import pytest

from events import play
from events.errors import StoreRefused
from events.keeping import embedded
from events.platform import Platform
from events.store import filed, library
from events.store.accounts import ADMIN
from events.store.client import RedisClient
from events.store.heads import MISSED
from events.store.log import Changes
from events.store.packed import pack
from record.entries import parse
from tests.conftest import Keeper, Servers, take_seat

STORE = Path(library.__file__).parent
SCRIPTS = sorted(file.stem for file in STORE.glob("*.lua") if file.stem not in library.SHARED)
SOURCE = ("{p*}:s:*", "{p*}:x:*", "{p*}:f:*", "{p*}:w:*", "{p*}:cursors", "{players}:*", "{store}:*", "{log}:*")

# S a stream, X a secret, P a player, N the number of partitions, M a standing, D what is due, Q a key that is free
SHAPED = """
XADD S * e x / XADD S MAXLEN 0 9-0 e x / XADD S MINID 9 9-0 e x / XADD Q 1-0 e x / XTRIM S MAXLEN 0 / XDEL S 1-0 / XDELEX S IDS 1 1-0
XACKDEL S g IDS 1 1-0 / XSETID S 9-0 / XGROUP CREATE S g 0 / XGROUP SETID S g 0 / XGROUP DESTROY S g / XAUTOCLAIM S g c 0 0
XCLAIM S g c 0 1-0 / XREADGROUP GROUP g c STREAMS S > / SET X x / SET X x PX 1 / SET N 1 / SETEX X 1 x / PSETEX X 1 x / SETNX Q x
SETRANGE X 0 x / APPEND X x / GETSET X x / GETDEL X / GETEX X PX 1 / MSET X x P x / MSETNX Q x / MSETEX 1 X x PX 1 / DELIFEQ X x / INCR N
INCRBY N 1 / INCRBYFLOAT N 1 / DECR N / DECRBY N 1 / SETBIT X 1 1 / BITFIELD X SET u8 0 1 / BITOP NOT X M / PFADD X a / PFMERGE X Q
PFCOUNT X / PFDEBUG GETREG X / PFSELFTEST / HSET P role admin / HSETNX P x y / HMSET P role admin / HDEL P role / HINCRBY P created 1
HINCRBYFLOAT P created 1 / HSETEX P PX 1 FIELDS 1 role admin / HGETEX P PX 1 FIELDS 1 role / HGETDEL P FIELDS 1 role
HEXPIRE P 1 FIELDS 1 role / HPEXPIRE P 1 FIELDS 1 role / DEL S / DEL X / UNLINK S X P N / EXPIRE X 1 / PEXPIRE X 1 / EXPIREAT X 1
PEXPIREAT X 1 / PERSIST X / RENAME S Q / RENAME M S / RENAMENX S Q / COPY M S REPLACE / MOVE S 1 / MIGRATE 127.0.0.1 1 S 0 10
RESTORE S 0 x REPLACE / RESTORE-ASKING S 0 x REPLACE / SORT D STORE S / SORT D BY nosort GET * STORE X / OBJECT FREEZE X / GEOADD Q 1 1 x
GEOSEARCHSTORE S D FROMLONLAT 1 1 BYRADIUS 1 m / GEORADIUS D 1 1 1 m STORE S / LPUSH Q x / LMOVE Q S LEFT LEFT / BLMOVE Q S LEFT LEFT 1
RPOPLPUSH Q S / LMPOP 1 S LEFT / BLMPOP 1 1 S LEFT / LPOP S / SADD Q x / SMOVE Q S x / SDIFFSTORE S Q / SINTERSTORE S Q / SUNIONSTORE S Q
SPOP S / ZADD D 1 x / ZREM D x / ZADD S 1 x / ZDIFFSTORE S 1 D / ZINTERSTORE S 1 D / ZUNIONSTORE S 1 D / ZRANGESTORE S D 0 -1 / ZPOPMIN D
ZMPOP 1 D MIN / BZPOPMIN D 1 / ZREMRANGEBYRANK D 0 -1 / ZREMRANGEBYSCORE D -inf +inf / ZINCRBY D 1 x / FLUSHALL / FLUSHDB / FLUSHALL ASYNC
SWAPDB 0 1 / SELECT 1 / SELECT 0 / FUNCTION FLUSH / FUNCTION DELETE L / FUNCTION LOAD REPLACE F / FUNCTION RESTORE x FLUSH / FUNCTION DUMP
FUNCTION LIST WITHCODE / FUNCTION KILL / FUNCTION STATS / SCRIPT FLUSH / SCRIPT LOAD F / SCRIPT KILL / SCRIPT EXISTS x / SCRIPT SHOW x
SCRIPT DEBUG YES / EVAL E 1 S / EVALSHA x 1 S / EVAL_RO E 1 S / EVALSHA_RO x 1 S / CLIENT KILL TYPE normal / CLIENT KILL TYPE pubsub
CLIENT KILL SKIPME no / CLIENT PAUSE 100000 ALL / CLIENT UNPAUSE / CLIENT NO-EVICT on / CLIENT NO-TOUCH on / CLIENT LIST
CLIENT TRACKING on BCAST / CLIENT REPLY off / CLIENT UNBLOCK 1 ERROR / CLIENT CAPA redirect / CLIENT IMPORT-SOURCE on / CLIENT CACHING yes
CLIENT INFO / CLIENT ID / CONFIG SET appendonly no / CONFIG SET maxmemory 1 / CONFIG GET * / CONFIG REWRITE / CONFIG RESETSTAT
ACL SETUSER default ~* +@all / ACL LIST / ACL LOAD / ACL SAVE / ACL DELUSER keeper / ACL GETUSER keeper / ACL LOG / ACL WHOAMI / ACL CAT
ACL GENPASS / DEBUG RELOAD / DEBUG SLEEP 0 / DEBUG FLUSHALL / DEBUG SET-ACTIVE-EXPIRE 0 / DEBUG OBJECT X / SHUTDOWN NOSAVE / SAVE / BGSAVE
BGREWRITEAOF / REPLICAOF 127.0.0.1 1 / SLAVEOF 127.0.0.1 1 / REPLCONF ack 1 / PSYNC ? -1 / SYNC / FAILOVER / MONITOR / SLOWLOG GET
SLOWLOG RESET / LATENCY RESET / LATENCY HISTOGRAM / COMMANDLOG GET 10 slow / MEMORY PURGE / MEMORY DOCTOR / MODULE LOAD /x.so
MODULE LIST / INFO / INFO commandstats / CLUSTER RESET / CLUSTER FLUSHSLOTS / CLUSTER INFO / ASKING / READONLY / READWRITE / MULTI / EXEC
DISCARD / WATCH S / UNWATCH / RESET / QUIT / WAIT 1 100000 / WAITAOF 1 0 100000 / PUBLISH {p0}:heads x / SPUBLISH {p0}:heads x
PSUBSCRIBE * / SSUBSCRIBE x / PUBSUB CHANNELS / SUBSCRIBE x / UNSUBSCRIBE x / XREAD BLOCK 0 STREAMS S $ / BLPOP Q 0 / BRPOP Q 0 / KEYS *
LCS X X / ROLE / LASTSAVE / TIME / ECHO x / DBSIZE / COMMAND / COMMAND LIST / COMMAND INFO XADD / COMMAND DOCS / HELLO 3 AUTH keeper x
AUTH keeper x / AUTH x / PING / LOLWUT / OBJECT ENCODING S / TOUCH S / DUMP S / MEMORY USAGE S / EXISTS S / FCALL x 0 / FCALL_RO x 0
"""
HELD_KEY, FREE_KEY = "A" * 43 + "=", "B" * 42 + "A="
LOG = "{log}:" + "ab" * 8 + ":"
REFUSED = r"NOPERM|EXECABORT|ERR unknown (sub)?command|ERR wrong number of arguments|ERR \w+ command not allowed"
PERMITTED = {"auth", "client|setinfo", "client|setname", "fcall", "fcall_ro", "hello", "ping", "quit", "reset", "subscribe", "unsubscribe"}
PERMITTED |= {"time", "wait", "role"}


class World:
    """A match of the test game with all kinds of source data, and somebody with the credentials of the service."""

    def __init__(self, platform: Platform, keeper: Keeper, match: str, player: str) -> None:
        self.platform = platform
        self.keeper = keeper
        self.match = match
        self.keys = platform.store.keys.of(match)
        self.letters = {
            "S": self.keys.stream,
            "X": self.keys.secret,
            "P": f"{{players}}:p:{player}",
            "N": "{store}:begun",
            "M": self.keys.standing,
            "D": self.keys.due,
            "Q": self.keys.stream.partition(":")[0] + ":s:free",
            "L": library.NAME,
            "F": "#!lua name=mine\nredis.register_function('mine', function() return 1 end)",
            "E": f"return redis.call('DEL', '{self.keys.stream}')",
        }

    def source(self) -> dict[bytes, Any]:
        """Return everything that is derived from nothing, with its times to live, and the functions and the settings of the server."""
        found = {key: (self.keeper.dump(key), self.keeper.pttl(key)) for pattern in SOURCE for key in self.keeper.scan_iter(pattern)}
        found[b"functions"] = self.keeper.function_dump()
        found[b"users"] = self.keeper.acl_list()
        found[b"settings"] = self.keeper.config_get()
        return found


@pytest.fixture
def world(platform: Platform, begin: Callable[..., str], servers: Servers, ann: str) -> World:
    platform.store.signing_keys.add(ann, ADMIN, HELD_KEY, "x", 1, f"{'A' * 86}==", 20, 100)
    return World(platform, servers.keeper, begin(), ann)


def answer(servers: Servers, words: Sequence[str]) -> Any:
    """Send a command as the service's user on a connection of its own, and return the answer; None if the server has carried it out or
    keeps it without one."""
    reader = hiredis.Reader(encoding="utf-8", errors="replace")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(servers.store_url.removeprefix("unix://"))
        connection.sendall(hiredis.pack_command(tuple(words)))
        for _ in range(2):  # between two answers the server has gone through all connections, and has sent what it had to say
            servers.keeper.ping()
        connection.setblocking(False)
        while (said := reader.gets()) is False:
            try:
                received = connection.recv(1 << 16)
            except BlockingIOError:
                return None
            if not received:
                return None
            reader.feed(received)
    return said


def every_command(keeper: Keeper, letters: dict[str, str]) -> Iterator[list[str]]:
    """Yield every command and subcommand of the server, with source keys where it takes keys, and those that are written out above."""
    for line in SHAPED.strip().splitlines():
        for command in line.split(" / "):
            yield [letters.get(word, word) for word in command.split()]
    for name in names(keeper):
        for letter in "SXPN":
            for number in range(5):
                yield [*name.split("|"), *[letters[letter], "1", letters[letter], "1"][:number]]


def names(keeper: Keeper) -> list[str]:
    """Return the name of every command and subcommand, such as `client|kill`."""
    return sorted(name if isinstance(name, str) else name.decode() for name in keeper.execute_command("COMMAND LIST"))


def denied(said: Any) -> bool:
    """Return True if an answer says that the command was not carried out, since there is none or the user may not send it."""
    return isinstance(said, hiredis.ReplyError) and bool(re.match(REFUSED, str(said)))


def test_every_command_of_the_server_leaves_the_source_data_and_other_connections_alone(world: World, servers: Servers) -> None:
    heads = world.platform.store.heads(0.05)
    assert next(heads) is MISSED
    before, bystander = world.source(), socket.socket(socket.AF_UNIX)
    bystander.connect(servers.store_url.removeprefix("unix://"))
    bystander.sendall(hiredis.pack_command(("CLIENT", "SETNAME", "bystander")))
    assert bystander.recv(1 << 16) == b"+OK\r\n"
    token = embedded.renamed(servers.data)["XADD"][:-1]
    sent, permitted = set(), set()
    for words in every_command(world.keeper, world.letters):
        said = answer(servers, words)
        assert token.lower() not in str(said).lower()
        name = words[0].lower()
        sent.add(name)
        if not denied(said):
            permitted.add("|".join(words[:2]).lower() if name == "client" else name)
    assert sent >= {name.partition("|")[0] for name in names(world.keeper)}
    assert world.source() == before
    assert "bystander" in {client["name"] for client in world.keeper.client_list()}
    bystander.close()
    play.play(world.platform, world.match, "one", [{"type": "add", "by": 1, "stay": True}])
    assert next(head for head in heads if head)[:2] == (world.match, 3)
    reads = {name.partition("|")[0] for name in names(world.keeper) if is_read(world.keeper, name)}
    assert permitted <= PERMITTED | reads, f"open beside reads: {sorted(permitted - PERMITTED - reads)}"
    assert permitted >= {"fcall", "get", "hgetall", "xrange", "zrange", "scan"}


def is_read(keeper: Keeper, name: str) -> bool:
    """Return True if a command has the flag of those that only read."""
    described = keeper.execute_command("COMMAND INFO", name)[0]
    return described is not None and b"readonly" in described[2] and b"write" not in described[2]


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_command_of_a_script_is_a_read_or_is_renamed(name: str, servers: Servers) -> None:
    called = set(re.findall(r"\bp?call\('(\w+)'", (STORE / f"{name}.lua").read_text()))
    assert called
    assert [command for command in called - library.RENAMED.keys() - {"TIME"} if not is_read(servers.keeper, command)] == []
    for text in ("redis.call(name)", "local call = redis.call\ncall('DEL', KEYS[1])", "redis.call ('DEL')"):
        with pytest.raises(library.UnknownCommand):
            library._with_names("x", text, {})


def test_the_names_of_commands_are_in_no_file_that_others_can_read_and_in_no_argument_of_a_process(servers: Servers) -> None:
    folder = (servers.data / embedded.STORE).resolve()
    token = embedded.renamed(servers.data)["XADD"][:-1]
    number = servers.keeper.info("server")["process_id"]
    assert token.encode() not in Path(f"/proc/{number}/cmdline").read_bytes() + Path(f"/proc/{number}/environ").read_bytes()
    assert token not in (folder / "server.log").read_text() + (folder / "rights.acl").read_text()
    assert len(token) == 11
    assert (folder / "appendonlydir/commands.conf").stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0


# ---------------------------------------------------------------- functions with hostile arguments


ITEM = pack(b"entry", "m", 3, tag=b"t" * 8)


def append(world: World, **changed: Any) -> tuple[list[str], list[Any]]:
    """Return the keys and arguments of an append to the match, with some members of the change or the other arguments replaced."""
    change: dict[str, Any] = {"expected": 2, "most": 10, "snapshot": 64, "replaces": 1, "leaf": 7}
    change |= {"indexes": {"all": 9}, "due": {f"advance|{world.match}|": 5}, "tell": " *"}
    digest, entries = changed.pop("digest", ""), changed.pop("entries", [ITEM])
    text = changed.pop("change", None) or json.dumps({**change, **changed})
    return [world.keys.stream], [text, "{}", "snapshot", digest, *entries]


def calls(world: World) -> dict[str, tuple[list[str], list[Any]]]:
    """Return the keys and arguments of a call of every function that writes, as the service would make it."""
    keys = world.keys
    return {
        "append": append(world),
        "project": (
            [keys.stream],
            [
                '{"head": 2, "leaf": 7, "updated": "player", "indexes": {"all": 9}}',
                *("{}", 1, 1, "64", "x", "tag", 1, f"advance|{world.match}|", 5),
            ],
        ),
        "remove_unstarted": ([keys.stream], [2, 0, 0, '["all"]', f"advance|{world.match}|"]),
        "remove": ([keys.due], ["member"]),
        "barrier": (["{store}:barrier"], []),
        "begin": (["{store}:begun"], [1, 16, "ab" * 32]),
        "sequence": (
            [f"{LOG}leaves", f"{LOG}h:0", f"{LOG}m:{world.match}"],
            [0, 1, 1, 1, "{}", "begin:1", "1 a 5 5", "h" * 32, "1 " + "ab" * 8, f"1\n{FREE_KEY}\n"],
        ),
        "shed": ([f"{LOG}state", f"{LOG}leaves", f"{LOG}h:0"], [256]),
        "forget_leaves": ([f"{LOG}m:{world.match}"], [world.match]),
        "note_leaves": ([f"{LOG}m:{world.match}"], ["begin:1", f"0 1 {'ab' * 32} 5 5"]),
        "keep_bulk": ([f"{LOG}bulk", f"{LOG}b:war/2026-11"], [0, 1, "state", "{}", 1, "{}"]),
        "lead": ([f"{LOG}state"], ["ab" * 8, 5000, ""]),
        "publish": ([f"{LOG}state", f"{LOG}leaves"], [0, f"log.example\n0\n{FREE_KEY}\n", ""]),
        "settle": ([keys.stream], [2, 9]),
        "say": ([keys.stream], ["one", "hello"]),
        "tell_presence": ([keys.stream], ["ab", f"{world.match} 1 2"]),
        "updates": ([f"{keys.indexes}updated:{world.letters['P'][-17:]}"], [5, "mark", 9]),
        "rate": (["{ratings}:tally"], [1, "", "[1,9,0]", "1", world.letters["P"][-17:], "[1500.0,200.0,1,0]", 1108]),
        "put_puzzle": (["{puzzles}:p:maaaaaaaaaaaaaaaa-2", "{puzzles}:g:tally"], ["{}", "x", 5, "hard", 1]),
        "count_try": (["{puzzles}:p:maaaaaaaaaaaaaaaa-2"], ["1", 9]),
        "drop_puzzle": (["{puzzles}:p:maaaaaaaaaaaaaaaa-2", "{puzzles}:g:tally"], []),
        "choose_puzzle": (["{puzzles}:days"], [20_000, "maaaaaaaaaaaaaaaa-2", 60]),
        "note_refusals": ([keys.stream], ["mark", '{"one":""}', "one", "{}", "0" * 64]),
        "note_read": ([keys.stream], ["admin", "view:one", "note", 1, 1, "", "1 " + "0" * 64]),
        "pulse": (
            ["{pulse}:processes", "{pulse}:outages", "{pulse}:now"],
            ["web", "web:1:2:3", 9, "5 boot", 0, 8, 1, "web", 9, "web:1:2:4"],
        ),
        **calls_for_players(world),
        **calls_for_hooks(world),
        **calls_for_the_archive(world),
    }


def calls_for_the_archive(world: World) -> dict[str, tuple[list[str], list[Any]]]:
    """Return the keys and arguments of a call of every function that files matches away or brings them back."""
    digest = parse(world.platform.store.log.read(world.match)[-1]).digest
    what = {"head": 2, "digest": digest, "object": "ab" * 8, "secret": "ab" * 32, "requests": 0, "updated": "player"}
    texts = [
        json.dumps({**what, "indexes": {}, "due": {}, "snapshots": 0, "refused": 0, "reads": 0}),
        "mark",
        "{}",
        "x",
        f'"digest":"{digest}"',
    ]
    return {
        "archive": ([world.keys.stream], ["{}", *packed(world.match, world.letters["P"][-17:], 2, digest)]),
        "file_away": ([world.keys.stream], packed(world.match, world.letters["P"][-17:])),
        "bring_back": ([world.keys.stream], texts),
    }


def packed(match: str, player: str, head: int = 3, digest: str = "ab" * 32) -> list[Any]:
    """Return the arguments with which a match that is over is filed away."""
    indexes = dict.fromkeys(("all", "status:over", "game:tally", "game:tally:over", f"creator:{player}", f"player:{player}"), 9)
    found = filed.pack(match, "tally", head, digest, 10, b'{"secret":null}', {**indexes, f"news:{player}": 10})
    return [found.game, found.row, *found.news]


def calls_for_players(world: World) -> dict[str, tuple[list[str], list[Any]]]:
    """Return the keys and arguments of a call of every function that changes players."""
    player, free = world.letters["P"], f"{{players}}:p:p{'z' * 16}"
    first, other, new = f"k{player[-16:]}", f"k{'b' * 16}", "cd" * 32
    held = str(world.platform.store.accounts.fields_of(player[-17:])[f"hash:{first}"])
    return {
        "add_player": ([free], ["Eve", "admin", 1, f"k{'z' * 16}", "{}", new]),
        "set_name": ([player], [first, held, "Eve"]),
        "set_role": ([player], ["admin"]),
        "delete_player": ([player], [first, held, 1]),
        "add_key": ([player], [first, held, other, "{}", new, 20]),
        "rotate_key": ([player], [first, held, first, "{}", new]),
        "revoke_key": ([player], [first, held, first]),
        "note_use": ([player], [first, held, 1]),
        "add_signing_key": ([player], [first, held, FREE_KEY, "x", 1, f"{'A' * 86}==", 20, 100]),
        "revoke_signing_key": ([player], [first, held, HELD_KEY, 1]),
        "log_signing_key": ([player], [HELD_KEY, world.platform.store.signing_keys.of(player[-17:])[0].text, ""]),
    }


def calls_for_hooks(world: World) -> dict[str, tuple[list[str], list[Any]]]:
    """Return the keys and arguments of a call of every function for hooks."""
    player, hook, tag = world.letters["P"], f"h{'b' * 16}", world.platform.store.keys.tag(world.match)
    first, stream, id = f"k{player[-16:]}", world.keys.stream, player[-17:]
    held = str(world.platform.store.accounts.fields_of(id)[f"hash:{first}"])
    return {
        "put_hook": ([player], [first, held, hook, "", '{"url": "https://a.example/"}', 10]),
        "delete_hook": ([player], [first, held, hook]),
        "note_delivery": ([player], [hook, '{"id": "a"}', 100, 5]),
        "told": ([player], [0]),
        "hooked": ([f"{tag}:hooked"], [id, 1, f" {hook}", ""]),
        "claim_hooks": ([f"{tag}:hooks"], [1000, 10, 9000]),
        "mend_hooks": ([f"{tag}:hooks"], []),
        "call_hook": ([stream], [f"{id}/{hook}/test-1-{hook}-0"]),
        "settle_hook": ([stream], [f"{id}/{hook}", "1 0 0", "2", 0]),
    }


WRITING = [name for name in SCRIPTS if library.script(name).command == "FCALL"]


def test_hostile_arguments_are_tried_for_every_function_that_writes(world: World) -> None:
    assert set(WRITING) == calls(world).keys()


@pytest.mark.parametrize("name", WRITING)
def test_no_key_of_a_function_can_be_one_that_is_not_its_own(
    world: World, platform: Platform, begin: Callable[..., str], name: str
) -> None:
    other = platform.store.keys.of(begin())
    hostile = {*world.letters.values(), *world.keys, *other, "{p99}:s:" + world.match, "{p1}:x:", "{p1}:s:", "free", ""}
    keys, args = calls(world)[name]
    before = world.source()
    for place in range(len(keys)):
        for key in sorted(hostile - {keys[place]}):
            for words in (args, []):
                if key.startswith((world.keys.indexes, other.indexes)) or (keys == [world.keys.stream] and ":s:" in key):
                    continue  # an index may be any of the partition's, and a stream names the match
                with contextlib.suppress(StoreRefused):
                    platform.store.client.run(library.script(name), [*keys[:place], key, *keys[place + 1 :]], words)
                    assert name == "remove", f"{key} is taken for {keys[place]}"
    assert world.source() == before


HOSTILE_APPENDS: list[dict[str, Any]] = [
    {"change": "["},
    {"change": "5"},
    {"change": "{}"},
    {"change": "null"},
    {"expected": -1},
    {"expected": 2.5},
    {"expected": math.inf},
    {"expected": math.nan},
    {"expected": ""},
    {"expected": None},
    {"most": 0},
    {"most": [1]},
    {"digest": "5"},
    {"digest": "ab" * 32},
    {"entries": [ITEM, ""]},
    {"entries": [ITEM[:42]]},
    {"entries": [ITEM[:50]]},
    {"snapshot": -1},
    {"snapshot": "NX"},
    {"replaces": "NX"},
    {"replaces": [1]},
    {"entries": []},
    {"secret": "ab" * 32},
    {"secret": "MAXLEN"},
    {"secret": ["ab" * 32]},
    {"leaf": "NX"},
    {"leaf": -1},
    {"indexes": [9]},
    {"indexes": {"all": "NX"}},
    {"indexes": {"all": math.inf}},
    {"indexes": {"all": False}},
    {"due": {"member": "CH"}},
    {"due": {"member": -math.inf}},
    {"due": {"member": [1]}},
    {"due": ["member"]},
    {"tell": "p\r\n"},
    {"tell": ["p"]},
]


@pytest.mark.parametrize("changed", HOSTILE_APPENDS, ids=str)
def test_an_append_with_hostile_arguments_is_refused_and_changes_nothing(world: World, changed: dict[str, Any]) -> None:
    before = world.source()
    with pytest.raises(StoreRefused):
        world.platform.store.client.run(library.script("append"), *append(world, **changed))
    assert world.source() == before


@pytest.mark.parametrize("expected", [0, 1, 3, 10**20])
def test_an_append_elsewhere_than_at_the_head_changes_nothing(world: World, expected: int) -> None:
    before = world.source()
    try:
        said = world.platform.store.client.run(library.script("append"), *append(world, expected=expected))
        assert said[:2] == [0, 2]
    except StoreRefused:
        assert expected == 10**20
    assert world.source() == before


@pytest.mark.parametrize("word", ["MAXLEN", "MINID", "NOMKSTREAM", "*", "~", "0", ""])
def test_no_entry_is_taken_for_an_option(world: World, word: str) -> None:
    before = world.keeper.xrange(world.keys.stream)
    run = world.platform.store.client.run
    with pytest.raises(StoreRefused):
        run(library.script("append"), *append(world, entries=[word]))
    assert run(library.script("append"), *append(world, entries=[word.ljust(60, " ")])) == [1]
    assert world.keeper.xrange(world.keys.stream)[:-1] == before
    assert world.keeper.xlen(world.keys.stream) == 3


HOSTILE_LEAVES: list[dict[int, Any]] = [
    {0: -1}, {0: "inf"}, {1: 0}, {1: 2}, {2: 0}, {2: 2}, {3: 0}, {3: 2}, {4: ""}, {4: "x" * 1001}, {5: "begin"}, {5: "x:1 "}, {7: "h" * 31},
]  # fmt: skip


@pytest.mark.parametrize("changed", HOSTILE_LEAVES, ids=str)
def test_leaves_with_hostile_arguments_are_refused_and_change_nothing(world: World, changed: dict[int, Any]) -> None:
    before = world.source()
    keys, args = calls(world)["sequence"]
    with pytest.raises(StoreRefused):
        world.platform.store.client.run(library.script("sequence"), keys, [changed.get(place, word) for place, word in enumerate(args)])
    assert world.source() == before


def test_what_the_ledger_has_is_never_changed_and_no_leaf_is_added_twice(world: World) -> None:
    keys, args = calls(world)["sequence"]
    run = world.platform.store.client.run
    assert run(library.script("sequence"), keys, args) == 0, "without the lease"
    lease = run(library.script("lead"), *calls(world)["lead"]).decode()
    assert args[-2:-1] == [lease]
    assert run(library.script("sequence"), keys, args) == 1
    before = world.source()
    assert run(library.script("sequence"), keys, args) == 0
    assert run(library.script("sequence"), keys, [1, *args[1:-1], f"2\n{FREE_KEY}\n"]) == 0, "the same leaf at the next place"
    assert run(library.script("sequence"), keys, [7, *args[1:5], "begin:2", *args[6:-1], f"8\n{FREE_KEY}\n"]) == 0
    assert world.source() == before
    state, publish = calls(world)["publish"][0], library.script("publish")
    note = f"log.example\n1\n{FREE_KEY}\n"
    assert run(publish, state, [1, note + "-", ""]) == run(publish, state, [1, note + "-", "2 " + "ab" * 8]) == 0
    with pytest.raises(StoreRefused):  # another root than that of the leaves
        run(publish, state, [1, note.replace(FREE_KEY, HELD_KEY), lease])
    assert run(publish, state, [1, note + "-", lease]) == 1
    assert run(publish, state, [0, f"log.example\n0\n{FREE_KEY}\n-longer", lease]) == 0
    assert run(publish, state, [1, note + "+", ""]) == 0
    assert run(publish, state, [1, note.replace(FREE_KEY, HELD_KEY) + "--", ""]) == 0
    assert run(publish, state, [1, note + "--", ""]) == 1, "with more signatures"
    with pytest.raises(StoreRefused):
        run(publish, state, [2, f"log.example\n2\n{FREE_KEY}\n", lease])


def test_a_secret_is_stored_once_with_the_first_entry_and_never_again(world: World) -> None:
    secret = world.keeper.get(world.keys.secret)
    match = "m" + "q" * 16
    keys = world.platform.store.keys.of(match)
    for given in ("ab" * 31, "zz" * 32, "ab" * 33):
        with pytest.raises(StoreRefused):
            world.platform.store.log.append(match, 0, [b"x"], Changes(secret=given))
    world.platform.store.log.append(match, 0, [b"x"], Changes(secret="ab" * 32))
    assert world.keeper.pttl(keys.secret) == -1
    world.keeper.delete(keys.stream)
    world.platform.store.log.append(match, 0, [b"x"], Changes(secret="cd" * 32))
    assert world.keeper.get(keys.secret) == b"ab" * 32
    assert world.keeper.get(world.keys.secret) == secret


def test_no_function_gives_a_player_fields_of_another_kind(world: World) -> None:
    """Whatever stands in place of an argument, a player keeps the moment of creation, one of three roles, and no foreign fields."""
    client, player = world.platform.store.client, world.letters["P"]
    hostile = ["", "role", "admin", "name", "created", "-1", "1e9", "nan", "k*", "%w+", "\n", "{players}:p:x", "ab" * 32]
    for name, (keys, args) in calls_for_players(world).items():
        if name == "delete_player":
            continue
        for place in range(len(args)):
            for word in hostile:
                before = client.ask("HGET", player, "created")
                with contextlib.suppress(StoreRefused):
                    client.run(library.script(name), keys, [*args[:place], word, *args[place + 1 :]])
                found = client.ask("HGETALL", player)
                assert found[b"created"] == before
                assert found[b"role"] in (b"player", b"referee", b"admin")
                assert all(re.fullmatch(rb"name|role|created|revision|revoked|(key|hash|used):k[a-z2-7]+", field) for field in found), (
                    name,
                    word,
                )


def test_format_partitions_and_secret_stay_as_a_store_was_begun(world: World) -> None:
    store = world.platform.store
    begun = f"{library.FORMAT} 16 {store.secret.hex()}".encode()
    for numbers in (("1", "32"), ("1", "16"), ("2", "16")):
        assert store.client.run(library.script("begin"), ["{store}:begun"], [*numbers, "cd" * 32]) == begun
    wrong = [given for number in ("0", "-1", "x", "1.5", "") for given in ((number, "16", "cd" * 32), ("1", number, "cd" * 32))]
    for given in [*wrong, ("1", "16", ""), ("1", "16", "cd" * 31), ("1", "16", "x" * 64)]:
        with pytest.raises(StoreRefused):
            store.client.run(library.script("begin"), ["{store}:begun"], given)


def test_only_the_archivist_may_remove_what_is_filed_away(world: World, servers: Servers) -> None:
    client, (keys, args) = world.platform.store.client, calls(world)["archive"]
    world.keeper.delete(f"{keys[0].partition(':')[0]}:pending")
    before = world.source()
    with pytest.raises(StoreRefused) as refused:
        client.run(library.script("archive"), keys, args)
    assert "permission" in refused.value.reason
    assert world.source() == before
    archivist = RedisClient(embedded.as_archivist(servers.store_url, servers.data))
    player, digest = world.letters["P"][-17:], "00" * 32
    rows = [packed(world.match, player, 2, digest)[1], packed(world.match, player, 1, digest)[1], b"", b"x" * 90]
    hostile: list[dict[int, Any]] = [{2: row} for row in rows]
    for changed in [*hostile, {0: '{"head":"1 a"}'}, {0: "["}, {1: "Tally"}]:
        with contextlib.suppress(StoreRefused):
            assert archivist.run(library.script("archive"), keys, [changed.get(place, word) for place, word in enumerate(args)]) == 0
    with pytest.raises(StoreRefused):
        archivist.ask("XTRIM", keys[0], "MAXLEN", 0)
    assert world.source() == before
    assert archivist.run(library.script("archive"), keys, args) == archivist.run(library.script("archive"), keys, args) == 1
    assert not world.keeper.exists(*keys, world.keys.secret, world.keys.standing)
    archivist.close()


def test_a_seat_is_still_taken_and_left_by_functions_alone(platform: Platform, ann: str, bob: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    assert take_seat(platform, match, bob, "two").last == 2
