"""The ceiling for comparisons: a bare Flask route with one Redis script call (version check, XADD, PUBLISH), under the service's server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import redis
from flask import Flask, jsonify, request

from events.keeping import embedded

SCRIPT = """
local head = redis.call('XLEN', KEYS[1])
local version = head + 1
if ARGV[1] ~= '' and tonumber(ARGV[1]) ~= head then return {0, head} end
redis.call('{XADD}', KEYS[1], version .. '-0', 'e', ARGV[2])
redis.call('{PUBLISH}', ARGV[3], KEYS[1] .. ' ' .. version)
return {1, version}
"""
ENTRY = "x" * 600


def create_app() -> Flask:
    """Return the application."""
    app = Flask(__name__)
    client: Any = redis.Redis.from_url(os.environ["WARLEDGER_REDIS_URL"])
    text = SCRIPT
    for command, name in embedded.renamed(Path(os.environ["WARLEDGER_DATA"])).items():
        text = text.replace(f"{{{command}}}", name)
    append = client.register_script(text)

    @app.get("/healthz")
    def healthz() -> Any:
        return jsonify(ok=True)

    @app.post("/v1/matches/<match>/actions")
    def actions(match: str) -> Any:
        action = request.get_json()
        written, version = append(keys=[f"bare:{match}"], args=["", ENTRY, "bare:heads"])
        return jsonify(written=bool(written), version=version, type=action["type"])

    return app
