"""The rules of a game from RULES.md; and its rulings, which settle what the rulebook leaves open, with data.json and scenarios.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import yaml

from games import patterns
from games.sentences import say
from web.languages import Words, catalogue

_RULE = re.compile(rf"^- \*\*(?P<id>{patterns.RULE})\*\* (?P<text>.+)$")
_SOURCE = re.compile(r"\[(?P<source>[SPR])[^\]]*\]")
_RULED = re.compile(r"\[[^\]]*\bR\b[^\]]*\]")
_REASON = say("Reason")  # the word before the reason of a ruling
_QUOTED = re.compile(r'"([^"]+)"|«([^»]+)»')
RULES = "RULES.md"


@lru_cache(maxsize=16)
def parsed_rules(markdown: str) -> list[dict[str, Any]]:
    """Return the rules of a RULES.md, one by one."""
    found: list[dict[str, Any]] = []
    section = ""
    inside = False
    for line in markdown.splitlines():
        rule = _RULE.match(line)
        if line.startswith("#"):
            section, inside = line.lstrip("# ").strip(), False
        elif rule:
            found.append({"id": rule["id"], "section": section, "source": None, "text": rule["text"]})
            inside = True
        elif inside and line.startswith("  "):
            found[-1]["text"] += " " + line.strip()
        else:
            inside = False
    for each in found:
        mark = _SOURCE.search(each["text"])
        each["source"] = mark["source"] if mark else None
    return found


def rulebook(folder: Path, language: str) -> Path:
    """Return the rules in a folder: `RULES.<language>.md`, or RULES.md if they are not in that language."""
    translated = folder / f"RULES.{language}.md"
    return translated if translated.exists() else folder / RULES


def rules_in(book: Path) -> list[dict[str, Any]]:
    """Return the rules in a file, one by one."""
    return parsed_rules(book.read_text("utf-8"))


def option_rows(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what data.json says of each option of the game in a folder. Those that settle a ruling have `rules` and `readings`."""
    rows: dict[str, dict[str, Any]] = orjson.loads((folder / "data.json").read_bytes()).get("options", {})
    return rows


@lru_cache(maxsize=16)
def rulings(folder: Path, language: str) -> list[dict[str, Any]]:
    """Return every ruling of the game in a folder, in the order of its rules, in a language. Scenarios have no other titles than English.

    `readings`: what the rule can be taken to say, first what is played unless a match says otherwise. `value` is that of the option which
    chooses it; null where no option does. `scenarios`: examples of it, by id, with their titles.
    """
    options = option_rows(folder)
    scenarios: list[dict[str, Any]] = yaml.load((folder / "scenarios.yaml").read_text("utf-8"), yaml.CSafeLoader)
    chosen = {rule: name for name, row in options.items() for rule in row.get("rules", ())}
    found = []
    words = Words(language, catalogue(language, folder), {})
    why = re.compile(rf"(?:{words(_REASON)}|{_REASON})(?: [^:.]+)?: (.+?)(?= \[[SPR]\b|$)")
    for rule in rules_in(rulebook(folder, language)):
        if _RULED.search(rule["text"]):
            option = chosen.get(rule["id"])
            row = {"default": None, **options[option]} if option is not None else _alone(rule, why)
            examples = [one for one in scenarios if not set(row["rules"]).isdisjoint(one["rules"])]
            found.append(_ruling(rule, option, row, examples, words, why))
    return found


def _alone(rule: Mapping[str, Any], why: re.Pattern[str]) -> dict[str, Any]:
    """Return a ruling without an option as one that has a single reading."""
    return {"default": None, "rules": [rule["id"]], "readings": [[None, why.sub("", _RULED.sub("", rule["text"]))]]}


def _ruling(
    rule: Mapping[str, Any], option: str | None, row: Mapping[str, Any], examples: list[dict[str, Any]], words: Words, why: re.Pattern[str]
) -> dict[str, Any]:
    return {
        "id": rule["id"],
        "section": rule["section"],
        "text": rule["text"],
        "quoted": [one or other for one, other in _QUOTED.findall(rule["text"])],
        "why": " ".join(why.findall(rule["text"])) or None,
        "option": option,
        "readings": [
            {
                "value": value,
                "reading": words(" ".join(said.split())),
                "scenarios": {
                    one["id"]: one["title"] for one in examples if option is None or _given(one, option, row["default"]) == value
                },
            }
            for value, said in row["readings"]
        ],
        "balance": words(row["balance"]) if row.get("balance") else None,
    }


def _given(scenario: Mapping[str, Any], option: str, default: Any) -> Any:
    """Return the value of an option in a scenario."""
    given = scenario["given"]
    return {option: default, **(given.get("options") or {}), **((given.get("new_match") or {}).get("options") or {})}[option]
