"""Every text of the pages goes through a catalogue: no template and no module has one that is not translated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import jinja2

from tools.texts import CALLS, COMMENTS
from web.languages import WEB

MODULES = [path for path in (*WEB.glob("static/*.js"), *WEB.glob("worker/worker.js")) if path.name not in ("gifenc.js", "leanqr.js")]
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
TEXT = re.compile(r"[A-Za-z]{2,}[,.:;…]? +[A-Za-z]{2,}|^[A-Z][a-z']+[.…?!:]?$")
"""Two words with a blank between them, or a word with a capital letter."""
SHOWN = re.compile(r'(?:\}, |"aria-label": |title: |placeholder: |alt: |textContent = |tell\()$')
"""What stands before something that is shown. There a word in small letters is a text, too."""
NAMES = {"Chrome", "Firefox", "Safari", "Edge", "Edg", "Opera", "Android", "Windows", "Mac OS X", "Linux", "Warledger"}
KEYS = {"Files", "Home", "End", "Enter", "Escape", "Backspace", "Arrow", "Authorization"}
NO_TEXT = re.compile(
    r"(?:class: (?:[^\n\"]* [?:] )?|\.font = |replace\(\"<body\", |"
    r"(?:closest|matches|querySelector|querySelectorAll|matchMedia|includes)\??\.?\()$"
)
"""What stands before names of classes, selectors and media queries."""
OTHER = {"running hashes"}  # a name in the answer of verify.mjs


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the string literals of a module: where each begins, and its text, with 0 for what a template computes."""
    within: list[str] = []  # the templates and the braces around a place
    templates: list[tuple[int, list[str]]] = []
    at = 0
    while at < len(source):
        letter, step = source[at], 1
        if within and within[-1] == "`":
            text = templates[-1][1]
            if letter == "`":
                within.pop()
                start, text = templates.pop()
                yield start, "".join(text)
            elif source.startswith("${", at):
                within.append("{")
                text.append("0")
                step = 2
            else:
                step = 2 if letter == "\\" else 1
                text.append(source[at : at + step])
        elif letter == '"' and (quoted := QUOTED.match(source, at)):
            yield at, quoted[0][1:-1]
            step = len(quoted[0])
        elif letter == "`":
            within.append(letter)
            templates.append((at, []))
        elif letter == "{":
            within.append(letter)
        elif letter == "}" and within:
            within.pop()
        at += step


def literals(source: str) -> list[str]:
    """Return the texts in a module that are no argument of a function of language.js."""
    source = COMMENTS.sub("", source)
    said = {call.start(part) for call in CALLS.finditer(source) for part in ("one", "many")}
    found = []
    for start, text in strings(source):
        before = source[max(0, start - 80) : start]
        if start in said or text in NAMES | KEYS | OTHER or NO_TEXT.search(before):
            continue
        if TEXT.search(text) or (SHOWN.search(before) and re.search(r"[a-z]{2,}", text)):
            found.append(text)
    return found


def test_no_module_has_a_text_that_is_not_translated() -> None:
    assert {path.name: found for path in MODULES if (found := literals(path.read_text("utf-8")))} == {}


def test_texts_of_modules_are_found_where_they_are_not_translated() -> None:
    source = 'make("p", { class: "row end" }, "gone"); tell(`It is ${name}.`); button("x", "Undo");'
    assert literals(source + 't("Fine, thank you"); t.n("one day", "more days", 1);') == ["gone", "It is 0.", "Undo"]


CLASS = re.compile(r'^ class="[\w-]+"$', re.MULTILINE)  # of the body of a page


class Texts(HTMLParser):
    """The texts of a template outside its expressions, but for code."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.inside = [tag]
        shown = (
            "aria-label",
            "title",
            "alt",
            "placeholder",
            "label",
            *(("content",) if dict(attributes).get("name") == "description" else ()),
        )
        self.found += [value for name, value in attributes if name in shown and value]

    def handle_endtag(self, tag: str) -> None:
        self.inside = []

    def handle_data(self, data: str) -> None:
        if self.inside != ["code"]:
            self.found.append(data)


def texts_of(source: str) -> list[str]:
    """Return the texts of a template that are not translated."""
    environment = jinja2.Environment()
    outside = "".join([text for _, kind, text in environment.lex(source) if kind == "data"])
    shown = [node for output in environment.parse(source).find_all(jinja2.nodes.Output) for node in output.nodes]
    chosen = [part for node in shown if isinstance(node, jinja2.nodes.CondExpr) for part in (node.expr1, node.expr2)]
    constants = [node.value for node in (*shown, *chosen) if isinstance(node, jinja2.nodes.Const) and isinstance(node.value, str)]
    words = [*Texts(CLASS.sub("", outside)).found, *constants]
    return [text for text in words if re.search(r"[A-Za-z]{2,}", re.sub("Warledger|API", "", text)) and text not in ("true", "false")]


def test_no_template_has_a_text_that_is_not_translated() -> None:
    assert {path.name: found for path in WEB.glob("pages/*.html") if (found := texts_of(path.read_text("utf-8")))} == {}


def test_texts_of_templates_are_found_where_they_are_not_translated() -> None:
    found = texts_of(
        '<p title="{{ _("A") }}" aria-label="Board">Menu {{ _("Fine") }} <code>./run</code>{{ "more" if one else _("B") }}</p>'
    )
    assert found == ["Board", "Menu  ", "more"]
