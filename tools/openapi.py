"""Writes openapi.yaml from the code: `./run openapi`."""

from __future__ import annotations

import sys
from pathlib import Path

from service.app import described
from service.openapi import written

FILE = Path(__file__).resolve().parent.parent / "openapi.yaml"


def main() -> int:
    """Write the description of the API beside the code."""
    FILE.write_text(written(described()), encoding="utf-8")
    print(f"{FILE.name} is written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
