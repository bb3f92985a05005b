"""What the generators of types for the SDKs have in common: how they read the components of openapi.yaml."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
OPEN = ("Other", "OtherType", "OtherKind", "OtherGame")
"""The components that only say that a description can grow."""


def name_of(schema: Schema) -> str:
    """Return the name in a reference; "" for any other schema."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


def known(schema: Schema) -> list[Schema]:
    """Return the parts of a union without the open ones."""
    return [part for part in schema.get("anyOf", schema.get("oneOf", ())) if name_of(part) not in OPEN]


def of_any_game(schemas: Mapping[str, Schema], names: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield a name for the union of what each game has under its own prefix, such as `Choice`, where the description has none.

    `names`: all that are taken, those of the components among them.
    """
    prefixes = [name_of(part).removesuffix("Choices") for part in known(schemas.get("Choices", {}))]
    for name in sorted(names) if prefixes else ():
        rest = name.removeprefix(prefixes[0])
        members = [f"{prefix}{rest}" for prefix in prefixes]
        if rest != name and rest not in names and set(members) <= set(names):
            yield rest, members
