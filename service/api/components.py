"""The components of the description, collected from the shapes to which operations refer.

Answers are open and requests are strict. So what an answer refers to is written down without what would forbid more:

- An object may have further members.
- A list of ids becomes `Any…`: one of them, or another text.
- A union that may grow gets a last part for whatever it does not know: `OtherType`, `OtherKind`, `OtherGame` or `Other`.

An action is the same component in both directions. It is open; a body that refers to it names the members that it may have.
With `opened=False` everything is as exact as its shape. That is what tests hold answers against.
"""

from __future__ import annotations

from typing import Any, Literal

from games.schema import Schema, record, text
from service.api.shapes import EXTENDS, GROWS, Component, camel
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

    def _written(self, schema: Any, direction: Direction) -> Any:
        if isinstance(schema, list):
            return [self._written(part, direction) for part in schema]
        if isinstance(schema, Component):
            return f"#/components/schemas/{self._name(schema, direction)}"
        if not isinstance(schema, dict):
            return schema
        if EXTENDS in schema:
            whole, schema = schema[EXTENDS], {key: part for key, part in schema.items() if key != EXTENDS}
            if self._opened and direction == "out":
                schema = _extended(schema, whole)
        component = schema.get("$ref")
        if isinstance(component, Component) and schema.get("description") == component.schema.get("description"):
            schema = {"$ref": component}
        found = {key: self._written(part, direction) for key, part in schema.items() if key != GROWS}
        if "anyOf" in found:
            found["anyOf"] = [_without_const(part) for part in found["anyOf"]]
        if direction != "out" and found.get("type") == "integer" and "enum" not in found:
            # Some languages cannot count exactly beyond this. Such numbers are refused before the rules see them.
            found = {"minimum": -LARGEST, "maximum": LARGEST, **found}
        if not self._opened:
            return found
        if found.get("required") == []:
            del found["required"]
        if "const" in found:
            found.pop("type", None)
        if direction == "in":
            if isinstance(component, Component) and component.both:
                found["propertyNames"] = {"enum": list(component.schema["properties"])}
            return found
        if found.get("additionalProperties") is False:
            del found["additionalProperties"]
        return self._open(found, schema.get(GROWS)) if direction == "out" else found

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
        if _is_list_of_ids(component.schema):
            name = self._added(component.name, component.schema)
            if self._opened and direction == "out":
                about = {"description": f"{component.schema['description']} Or another."}
                name = self._added(f"Any{name}", {"anyOf": [{"$ref": f"#/components/schemas/{name}"}, {"type": "string"}], **about})
        else:
            name = self._added(component.name, self._written(component.schema, direction))
        self._names[id(component), direction] = name
        return name

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


def _is_list_of_ids(schema: Schema) -> bool:
    return schema.get("type") == "string" and "enum" in schema


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
