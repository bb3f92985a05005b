"""Pyodide is offered by the pages that check matches, if it is at hand, and by no other; its files may be kept for ever."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from flask.testing import FlaskClient

from events.platform import Platform
from service.app import create_app
from service.http.settings import Settings
from service.pages.pyodide import COMPRESSED, LIST, NAMES, RULES, VERSION, WASM, WORKER, at_hand
from tests.service.conftest import Caller

BYTES = b"\0asm" + b"x" * 5000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of the right names."""
    for name in NAMES:
        (tmp_path / name).write_bytes(BYTES)
    (tmp_path / COMPRESSED).write_bytes(gzip.compress(BYTES))
    (tmp_path / LIST).write_text(json.dumps({"version": VERSION}))
    return tmp_path


@pytest.fixture
def client(platform: Platform, folder: Path) -> FlaskClient:
    return create_app(platform, Settings(log_requests=False, pyodide=folder)).test_client()


def test_pages_that_check_matches_offer_it_and_no_other(client: FlaskClient, ada: Caller, folder: Path) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}}).json["id"]
    pyodide = at_hand(folder)
    assert pyodide is not None
    for path in (f"/m/{match}", "/check"):
        page = client.get(path)
        assert f'data-pyodide="{pyodide.folder}"' in page.text
        assert "unsafe" not in page.headers["Content-Security-Policy"]
    for path in ("/", f"/embed/{match}", "/games/war", "/m/mabcdefghijklmnop"):
        page = client.get(path)
        assert "pyodide" not in page.text


def test_only_the_worker_may_compile_and_no_file_may_load_anything_else(client: FlaskClient, folder: Path) -> None:
    pyodide = at_hand(folder)
    assert pyodide is not None
    for name in (*NAMES, WORKER, RULES):
        answer = client.get(f"{pyodide.folder}/{name}")
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none';")
        assert ("wasm-unsafe-eval" in policy) == (name == WORKER)
        assert client.get(f"{pyodide.folder}/{name}", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
        assert client.get(f"/pyodide/000000000000/{name}").headers["Cache-Control"] == "no-cache"
    with ZipFile(BytesIO(client.get(f"{pyodide.folder}/{RULES}").data)) as archive:
        assert "record/redeciding.py" in archive.namelist()
    for name in (LIST, COMPRESSED, "..", "%2e%2e%2fsettings.py"):
        assert client.get(f"{pyodide.folder}/{name}").status_code == 404


def test_the_largest_file_is_compressed_once_for_all(client: FlaskClient, folder: Path) -> None:
    pyodide = at_hand(folder)
    assert pyodide is not None
    plain = client.get(f"{pyodide.folder}/{WASM}")
    zipped = client.get(f"{pyodide.folder}/{WASM}", headers={"Accept-Encoding": "br, gzip"})
    assert (plain.data, gzip.decompress(zipped.data)) == (BYTES, BYTES)
    assert (plain.headers.get("Content-Encoding"), zipped.headers["Content-Encoding"]) == (None, "gzip")
    assert plain.headers["ETag"] != zipped.headers["ETag"]
    assert {answer.headers["Content-Type"] for answer in (plain, zipped)} == {"application/wasm"}
    assert {answer.headers["Vary"] for answer in (plain, zipped)} == {"Accept-Encoding"}
    (folder / COMPRESSED).unlink()
    assert client.get(f"{pyodide.folder}/{WASM}", headers={"Accept-Encoding": "gzip"}).status_code == 404


@pytest.mark.parametrize("missing", [*NAMES, COMPRESSED, LIST])
def test_it_is_not_at_hand_unless_all_of_it_is(platform: Platform, folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    assert at_hand(folder) is None
    client = create_app(platform, Settings(log_requests=False, pyodide=folder)).test_client()
    page = client.get("/check")
    assert "pyodide" not in page.text


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version":"314.0.6"}'])
def test_another_version_is_not_at_hand(folder: Path, text: str) -> None:
    (folder / LIST).write_text(text)
    assert at_hand(folder) is None
