"""The walls: only events/store/ sends commands to Redis, and every error of the platform is raised and has a code of its own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from events.errors import PlatformError

ROOT = Path(__file__).parents[2]
PACKAGES = ("events", "service", "workers", "tools", "benchmarks")
RAW = ("redis", "hiredis")
CLIENT = "events.store.client"
COMMANDS = ("ask", "ask_all", "run", "items", "execute_command", "execute")

ALLOWED: dict[tuple[str, str], str] = {
    ("events/platform.py", f"{CLIENT}.RedisClient"): "it opens the store",
    ("events/keeping/embedded.py", f"{CLIENT}.answers"): "it waits until a server that it has started is up",
    ("events/keeping/embedded.py", f"{CLIENT}.configure"): "it lets a server that it has started refuse writes while the disk is full",
    ("events/keeping/embedded.py", f"{CLIENT}.load_library"): "it is the keeper, who loads the functions",
    (
        "events/keeping/erasing.py",
        f"{CLIENT}.rewrite_files",
    ): "it rewrites the files of the embedded store, so that what was deleted leaves them",
    ("events/keeping/moving.py", f"{CLIENT}.load_library"): "it is the keeper, who loads the functions into the server to which it moves",
    ("workers/shipping.py", "ask"): "it asks the keeper of the files (events/keeping/erasing.py), not the store",
    ("tools/functions.py", f"{CLIENT}.load_library"): "it loads the functions into a server of the user's own",
    ("tools/functions.py", f"{CLIENT}.what_to_change"): "it says what to change there",
    ("events/store/queue/server.py", f"{CLIENT}.queue_client"): "the queue is another server, and RQ sends its commands",
    ("events/store/queue/server.py", f"{CLIENT}.queue_errors"): "the queue is another server, and RQ sends its commands",
    ("events/store/queue/server.py", f"{CLIENT}.is_unreadable"): "it drops what cannot be read on the queue's server",
    ("events/store/queue/server.py", f"{CLIENT}.is_unknown_script"): "it loads the scripts that the queue's server has lost",
    ("events/store/queue/server.py", "events.store.wire"): "the queue is another server, whose scripts it calls",
    ("events/store/queue/server.py", f"{CLIENT}.is_out_of_memory"): "it says why the queue's server refuses writes",
    ("events/store/queue/__init__.py", f"{CLIENT}.queue_errors"): "the queue is another server, and RQ sends its commands",
    ("events/store/queue/__init__.py", "execute"): "the queue is another server, and RQ sends its commands",
    ("events/store/queue/counters.py", f"{CLIENT}.queue_errors"): "the counters are on the queue's server",
    ("events/store/queue/floors.py", f"{CLIENT}.queue_client"): "the floors are on the queue's server",
    ("events/store/queue/floors.py", f"{CLIENT}.queue_errors"): "the floors are on the queue's server",
    ("events/store/queue/shards.py", f"{CLIENT}.queue_errors"): "the queues are other servers, one of which may be away",
    ("events/store/queue/studies.py", f"{CLIENT}.queue_errors"): "the studies are on the queue's server",
    ("workers/queues.py", f"{CLIENT}.queue_client"): "the queue is another server, and RQ sends its commands",
    ("workers/queues.py", f"{CLIENT}.queue_errors"): "the queue is another server, and RQ sends its commands",
    ("benchmarks/archived.py", "store.client"): "it files a million matches away, a hundred in one round trip",
    ("benchmarks/archived.py", f"{CLIENT}.Call"): "it files a million matches away, a hundred in one round trip",
    ("benchmarks/archived.py", f"{CLIENT}.configure"): "it fills a store whose server writes no files meanwhile",
    ("benchmarks/archived.py", "ask_all"): "it writes rows that it has filed away itself",
    ("benchmarks/archived.py", "ask"): "it waits until that server has written its files",
    ("benchmarks/bare.py", "redis"): "it measures Redis without the platform",
    ("benchmarks/lean.py", "store.client"): "it measures the memory of keys, which nothing else asks for",
    ("benchmarks/lean.py", "ask"): "it measures the memory of keys, which nothing else asks for",
    ("benchmarks/ledger.py", "store.client"): "it measures the memory of keys, which nothing else asks for",
    ("benchmarks/budget.py", "store.client"): "it measures the time of functions, which nothing else asks for",
    ("benchmarks/budget.py", "ask"): "it measures the time of functions, which nothing else asks for",
    ("benchmarks/ledger.py", "ask"): "it measures the memory of keys, which nothing else asks for",
}


def source(package: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield every module of a package, with its path, but those that are directly in events/store."""
    for file in sorted((ROOT / package).rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        if file.parent != ROOT / "events/store":
            yield name, ast.parse(file.read_text(), name)


def crossings(tree: ast.Module) -> Iterator[str]:
    """Yield what a module does that only the store may do: import a client, reach for the client of a store, send a command."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in RAW or alias.name == CLIENT)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module.split(".")[0] in RAW or node.module == "events.store.wire":
                yield node.module
            elif node.module == CLIENT:
                yield from (f"{CLIENT}.{alias.name}" for alias in node.names)
            elif node.module == "events.store":
                yield from (CLIENT for alias in node.names if alias.name == "client")
        elif isinstance(node, ast.Attribute) and node.attr in ("client", "_client") and _name(node.value) in ("store", "log"):
            yield f"{_name(node.value)}.client"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_command(node.func):
            yield node.func.attr


def _is_command(called: ast.Attribute) -> bool:
    """Return True if a call may send a command: by a method that only the client has, or by any of its methods on a name like its own."""
    clients = ("client", "_client", "redis", "pipeline")
    return called.attr in ("ask", "ask_all") or (called.attr in COMMANDS and _name(called.value) in clients)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("package", PACKAGES)
def test_only_the_store_sends_commands_to_redis(package: str) -> None:
    found = {(name, what) for name, tree in source(package) for what in crossings(tree)}
    assert found <= ALLOWED.keys(), f"not allowed: {sorted(found - ALLOWED.keys())}"
    expected = {place for place in ALLOWED if place[0].startswith(f"{package}/")}
    assert expected <= found, f"no longer needed: {sorted(expected - found)}"


@pytest.mark.parametrize(
    "text",
    [
        "import redis",
        "import redis.cluster as cluster",
        "from redis.exceptions import RedisError",
        "from hiredis import pack_command",
        "import events.store.client",
        "from events.store.client import RedisClient",
        "from events.store import client",
        "def f(platform):\n    return platform.store.client",
        "def f(store):\n    return store.client",
        "def f(platform):\n    platform.store.client.ask('PING')",
        "def f(client):\n    client.run(script, [], [])",
        "def f(anything):\n    anything.ask_all([])",
        "def f(self):\n    self._client.items('s', '-', '+', 1)",
        "def f(platform):\n    return platform.store.log._client",
    ],
)
def test_the_scan_finds_every_way_through_the_wall(text: str) -> None:
    assert list(crossings(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    ["subprocess.run(['ls'])", "platform.store.log.items(match)", "load.client", "from events.store.log import Changes", "app.run()"],
)
def test_the_scan_finds_nothing_else(text: str) -> None:
    assert list(crossings(ast.parse(text))) == []


# ---------------------------------------------------------------- errors


def errors(base: type[PlatformError] = PlatformError) -> Iterator[type[PlatformError]]:
    """Yield every error of the platform."""
    for error in base.__subclasses__():
        yield error
        yield from errors(error)


def _raised(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield _name(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)


def test_every_error_of_the_platform_is_raised_somewhere() -> None:
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    raised = {name for file in files for name in _raised(ast.parse(file.read_text()))}
    assert [error.__name__ for error in errors() if error.__name__ not in raised] == []


def test_every_error_of_the_platform_has_a_code_of_its_own() -> None:
    codes = Counter(error.code for error in errors() if "code" in vars(error))  # or it is a kind of another
    assert len(codes) > 10
    assert [code for code, number in codes.items() if number > 1] == []
    assert PlatformError.code not in codes
