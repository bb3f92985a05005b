"""`./run pictures`: what it writes, and what it says without a browser."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as Tree
from pathlib import Path

import pytest

from tools import browsers, pictures

ROOT = Path(__file__).parents[2]


def test_it_draws_three_moments_light_and_dark_wide_and_tall(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pictures.main(["--to", str(tmp_path), "--game", "war", "--seats", "2", "--level", "random"]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        f"war-{moment}-{shape}-{theme}.svg"
        for moment in ("set-up", "middle", "end")
        for shape in ("wide", "tall")
        for theme in ("light", "dark")
    }
    for path in tmp_path.iterdir():
        Tree.fromstring(path.read_text(encoding="utf-8"))
    assert "prefers-color-scheme" not in (tmp_path / "war-end-wide-dark.svg").read_text(encoding="utf-8")
    assert len(capsys.readouterr().out.splitlines()) == len(names)


def test_the_same_seed_gives_the_same_pictures(tmp_path: Path) -> None:
    for name in ("one", "other"):
        pictures.main(["--to", str(tmp_path / name), "--game", "war", "--seats", "2", "--level", "random", "--seed", "5"])
    one, other = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "other"))
    assert one == other


@pytest.mark.soak
def test_every_drawing_gets_an_image(tmp_path: Path) -> None:
    if browsers.chromium() is None:
        pytest.skip("no Chromium was found")
    words = ["--to", str(tmp_path), "--game", "war", "--seats", "2", "--level", "random", "--png"]
    done = subprocess.run([sys.executable, "-m", "tools.pictures", *words], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    images = {path.stem: path.read_bytes() for path in tmp_path.glob("*.png")}
    assert set(images) == {path.stem for path in tmp_path.glob("*.svg")}
    assert {path.suffix for path in tmp_path.iterdir()} == {".svg", ".png"}
    width = {name: int.from_bytes(image[16:20], "big") for name, image in images.items()}  # of the header of a PNG file
    assert all(found == 780 for name, found in width.items() if "-tall-" in name)
    assert len(set(images.values())) > len(images) // 2, "they show something"


def test_images_need_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(browsers, "FETCHED", tmp_path / "none")  # other tests may have fetched one
    assert pictures.main(["--to", str(tmp_path), "--png"]) == 2
    assert "CHROMIUM" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
