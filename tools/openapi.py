"""Write openapi.yaml from the code: `./run openapi`."""

from __future__ import annotations

import sys
from pathlib import Path

from service.api.openapi import described, in_yaml

FILE = Path(__file__).resolve().parent.parent / "openapi.yaml"


def main() -> int:
    """Write openapi.yaml. Return the exit status."""
    FILE.write_text(in_yaml(described()), encoding="utf-8")
    print(f"{FILE.name} is written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
