"""Run the functions of the store and the scripts of the queue as they are, in Lua 5.1 (LuaJIT), on the data of simulated servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha1
from typing import Any
from unittest import mock

import orjson
from lupa import luajit21

from events.store import library
from tests.simulation.commands import FILE, REPLICAS, Data, Failed, Status

_START = b"""
local raw, decode, null, sha1hex, reach = ...
local registered = {}
redis = {
  call = function(...)
    local answer = raw(...)
    if type(answer) == 'table' and answer.err then error(answer, 0) end
    return answer
  end,
  register_function = function(given) registered[given.function_name] = given.callback end,
}
redis.pcall = raw
redis.sha1hex = sha1hex
redis.REPL_REPLICA, redis.REPL_AOF, redis.REPL_ALL, redis.REPL_NONE = 2, 1, 3, 0
redis.set_repl = reach
struct = {
  pack = function(form, ...)
    local packed, values = {}, {...}
    for kind, size in string.gmatch(form, '([IB])(%d*)') do
      local value, bytes = values[#packed + 1], {}
      for place = kind == 'B' and 1 or tonumber(size), 1, -1 do
        bytes[place], value = string.char(value % 256), math.floor(value / 256)
      end
      packed[#packed + 1] = table.concat(bytes)
    end
    return table.concat(packed)
  end,
  unpack = function(form, text, place)
    local values, at = {}, place or 1
    for kind, size in string.gmatch(form, '([IB])(%d*)') do
      local value = 0
      for _ = 1, kind == 'B' and 1 or tonumber(size) do
        value, at = value * 256 + string.byte(text, at), at + 1
      end
      values[#values + 1] = value
    end
    values[#values + 1] = at
    return unpack(values)
  end,
}
bit = {
  band = function(one, other)
    local both, place = 0, 1
    while one > 0 and other > 0 do
      if one % 2 == 1 and other % 2 == 1 then both = both + place end
      one, other, place = math.floor(one / 2), math.floor(other / 2), place * 2
    end
    return both
  end,
}
cjson = {null = null, decode = decode}
local function parts(answer) return unpack(answer) end
local function outcome(ok, answer)
  if type(answer) ~= 'table' then
    if ok then return 0, answer end
    return 'ERR ' .. tostring(answer)
  elseif answer.err then
    return answer.err
  elseif answer.ok then
    return 2, answer.ok
  end
  return 1, unpack(answer)
end
return function(name, keys, args) return outcome(pcall(registered[name], keys, args)) end,
  function(script, keys, args) KEYS, ARGV = keys, args; return outcome(pcall(script)) end,
  function(name) return registered[name] ~= nil end,
  parts
"""


class Functions:
    """A Lua interpreter with the functions of the store. It is shared by all simulated servers of a process."""

    def __init__(self, source: str) -> None:
        """Begin with the source of a library."""
        self._lua = luajit21.LuaRuntime(encoding=None, unpack_returned_tuples=True)
        self._table = self._lua.table_from
        self._null = object()
        self._data: Data | None = None
        self._scripts: dict[bytes, Any] = {}
        self._names: set[bytes] = set()
        start = self._lua.execute(b"return function(...) " + _START + b" end")
        self._call, self._run, self._known, self._parts = start(
            self._command, self._decoded, self._null, lambda text: sha1(text).hexdigest().encode(), self._reach
        )
        self._lua.execute(source.partition("\n")[2].encode())

    def call(self, data: Data, name: bytes, keys: Sequence[bytes], args: Sequence[bytes]) -> Any:
        """Call a function of the store on the data of a server. Raises Failed."""
        if name not in self._names:
            if not self._known(name):
                raise Failed("ERR Function not found")
            self._names.add(name)
        return self._on(data, self._call, name, keys, args)

    @contextmanager
    def replaced(self, source: str) -> Iterator[None]:
        """Have other functions of the store until the end of the block."""
        other = Functions(source)
        with mock.patch.object(self, "call", other.call):
            yield

    def register(self, source: str) -> str:
        """Compile a script, and return the hash that calls it."""
        name = sha1(source.encode()).hexdigest()
        if name.encode() not in self._scripts:
            self._scripts[name.encode()] = self._lua.eval(b"function() " + source.encode() + b"\nend")
        return name

    def run(self, data: Data, name: bytes, keys: Sequence[bytes], args: Sequence[bytes]) -> Any:
        """Run a script on the data of a server. Raises Failed."""
        return self._on(data, self._run, self._scripts[name], keys, args)

    def _on(self, data: Data, function: Any, what: Any, keys: Sequence[bytes], args: Sequence[bytes]) -> Any:
        before, self._data = self._data, data
        try:
            found = function(what, self._table(keys), self._table(args))
        finally:
            data.reach = REPLICAS | FILE
            self._data = before
        if type(found) is bytes:
            raise Failed(found.decode())
        if type(found) is int:  # an empty sequence
            return []
        kind, *values = found
        if kind == 1:
            return self._listed(values)
        return Status(values[0]) if kind == 2 else _answer(values[0])

    def _reach(self, reach: int) -> None:
        """Say who gets what is written from now on."""
        assert self._data is not None
        self._data.reach = int(reach)

    def _command(self, *words: Any) -> Any:
        """Carry out a command for Lua, and return its answer in the form of Lua; a table with `err` if it failed."""
        assert self._data is not None
        try:
            answer = self._data.call([word if type(word) is bytes else _number(word) for word in words])
        except Failed as reason:
            return self._table({b"err": str(reason).encode()})
        kind = type(answer)
        if kind is bytes or kind is int:
            return answer
        return self._to_lua(answer)

    def _to_lua(self, answer: Any) -> Any:
        if answer is None:
            return False
        kind = type(answer)
        if kind is list:
            return self._table([each if type(each) is bytes else self._to_lua(each) for each in answer])
        if kind is Status:
            return self._table({b"ok": bytes(answer)})
        return answer

    def _listed(self, values: Sequence[Any]) -> list[Any]:
        """Return the values of a sequence of Lua as the server answers them, up to the first nil."""
        answers: list[Any] = []
        for value in values:
            kind = type(value)
            if kind is bytes:
                answers.append(value)
            elif value is None:
                break
            elif kind in _PLAIN:
                answers.append(_answer(value))
            else:
                found = self._parts(value)
                answers.append(self._listed(found if type(found) is tuple else (found,)))
        return answers

    def _decoded(self, text: bytes) -> Any:
        return self._from_json(orjson.loads(text))

    def _from_json(self, value: Any) -> Any:
        if type(value) is str:
            return value.encode()
        if type(value) is dict:
            return self._table({name.encode(): self._from_json(each) for name, each in value.items()})
        if type(value) is list:
            return self._table([self._from_json(each) for each in value])
        return self._null if value is None else value


_PLAIN = (int, float, bool)


def _answer(found: Any) -> Any:
    """Return a value of Lua that is no table as the server answers it."""
    if found is None or found is False:
        return None
    return found if type(found) is bytes else 1 if found is True else int(found)


def _number(value: Any) -> bytes:
    """Return a number of Lua as the server hands it to a command."""
    if type(value) is str:
        return value.encode()
    if type(value) not in (int, float):
        raise Failed("ERR Lua redis lib command arguments must be strings or integers")
    return b"%d" % value if value == int(value) else b"%.17g" % value


FUNCTIONS = Functions(library.code({}))
