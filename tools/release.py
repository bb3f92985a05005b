"""Build and check the files of a release: `./run release`.

It refuses a working tree that differs from its commit, a changelog that is not finished, and a version that exists. The wheel is installed
with the pinned packages in an empty environment, and a match is played there, before anything is put into dist/<version>/.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINNED = "requirements.txt"
CLIENT = Path("sdk", "python")
JAVASCRIPT = Path("sdk", "js")
SUMS = "SHA256SUMS"
ABOUT = (
    "Build the wheels and source archives of the service and of the Python client, and the npm package of the JavaScript client, from the "
    "commit, play a match in an empty environment, and write them to dist/<version>/ with the pinned packages, a bill of materials "
    "(CycloneDX) and the SHA-256 of each file. Then tag the commit."
)


class Failed(Exception):
    """A step of the release failed. The text says which; its output is above."""


def main(arguments: list[str] | None = None) -> int:
    """Make a release. Return 1 and leave nothing behind if there is a reason against it, or if a step fails."""
    parser = argparse.ArgumentParser(prog="./run release", description=ABOUT)
    parser.add_argument("--no-tag", action="store_true", help="do not tag the commit")
    options = parser.parse_args(arguments)
    version = version_of(ROOT)
    reasons = list(against(ROOT, version))
    if reasons:
        print("\n".join(reasons), file=sys.stderr)
        return 1
    try:
        with tempfile.TemporaryDirectory() as folder:
            target = made(ROOT, version, Path(folder))
        if not options.no_tag:
            run(["git", "tag", "--annotate", f"v{version}", "--message", f"Warledger {version}"], ROOT)
    except Failed as reason:
        print(reason, file=sys.stderr)
        return 1
    print((target / SUMS).read_text(), end="")
    print(f"Warledger {version} is in {target}." + ("" if options.no_tag else f" The commit has the tag v{version}; push it, and upload."))
    return 0


def version_of(root: Path) -> str:
    """Return the version that pyproject.toml names."""
    found: str = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    return found


def against(root: Path, version: str) -> Iterator[str]:
    """Yield a sentence for each reason against a release of a version."""
    changed = output(["git", "status", "--porcelain"], root)
    if changed is None:
        yield f"{root} is not the working tree of a git repository."
        return
    if changed:
        yield f"The working tree differs from its commit:\n{changed.rstrip()}"
    yield from _against_changelog((root / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    tag = f"v{version}"
    if output(["git", "tag", "--list", tag], root) or output(["git", "ls-remote", "--tags", "origin", tag], root):
        yield f"Version {version} exists: there is a tag {tag}. Raise the version in pyproject.toml, and write its changes down."
    if (root / "dist" / version).exists():
        yield f"Version {version} exists: there is a folder dist/{version}."


def _against_changelog(text: str, version: str) -> Iterator[str]:
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    if any("unreleased" in heading.lower() for heading in headings):
        yield "CHANGELOG.md has changes that belong to no version (Unreleased)."
    wanted = f"[{version}] - YYYY-MM-DD"
    if not headings or not re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", headings[0]):
        yield f"CHANGELOG.md is not finished: its first heading is not `## {wanted}`."
    elif not re.search(r"^- ", text.partition(f"## {headings[0]}")[2].partition("\n## ")[0], re.MULTILINE):
        yield f"CHANGELOG.md is not finished: version {version} has no entry."


def made(root: Path, version: str, scratch: Path) -> Path:
    """Build and check everything in a temporary folder, then put it in place. Return its folder. Raises Failed."""
    source, files, place = scratch / "source", scratch / "files", scratch / "place"
    source.mkdir()
    run(["git", "archive", "--output", str(scratch / "source.tar"), "HEAD"], root)  # what is not committed stays out
    shutil.unpack_archive(scratch / "source.tar", source)
    moment = output(["git", "log", "-1", "--format=%ct"], root) or "0"
    for folder in (source, source / CLIENT):
        build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(files), str(folder)]
        run(build, scratch, SOURCE_DATE_EPOCH=moment.strip())
    (files / f"warledger-client-{version}.tgz").write_bytes(npm_package(source / JAVASCRIPT, int(moment)))
    python = str(place / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet"]
    run([sys.executable, "-m", "venv", "--without-pip", str(place)], scratch)
    run([*pip, "--require-hashes", "-r", str(source / PINNED)], scratch)
    run([*pip, "--no-deps", "--no-index", *map(str, files.glob("*.whl"))], scratch)
    run([str(place / "bin" / "warledger"), "demo"], scratch)
    run([python, "-c", "import warledger_client"], scratch)
    name = f"warledger-{version}"
    shutil.copy(source / PINNED, files / f"{name}-{PINNED}")
    bill = ["environment", "--output-reproducible", "--pyproject", str(source / "pyproject.toml"), "-o", str(files / f"{name}.cdx.json")]
    run([sys.executable, "-m", "cyclonedx_py", *bill, python], scratch)
    sums = [f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(files.iterdir())]
    (files / SUMS).write_text("".join(sums))
    target = root / "dist" / version
    target.parent.mkdir(exist_ok=True)
    shutil.copytree(files, target)
    return target


def npm_package(folder: Path, moment: int) -> bytes:
    """Return the files of a folder as `npm pack` does: those that package.json lists, itself, and the README. They get one time."""
    listed = json.loads((folder / "package.json").read_bytes())["files"]
    names = {"package.json", "README.md", *(path.name for pattern in listed for path in folder.glob(pattern))}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(names):
            content = (folder / name).read_bytes()
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mtime = len(content), moment
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=moment)


def run(command: Sequence[str], folder: Path, **environment: str) -> None:
    """Run a command in a folder, without the modules of this checkout. Raises Failed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WARLEDGER_"))}
    if subprocess.run(command, cwd=folder, env={**inherited, **environment}).returncode:
        raise Failed(f"This step failed, and nothing was released: {' '.join(command)}")


def output(command: Sequence[str], folder: Path) -> str | None:
    """Return the output of a command, or None if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
