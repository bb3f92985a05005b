"""Turns: one thread of a process computes at a time, and none waits long for another."""

from __future__ import annotations

import socket
import threading
from typing import Any

from hiredis import Reader

from events.store.wire import _MISSING, Wire
from events.turns import TURNS, Turns


def test_a_thread_has_its_turn_when_another_leaves_its_own() -> None:
    turns, order, waiting, left = Turns(patience=60), list[str](), threading.Event(), threading.Event()

    def other() -> None:
        waiting.set()
        with turns:
            order.append("other")
            left.set()

    with turns:
        thread = threading.Thread(target=other)
        thread.start()
        waiting.wait()
        order.append("first")
        assert turns.leave(), "as while it waits for the store"
        left.wait()
        assert not turns.leave(), "it has none to leave"
        turns.take()
        order.append("first")
    thread.join()
    assert order == ["first", "other", "first"]


def test_whoever_has_no_turn_in_time_goes_on_without_one() -> None:
    turns, done = Turns(patience=0.001), list[bool]()

    def other() -> None:
        with turns:
            done.append(turns.leave())

    with turns:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert done == [False]
        assert turns.leave(), "the turn of this thread is not touched"
    with turns:
        assert turns.leave(), "and can be had again"


def test_a_turn_is_left_while_the_store_is_waited_for() -> None:
    wire: Any = Wire.__new__(Wire)
    wire._socket, store = socket.socketpair()
    wire._reader = Reader(notEnoughData=_MISSING)
    free: list[bool] = []

    def answer() -> None:
        store.recv(1000)
        free.append(TURNS._lock.acquire(blocking=False))
        TURNS._lock.release()
        store.sendall(b"+PONG\r\n")

    thread = threading.Thread(target=answer)
    thread.start()
    with TURNS:
        assert wire.exchange([("PING",)]) == [b"PONG"]
        assert TURNS.leave(), "and taken again"
    thread.join()
    assert free == [True]
    for end in (wire._socket, store):
        end.close()
