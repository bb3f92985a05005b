"""Put the folders of the code into the package `warledger` of a wheel. Hatchling calls this when it builds one (ADR 97).

In a wheel, every import of ours names the package: `from games.war` becomes `from warledger.games.war`. So nothing but `warledger` is put
into site-packages, and the modules are ordinary ones: one copy in a process, found by `python -m`, by pickle and by type checkers. Texts
for people name the command `warledger`, not `./run`. record/rules.py undoes the first change, so that rules have the same content hash.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "warledger"
_BELOW = (
    "games table players web evidence record events service workers tools verify examples/pettingzoo sdk/python/warledger_client sdk/js"
)
FOLDERS = tuple(_BELOW.split())
SPEAKING = ("events", "service", "workers", "tools")  # folders with texts for people who type commands
CHECKOUT = "\nTo work on Warledger"  # where commands.txt begins with what only a checkout has
ALONE = ("prepare", "wheel", "sdk", "components", "typeddicts", "typescript")  # other modules of tools that only a checkout has
NAMES = "|".join(folder.partition("/")[0] for folder in FOLDERS)
IMPORT = re.compile(rf"^(\s*(?:>>> |\.\.\. )?from )({NAMES})\b", re.MULTILINE)


class NotMovable(Exception):
    """A module names another one in a form that cannot be moved into the package. The text says where."""


class Wheel(BuildHookInterface[Any]):
    """The hook: it adds the moved folders to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the moved folders to a temporary folder, and let the wheel include it. An editable install needs none."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()  # removed with this object
        put(Path(self.root), Path(self._folder.name))
        build_data["force_include"][self._folder.name] = PACKAGE


def put(root: Path, target: Path) -> None:
    """Write every file of a wheel's package into a folder. Raises NotMovable."""
    for path in files(root):
        name = path.relative_to(root / PACKAGE if path.is_relative_to(root / PACKAGE) else root)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes()
        (target / name).write_bytes(moved(name, content.decode()).encode() if path.suffix == ".py" else content)


def files(root: Path) -> Iterator[Path]:
    """Yield the files of the folders that belong in a wheel, in order."""
    listed = (root / PACKAGE / "commands.txt").read_text(encoding="utf-8").partition(CHECKOUT)[2]
    left_out = {root / "tools" / f"{name}.py" for name in (*ALONE, *re.findall(r"^  \./run ([a-z]+)", listed, re.MULTILINE))}
    for folder in (PACKAGE, *FOLDERS):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path not in left_out and path.suffix != ".pyc" and not path.name.startswith("."):
                yield path


def moved(name: Path, code: str) -> str:
    """Return the code of a module as the wheel has it. `name`: its path from the root of the project. Raises NotMovable."""
    result = IMPORT.sub(rf"\1{PACKAGE}.\2", code)
    if name.parts[0] in SPEAKING:
        result = result.replace("./run ", f"{PACKAGE} ")
    for node in ast.walk(ast.parse(result)):
        named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [_module(node)]
        if isinstance(node, ast.Import | ast.ImportFrom) and any(re.match(rf"({NAMES})\b", one) for one in named):
            raise NotMovable(f"{name}, line {node.lineno}: import modules of the project with `from`, at the beginning of a line.")
    return result


def _module(node: ast.AST) -> str:
    """Return the module from which a statement imports; nothing if it is another one of the same package."""
    return node.module or "" if isinstance(node, ast.ImportFrom) and node.level == 0 else ""
