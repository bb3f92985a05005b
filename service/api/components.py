"""The components of the description, collected from the shapes to which operations refer.

Answers are open and requests are strict. So what an answer refers to is written down without what would forbid more:

- An object may have further members.
- A list of ids becomes one of them, or another text. If requests have the list too, answers have `Any…` beside it.
- A union that may grow gets a last part for whatever it does not know: `OtherType`, `OtherKind`, `OtherGame` or `Other`.

What recurs in many places, such as the id of a seat, has a component of its own wherever it occurs (`COMMON`).

An action is the same component in both directions. It is open; a body that refers to it names the members that it may have.
With `opened=False` everything is as exact as its shape. That is what tests hold answers against.
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
    """The components that are referred to so far, by name. Requests come first: a component that differs in answers is `Shown…` there."""

    def __init__(self, *, opened: bool) -> None:
        self.found: dict[str, Schema] = {}
        self._opened = opened
        self._names: dict[tuple[int, Direction], str] = {}
        self._kept: list[Component] = []  # alive, so that no id is used again

    def request(self, schema: Schema) -> Schema:
        """Return the schema of what comes in, and collect the components to which it refers."""
        return self._written(schema, "in")

    def answer(self, schema: Schema) -> Schema:
        """Return the schema of what goes out, and collect the components to which it refers."""
        return self._written(schema, "out")

    def _written(self, schema: Any, direction: Direction, *, named: bool = False) -> Any:
        """Return a schema, or a part of one, as the description has it. `named`: it is the schema of a component."""
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
            # Some languages cannot count exactly beyond this. Such numbers are refused before the rules see them.
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
        """Return a schema with references to what stands elsewhere, and without descriptions that stand there too."""
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
        """Return the schema of an answer without what would forbid other values. `grows`: whether there may be more parts."""
        if "enum" in schema.get("propertyNames", ()):
            del schema["propertyNames"]
        if schema.get("maximum") == LARGEST:
            del schema["maximum"]
        if "oneOf" in schema:
            del schema["discriminator"]  # it would have to know every value
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
        """Add a list of ids as answers have it. Return its name."""
        about = {"description": f"{component.schema['description'].removesuffix('.')}, or another."}
        schema = {**_open_text(component.schema), **about}
        if self.found.get(component.name, schema) == schema:
            return self._added(component.name, schema)
        known = {"$ref": f"#/components/schemas/{component.name}"}
        return self._added(f"Any{component.name}", {"anyOf": [known, {"type": "string"}], **about})

    def _added(self, name: str, schema: Schema) -> str:
        """Add a component. Return its name, which is another one if a request has a component of this name that differs."""
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
    """Return what tells a schema apart: all but its description, if it says more than that it is a number."""
    left_out = () if schema.get("type") == "integer" else ("description",)
    return json.dumps({key: part for key, part in schema.items() if key not in left_out}, sort_keys=True, default=str)


def shared(schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return components, in which a large part that recurs is one of its own, named after the first field that has it."""
    counts: Counter[str] = Counter()
    names: dict[str, str] = {}
    found: dict[str, Schema] = {}

    def count(part: Any, place: str) -> Any:
        key = _large(part)
        counts[key] += 1
        return part if key and counts[key] > 1 else _mapped(part, place, count)

    def refer(part: Any, place: str) -> Any:
        key = _large(part)
        if counts[key] < 2 or not key:
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


def _large(part: Schema) -> str:
    """Return a schema as a text if it is large enough for a component and described, else an empty one.

    Generators make no types of their own for lists.
    """
    if "$ref" in part or "description" not in part or any(one.get("type") == "array" for one in (part, *part.get("anyOf", ()))):
        return ""
    written = json.dumps(part)
    return written if len(written) > _LARGE else ""


_LARGE = 130


def _mapped(schema: Schema, place: str, change: Callable[[Schema, str], Schema]) -> Schema:
    """Return a schema with changed parts. `place`: the name that a component has in place of it."""
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
    """Return whether two schemas have the same description, apart from a capital letter and a full stop."""
    one, two = (about.get("description", "").removesuffix(".") for about in (schema, other))
    return one[:1].lower() + one[1:] == two[:1].lower() + two[1:]


def _is_list_of_ids(schema: Schema) -> bool:
    return schema.get("type") == "string" and "enum" in schema


def _with_null(schema: Schema) -> Schema:
    """Return the schema of a plain value or null as that of one value of two types."""
    value, *others = schema.get("anyOf", ({},))
    if others != [{"type": "null"}] or value.get("type") not in ("boolean", "integer", "string") or "enum" in value:
        return schema
    return {**value, "type": [value["type"], "null"], **{key: part for key, part in schema.items() if key != "anyOf"}}


def _extended(schema: Schema, whole: Component) -> Schema:
    """Return the schema of an object as that of another one, and what it has beside."""
    has = whole.schema["properties"]
    properties = {name: part for name, part in schema["properties"].items() if name not in has}
    own = {"type": "object", "properties": properties, "required": [name for name in schema["required"] if name not in has]}
    return {"allOf": [{"$ref": whole}, own], **_about(schema)}


def _open_text(schema: Schema) -> Schema:
    """Return the schema of one of several texts as that of any text, which still names them."""
    if not _is_list_of_ids(schema):
        return schema
    return {"anyOf": [{"type": "string", "enum": schema["enum"]}, {"type": "string"}], **_about(schema)}


def _about(schema: Schema) -> Schema:
    return {key: schema[key] for key in ("description",) if key in schema}


def _without_const(part: Schema) -> Schema:
    """Client generators try the parts in turn, but fail at a `const` that differs."""
    return {**{key: value for key, value in part.items() if key != "const"}, "enum": [part["const"]]} if "const" in part else part


_COMMON = {_core(shape.schema): Component(name, shape.schema, both=not _is_list_of_ids(shape.schema)) for name, shape in COMMON.items()}
