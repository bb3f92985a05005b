"""Write openapi.yaml from the code: `./run openapi`. `--play` first plays a match for its examples (tools/examples.py)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from service.api.openapi import described, in_yaml

FILE = Path(__file__).resolve().parent.parent / "openapi.yaml"


def main(arguments: list[str] | None = None) -> int:
    """Write openapi.yaml. Return the exit status."""
    parser = argparse.ArgumentParser(prog="./run openapi", description="Write openapi.yaml from the code.")
    parser.add_argument("--play", action="store_true", help="play a match first, and keep its answers as examples")
    if parser.parse_args(arguments).play:
        from tools.examples import write  # it takes a service along

        print(f"{write()} examples are written.")
    FILE.write_text(in_yaml(described()), encoding="utf-8")
    print(f"{FILE.name} is written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
