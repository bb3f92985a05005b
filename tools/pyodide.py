"""Fetch Pyodide, so that readers can decide every action of a match again in their browser: `./run pyodide`."""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from service.http.settings import settings_from_environment
from service.pages.pyodide import COMPRESSED, LIST, NAMES, VERSION, WASM

PACKAGE = f"pyodide@{VERSION}"
INTEGRITY = "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
PATIENCE = 600  # seconds
ABOUT = (
    f"Fetch {PACKAGE} with npm (6.5 MB) and check its hash. After a restart, the service lets readers decide every action of a match "
    "again in their browser, with the unchanged rules."
)


class CannotFetch(Exception):
    """Pyodide cannot be fetched. The text says why, and what to do."""


def main(arguments: list[str] | None = None) -> int:
    """Fetch Pyodide and print where it is. Return 1 if this fails."""
    parser = argparse.ArgumentParser(prog="./run pyodide", description=ABOUT)
    parser.add_argument("--from", dest="file", type=Path, metavar="FILE", help=f"the package, if you ran `npm pack {PACKAGE}` elsewhere")
    chosen = settings_from_environment().pyodide
    parser.add_argument("--to", type=Path, default=chosen, metavar="DIR", help="the folder ($WARLEDGER_PYODIDE, or in the data folder)")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            unpack(options.file or packed(Path(folder)), options.to)
    except (CannotFetch, OSError) as reason:
        print(reason, file=sys.stderr)
        return 1
    print(f"{PACKAGE} is in {options.to}. Restart the service, and its pages offer to decide every action again.")
    return 0


def packed(folder: Path) -> Path:
    """Download the package to a folder with npm and the user's npm settings. Return its file. Raises CannotFetch."""
    npm = shutil.which("npm")
    if npm is None:
        raise CannotFetch(f"There is no npm here. Install Node.js, or run `npm pack {PACKAGE}` elsewhere and give the file with --from.")
    try:
        subprocess.run([npm, "pack", PACKAGE, "--pack-destination", str(folder)], check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        return next(folder.glob("*.tgz"))
    except (subprocess.SubprocessError, StopIteration):
        raise CannotFetch(f"npm could not fetch {PACKAGE}; its output is above. Check the network and the settings of npm.") from None


def unpack(file: Path, to: Path) -> None:
    """Replace the content of a folder by the files of a package that a web worker loads. Raises CannotFetch, OSError."""
    found = "sha512-" + base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
    if found != INTEGRITY:
        raise CannotFetch(f"{file.name} is not the published {PACKAGE}: its hash is {found}. Nothing was changed.")
    to.mkdir(parents=True, exist_ok=True)
    (to / LIST).unlink(missing_ok=True)  # without this file, the service ignores the folder
    with tarfile.open(file) as archive:
        contents = {name: archive.extractfile(f"package/{name}") for name in (*NAMES, LIST)}
        for name, content in contents.items():
            assert content is not None, "the package with this hash has these files"
            raw = content.read()
            if name == WASM:
                (to / COMPRESSED).write_bytes(gzip.compress(raw, mtime=0))
            (to / name).write_bytes(raw)


if __name__ == "__main__":
    sys.exit(main())
