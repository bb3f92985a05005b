"""Write openapi.yaml from the code: `./run openapi`, and what the SDKs have of it. `--play` first plays a match for its examples."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from service.api.openapi import described, in_yaml
from tools.sdk import generated
from tools.typescript import module

FILE = Path(__file__).resolve().parent.parent / "openapi.yaml"
TYPES = FILE.parent / "sdk" / "js" / "types.d.ts"


def main(arguments: list[str] | None = None) -> int:
    """Write the files. Return the exit status."""
    parser = argparse.ArgumentParser(prog="./run openapi", description="Write openapi.yaml, and the generated files of the SDKs.")
    parser.add_argument("--play", action="store_true", help="play a match first, and keep its answers as examples")
    if parser.parse_args(arguments).play:
        from tools.examples import write  # it takes a service along

        print(f"{write()} examples are written.")
    description = described()
    for file, text in [(FILE, in_yaml(description)), (TYPES, module(description)), *generated(description)]:
        changed = not file.exists() or file.read_text(encoding="utf-8") != text
        if changed:  # what is as it should be is not touched, as others may be reading it
            file.write_text(text, encoding="utf-8")
        print(f"{file.name} {'is written' if changed else 'was up to date'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
