"""`./run pyodide` takes the published package and nothing else, and says what is missing."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from service.pages.pyodide import LIST, NAMES, VERSION, at_hand
from tools import pyodide

NPM = """#!/bin/sh
[ "$1 $2 $3" = "pack pyodide@{version} --pack-destination" ] && cp {file} "$4"
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of the right form."""
    file = tmp_path / "published" / f"pyodide-{VERSION}.tgz"
    file.parent.mkdir()
    with tarfile.open(file, "w:gz") as archive:
        for name in (*NAMES, LIST, "README.md"):
            content = b'{"version":"%b"}' % VERSION.encode() if name == LIST else name.encode()
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file


def published(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    """Take this file for the one that was published."""
    monkeypatch.setattr(pyodide, "INTEGRITY", "sha512-" + base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode())


def test_another_package_is_refused_and_changes_nothing(package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pyodide.main(["--from", str(package), "--to", str(tmp_path / "to")]) == 1
    assert "is not the published pyodide@" in capsys.readouterr().err
    assert not (tmp_path / "to").exists()
    assert pyodide.main(["--from", str(tmp_path / "none.tgz"), "--to", str(tmp_path / "to")]) == 1
    assert "none.tgz" in capsys.readouterr().err


def test_npm_brings_it(monkeypatch: pytest.MonkeyPatch, package: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "npm").write_text(NPM.format(version=VERSION, file=package))
    (tmp_path / "bin" / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("WARLEDGER_PYODIDE", str(tmp_path / "to"))
    published(monkeypatch, package)
    assert pyodide.main([]) == 0
    assert at_hand(tmp_path / "to") is not None
    assert not (tmp_path / "to" / "README.md").exists()


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pyodide.main(["--to", str(tmp_path / "to")]) == 1
    assert "There is no npm here" in capsys.readouterr().err
    (tmp_path / "npm").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "npm").chmod(0o755)
    assert pyodide.main(["--to", str(tmp_path / "to")]) == 1
    assert "npm could not fetch" in capsys.readouterr().err
