"""`./run release` names every reason against a release, and does nothing then."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import release

PROJECT = '[project]\nname = "warledger"\nversion = "0.2.0"\n'
FINISHED = "# Changelog\n\n## [0.2.0] - 2026-11-27\n- **More**: much.\n\n## [0.1.0] - 2026-11-01\n- All.\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository that is ready for a release."""
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "CHANGELOG.md").write_text(FINISHED)
    (tmp_path / ".gitignore").write_text("/dist/\n")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(tree: Path, *words: str) -> None:
    named = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    subprocess.run(["git", *named, *words], cwd=tree, check=True, capture_output=True)


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "x")


def against(tree: Path) -> list[str]:
    return list(release.against(tree, release.version_of(tree)))


def test_nothing_speaks_against_a_finished_version_that_is_new(tree: Path) -> None:
    assert against(tree) == []


@pytest.mark.parametrize("name", ["CHANGELOG.md", "new.py"])
def test_a_tree_that_differs_from_its_commit_is_refused(tree: Path, name: str) -> None:
    (tree / name).write_text(FINISHED + "\n")
    (reason,) = against(tree)
    assert "differs from its commit" in reason
    assert name in reason


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace(" - 2026-11-27", ""), "first heading"),
        (lambda text: text.replace("[0.2.0]", "[0.3.0]"), "first heading"),
        (lambda text: text.replace("- **More**: much.\n", ""), "no entry"),
        (lambda text: text.replace("## [0.1.0]", "## [Unreleased]\n- x\n\n## [0.1.0]"), "belong to no version"),
    ],
)
def test_a_changelog_that_is_not_finished_is_refused(tree: Path, change: Callable[[str], str], why: str) -> None:
    (tree / "CHANGELOG.md").write_text(change(FINISHED))
    commit(tree)
    (reason,) = against(tree)
    assert why in reason


def test_a_version_that_exists_is_refused(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    git(tree, "tag", "--annotate", "v0.2.0", "--message", "x")
    assert "there is a tag v0.2.0" in "".join(against(tree))
    elsewhere = tmp_path_factory.mktemp("clone")
    git(elsewhere, "clone", "--quiet", "--no-tags", str(tree), "clone")
    assert "there is a tag v0.2.0" in "".join(against(elsewhere / "clone"))
    git(tree, "tag", "--delete", "v0.2.0")
    (tree / "dist" / "0.2.0").mkdir(parents=True)
    assert "there is a folder dist/0.2.0" in "".join(against(tree))


def test_a_folder_without_git_is_refused(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(FINISHED)
    assert "not the working tree" in "".join(release.against(tmp_path, "0.2.0"))


def test_a_step_that_fails_leaves_nothing_behind(tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The tree has no packages to build."""
    monkeypatch.setattr(release, "ROOT", tree)
    monkeypatch.setattr(release.sys, "executable", "false")
    assert release.main([]) == 1
    assert "nothing was released" in capsys.readouterr().err
    assert not (tree / "dist").exists()
    assert subprocess.run(["git", "tag"], cwd=tree, capture_output=True, check=True).stdout == b""
