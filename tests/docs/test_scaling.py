"""docs/scaling.md: its arithmetic gives the table that stands below it, and it names what exists."""

from __future__ import annotations

import contextlib
import io
import re

import yaml

from tools import private
from warledger.__main__ import commands

PAGE = (private.ROOT / "docs/scaling.md").read_text()
COMPOSED = (private.ROOT / "compose.cluster.yaml").read_text()


def test_the_program_prints_the_table() -> None:
    ((program, table),) = re.findall(r"```python\n(.*?)```\n```\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {})
    assert printed.getvalue() == table


def test_every_figure_of_the_program_is_explained() -> None:
    program = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    used = set(re.findall(r"\b[A-Z]{3,}\b", program)) - {"MONTH"}
    explained = {word for row in re.findall(r"^\| (`[A-Z]+`.*?) \|", PAGE, re.MULTILINE) for word in re.findall(r"`([A-Z]+)`", row)}
    assert used == explained


def test_commands_tests_and_variables_that_it_names_exist() -> None:
    assert set(re.findall(r"\./run (\w+)", PAGE)) <= commands() | {"test"}
    for file in re.findall(r"`(tests/[\w/]+\.py)`", PAGE):
        assert (private.ROOT / file).exists(), file
    written = re.search(r"Put into `\.env`.*?```\n(.*?)```", PAGE, re.DOTALL)
    assert written is not None
    named = set(re.findall(r"^ *([A-Z_]+)=", written[1], re.MULTILINE))
    needed = set(re.findall(r"\$\{([A-Z_]+):\?", COMPOSED))
    assert needed <= named
    assert named <= set(re.findall(r"\$\{([A-Z_]+)", COMPOSED))
    services = yaml.safe_load(COMPOSED)["services"]
    assert {"node", "replica"} <= set(services)
    assert {profile for service in services.values() for profile in service.get("profiles", [])} == {"first", "backup"}
