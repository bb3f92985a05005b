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
    written = [(FILE, in_yaml(description)), (TYPES, module(description)), *generated(description)]
    for file, text in written:
        file.write_text(text, encoding="utf-8")
    print(f"{', '.join(file.name for file, _ in written)} are written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
