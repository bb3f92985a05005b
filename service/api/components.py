"""Collect the components of the OpenAPI description from the shapes of the operations.

Requests are strict, and answers are open. So the schema of an answer leaves out whatever would forbid new values:

- An object may have further members.
- A list of ids admits any other text. If requests have the same list, answers refer to `Any…` instead.
- A union that may grow gets a last part for unknown values: `OtherType`, `OtherKind`, `OtherGame` or `Other`.

What recurs in many places, such as the id of a seat, is always a component (`COMMON`).

An action is the same component in requests and answers. It is open; a request body that refers to it lists the members it may have.
With `opened=False` every schema is as exact as its shape. Tests check answers against that.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal

from games.schema import Schema, record, text
from service.api.shapes import COMMON, EXTENDS, GROWS, Component, camel
from service.http.schemas import LARGEST

Direction = Literal["in", "out", "both"]

_UNKNOWN = "that this description does not know. Ignore it, or treat it as a whole."


class Components:
    """The components collected so far, by name. Collect requests first: a component that differs in answers is named `Shown…` there."""

    def __init__(self, *, opened: bool) -> None:
        self.found: dict[str, Schema] = {}
        self._opened = opened
        self._names: dict[tuple[int, Direction], str] = {}
        self._kept: list[Component] = []  # keeps them alive: `_names` has their `id()`

    def request(self, schema: Schema) -> Schema:
        """Return a schema as requests have it. Collect the components that it refers to."""
        return self._written(schema, "in")

    def answer(self, schema: Schema) -> Schema:
        """Return a schema as answers have it. Collect the components that it refers to."""
        return self._written(schema, "out")

    def _written(self, schema: Any, direction: Direction, *, named: bool = False) -> Any:
        """Return a schema, or a part of one, as the description has it. `named`: this is the schema of a component."""
        if isinstance(schema, list):
            return [self._written(part, direction) for part in schema]
        if isinstance(schema, Component):
            return f"#/components/schemas/{self._name(schema, direction)}"
        if not isinstance(schema, dict):
            return schema
        schema = self._referring(schema, direction, named)
        component = schema.get("$ref")
        found = {key: self._written(part, direction) for key, part in schema.items() if key != GROWS}
        if "anyOf" in found:
            found["anyOf"] = [_without_const(part) for part in found["anyOf"]]
        if direction != "out" and found.get("type") == "integer" and "enum" not in found:
            # Some languages cannot represent larger integers exactly. Such numbers are refused before the rules see them.
            found = {"minimum": -LARGEST, "maximum": LARGEST, **found}
        if not self._opened:
            return found
        found = _with_null(found)
        if found.get("required") == []:
            del found["required"]
        if "const" in found:
            found.pop("type", None)
        if direction == "in":
            if isinstance(component, Component) and "properties" in component.schema and component.both:
                found["propertyNames"] = {"enum": list(component.schema["properties"])}
            return found
        if found.get("additionalProperties") is False:
            del found["additionalProperties"]
        return self._open(found, schema.get(GROWS)) if direction == "out" else found

    def _referring(self, schema: Schema, direction: Direction, named: bool) -> Schema:
        """Return a schema with references to components, and without descriptions that only repeat theirs."""
        if self._opened and not named and (common := _COMMON.get(_core(schema))) is not None:
            schema = {"$ref": common, **_about(schema)}
        if EXTENDS in schema:
            whole, schema = schema[EXTENDS], {key: part for key, part in schema.items() if key != EXTENDS}
            if self._opened and direction == "out":
                schema = _extended(schema, whole)
        component = schema.get("$ref")
        if isinstance(component, Component) and _is_alike(schema, component.schema):
            return {"$ref": component}
        return schema

    def _open(self, schema: Schema, grows: str | None) -> Schema:
        """Return the schema of an answer, without what would forbid other values.

        `grows`: the member that tells the parts of a growing union apart, or "" if none does. None: the union does not grow.
        """
        if "enum" in schema.get("propertyNames", ()):
            del schema["propertyNames"]
        if schema.get("maximum") == LARGEST:
            del schema["maximum"]
        if "oneOf" in schema:
            del schema["discriminator"]  # a discriminator would have to list every value
            schema = {"anyOf": schema.pop("oneOf"), **schema}
        if "anyOf" in schema:
            schema["anyOf"] = [_open_text(part) for part in schema["anyOf"]]
        if grows is not None:
            schema["anyOf"].append(self._other(grows))
        return _open_text(schema)

    def _name(self, component: Component, direction: Direction) -> str:
        if component.both:
            direction = "both"
        known = self._names.get((id(component), direction))
        if known is not None:
            return known
        self._kept.append(component)
        if _is_list_of_ids(component.schema) and self._opened and direction == "out":
            name = self._open_ids(component)
        else:
            name = self._added(component.name, self._written(component.schema, direction, named=True))
        self._names[id(component), direction] = name
        return name

    def _open_ids(self, component: Component) -> str:
        """Add a list of ids that admits other texts. Return its name."""
        about = {"description": f"{component.schema['description'].removesuffix('.')}, or another."}
        schema = {**_open_text(component.schema), **about}
        if self.found.get(component.name, schema) == schema:
            return self._added(component.name, schema)
        known = {"$ref": f"#/components/schemas/{component.name}"}
        return self._added(f"Any{component.name}", {"anyOf": [known, {"type": "string"}], **about})

    def _added(self, name: str, schema: Schema) -> str:
        """Add a component. Return its name: `Shown…` if a different component has the name already."""
        for free in (name, f"Shown{name}"):
            if self.found.setdefault(free, schema) == schema:
                return free
        raise AssertionError(f"two components are named {name}")

    def _other(self, key: str) -> Schema:
        if not key:
            schema = {"type": "object", "description": f"An object of a kind {_UNKNOWN}"}
        else:
            fields = {key: text(about=f"A {key} {_UNKNOWN}")}
            schema = record(fields, f"An object with a `{key}` {_UNKNOWN}").schema
            del schema["additionalProperties"]
        return {"$ref": f"#/components/schemas/{self._added(f'Other{camel(key)}', schema)}"}


def _core(schema: Schema) -> str:
    """Return a key that identifies a schema. The description counts only for integers, which often differ in nothing else."""
    left_out = () if schema.get("type") == "integer" else ("description",)
    return json.dumps({key: part for key, part in schema.items() if key not in left_out}, sort_keys=True, default=str)


def shared(schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return the components. A part that recurs becomes one if that is shorter. It is named after the first field that has it."""
    counts: Counter[str] = Counter()
    names: dict[str, str] = {}
    found: dict[str, Schema] = {}

    def count(part: Any, place: str) -> Any:
        key = _described(part)
        counts[key] += 1
        return part if key and counts[key] > 1 else _mapped(part, place, count)

    def refer(part: Any, place: str) -> Any:
        key = _described(part)
        if not key or (key not in names and not _saves(key, counts[key], place)):
            return _mapped(part, place, refer)
        if key not in names:
            names[key] = next(name for name in (place, *(f"{place}{n}" for n in range(2, 99))) if name not in {*schemas, *names.values()})
            found[names[key]] = _mapped(part, place, refer)
        return {"$ref": f"#/components/schemas/{names[key]}"}

    for name in sorted(schemas):
        _mapped(schemas[name], name, count)
    for name in sorted(schemas):
        found[name] = _mapped(schemas[name], name, refer)
    return found


def _saves(written: str, count: int, name: str) -> bool:
    """Return whether a component with this name is shorter than what it replaces in `count` places."""
    return (count - 1) * len(written) > count * (_REFERENCE + len(name)) + len(name)


_REFERENCE = len("{$ref: '#/components/schemas/'}")


def _described(part: Schema) -> str:
    """Return a schema as text if it can be a component and has a description, or an empty text.

    Lists never become components: client generators make no types for them.
    """
    if "$ref" in part or "description" not in part or any(one.get("type") == "array" for one in (part, *part.get("anyOf", ()))):
        return ""
    return json.dumps(part)


def _mapped(schema: Schema, place: str, change: Callable[[Schema, str], Schema]) -> Schema:
    """Return a schema with `change` applied to its parts. `place`: the name of a component that would replace the schema."""
    changed = dict(schema)
    if "properties" in schema:
        changed["properties"] = {name: change(part, f"{place}{camel(name)}") for name, part in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            changed[key] = change(schema[key], place)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            changed[key] = [change(part, place) for part in schema[key]]
    if "allOf" in schema:
        changed["allOf"] = [_mapped(part, place, change) for part in schema["allOf"]]
    return changed


def _is_alike(schema: Schema, other: Schema) -> bool:
    """Return whether two schemas have the same description. The case of the first letter and the full stop do not count."""
    one, two = (about.get("description", "").removesuffix(".") for about in (schema, other))
    return one[:1].lower() + one[1:] == two[:1].lower() + two[1:]


def _is_list_of_ids(schema: Schema) -> bool:
    return schema.get("type") == "string" and "enum" in schema


def _with_null(schema: Schema) -> Schema:
    """Return the schema of a nullable plain value with a list of two types in place of `anyOf`."""
    value, *others = schema.get("anyOf", ({},))
    if others != [{"type": "null"}] or value.get("type") not in ("boolean", "integer", "string") or "enum" in value:
        return schema
    return {**value, "type": [value["type"], "null"], **{key: part for key, part in schema.items() if key != "anyOf"}}


def _extended(schema: Schema, whole: Component) -> Schema:
    """Return the schema of an object as `allOf`: the component that it extends, and its further members."""
    has = whole.schema["properties"]
    properties = {name: part for name, part in schema["properties"].items() if name not in has}
    own = {"type": "object", "properties": properties, "required": [name for name in schema["required"] if name not in has]}
    return {"allOf": [{"$ref": whole}, own], **{key: schema[key] for key in ("description", "examples") if key in schema}}


def _open_text(schema: Schema) -> Schema:
    """Return a list of texts that admits any other text. It still names the known ones."""
    if not _is_list_of_ids(schema):
        return schema
    return {"anyOf": [{"type": "string", "enum": schema["enum"]}, {"type": "string"}], **_about(schema)}


def _about(schema: Schema) -> Schema:
    return {key: schema[key] for key in ("description",) if key in schema}


def _without_const(part: Schema) -> Schema:
    """Return a part with `enum` in place of `const`. Client generators try the parts in turn, and fail at a `const` that differs."""
    return {**{key: value for key, value in part.items() if key != "const"}, "enum": [part["const"]]} if "const" in part else part


_COMMON = {_core(shape.schema): Component(name, shape.schema, both=not _is_list_of_ids(shape.schema)) for name, shape in COMMON.items()}
