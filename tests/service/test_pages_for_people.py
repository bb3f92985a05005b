"""The description of the API as it is served: it is made once, whoever asks first."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from flask import Flask

from service.api import docs


def test_the_description_is_made_once_however_many_ask_for_it_first() -> None:
    app, made = Flask("described"), []
    together = threading.Barrier(8)

    def describe(games: object) -> dict[str, str]:
        made.append(threading.current_thread())
        time.sleep(0.1)
        return {"openapi": "3.1.0"}

    def ask(path: str) -> bytes:
        together.wait()
        return app.test_client().get(path).data

    docs.mount(app, {}, describe)
    with ThreadPoolExecutor(8) as asking:
        answers = set(asking.map(ask, ["/openapi.json", "/openapi.yaml"] * 4))
    assert answers == {b'{"openapi":"3.1.0"}', b"{openapi: 3.1.0}\n"}
    assert len(made) == 1
