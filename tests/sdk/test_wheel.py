"""The wheel of the SDK, installed into an empty environment, and the bots of docs/bot.md with it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from tools import private

PACKAGES = Path(sysconfig.get_path("purelib"))
NEEDED = (
    "anyio",
    "httpx",
    "httpx_sse",
    "httpcore",
    "h11",
    "certifi",
    "idna",
    "sniffio*",
    "nacl",
    "cffi",
    "_cffi_backend*",
    "pycparser",
    "typing_extensions*",
)
PAGE = (private.ROOT / "docs" / "bot.md").read_text(encoding="utf-8")
PROGRAMS = {text.split()[1].rstrip(":"): text for text in re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)}


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WARLEDGER_")) or name == "WARLEDGER_HOME"}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdk_wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(command, check=True, cwd=private.ROOT / "sdk" / "python", env=environment(), capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel, and the packages that it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("stranger") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(folder.glob("lib/python3*/site-packages"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "bin" / "python", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, env=environment(), cwd="/")
    for found in (found for name in NEEDED for found in PACKAGES.glob(name)):
        (site / found.name).symlink_to(found)
    return folder / "bin" / "python"


def run(python: Path, folder: Path, *words: str) -> str:
    """Run Python in the environment of a stranger, and return what it prints."""
    done = subprocess.run([python, *words], cwd=folder, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_has_one_package_with_types(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"warledger_client"}
    assert {"warledger_client/py.typed", "warledger_client/types.py", "warledger_client/synchronous.py"} <= set(names)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.soak if place else ()) for place, name in enumerate(PROGRAMS)])
def test_each_bot_of_the_page_plays_to_the_end(place: private.Place, python: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(PROGRAMS[name].replace("http://127.0.0.1:8000", place.url), encoding="utf-8")
    assert "winners" in run(python, tmp_path, name)
    assert len([line for line in PROGRAMS[name].splitlines() if line.strip() and not line.startswith("#")]) <= 20


@pytest.mark.soak
def test_the_wheel_names_the_packages_that_it_needs(place: private.Place, wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True, env=environment(), cwd="/")
    assert "winners" in run(python, tmp_path, "-c", next(iter(PROGRAMS.values())).replace("http://127.0.0.1:8000", place.url))
