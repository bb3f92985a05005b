"""Kinds of tampering, each a function: what somebody does to a dossier, and what a verifier must find, at which version.

A function changes the draft of a case and returns the version of the finding, or `NOT_HERE` if the dossier has nothing to change so. First
come those of somebody who has the file alone. The owner has the store, the secret of the match and the keys of the server, and computes
every digest and signs everything anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

import rfc8785

from evidence.notes import COSIGNATURE, SigningKey
from evidence.statements import Read, read_text
from games.kernel import Action
from record.entries import canonical
from record.thoughts import Decision
from table.rules import is_table_action
from tests.events import chain
from tests.evidence.drafts import Draft, Owner, TestLog, inside
from tests.evidence.signed import ANN, BOB, SERVER, Match, dossier, registration, revocation
from tests.record.thinking.serving import Cheat, Served
from tests.record.thinking.test_again import another_action, more_spent, the_truth_as_its_view
from tests.signing import Signer

PYTHON, NODE = "python", "node"
BOTH = (PYTHON, NODE)
NOT_HERE = -1
WITNESS = SigningKey("witness.example", bytes([7]) * 32, COSIGNATURE)
ANOTHER = SigningKey("warledger-000000000000", bytes(range(32)))


class Base(NamedTuple):
    """An honest dossier, and what its owner has. `over`: whether the match is. `stranger`: a dossier of another match, of the same kind.

    `replayed`: the dossier of a match with the same id, players and options, but another secret. `whole`: the dossier of the same match in
    full when it was over. `record`: that match as a record, if this is that dossier. `log_only`: try only what is done to leaves and the
    log.
    """

    name: str
    draft: Draft
    over: bool
    owner: Owner
    log: TestLog
    stranger: Draft
    replayed: Draft
    whole: Draft
    record: bytes = b""
    log_only: bool = False


class Case:
    """A dossier that is tampered with, and what the reader of it has kept from before."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.draft = base.draft.copy()
        self.owner = base.owner
        self.raw: bytes | None = None  # the file, if it cannot be written from the draft
        self.beside: list[bytes] = []  # other files, which are honest
        self.keys: list[str] = []
        self.receipts: list[str] = []
        self.checkpoints: list[str] = []
        self.consistency: list[dict[str, Any]] = []
        self.now: str | None = None  # what time the reader says it is
        self.logs: list[bytes] = []  # whole logs
        self.witnesses: list[str] = []
        self.decisions = False  # whether the reader runs the decisions of artificial players again

    @property
    def file(self) -> bytes:
        """The file that a verifier is given."""
        return self.draft.bytes() if self.raw is None else self.raw

    def keep_receipt(self, version: int, seat: str | None = None) -> None:
        """Let the reader have the honest receipt of a version. `seat`: that of a seat, which names the side log."""
        self.receipts.append(self.owner.receipt(self.base.draft, version, seat))

    def drop(self, *kinds: str) -> None:
        """Take all lines of some kinds out of the file."""
        self.draft.lines = [line for line in self.draft.lines if line["line"] not in kinds]

    def sign(self) -> None:
        """Compute every digest anew and sign everything, as the owner can."""
        self.owner.relink(self.draft)
        self.owner.sign(self.draft)

    def middle(self, fits: Callable[[dict[str, Any]], Any] = lambda entry: True) -> dict[str, Any] | None:
        """Return an entry of the second half that fits, if there is one; not the last."""
        entries = self.draft.entries
        return next((entry for entry in entries[len(entries) // 2 : -1] if fits(entry)), None)


class Tampering(NamedTuple):
    """A kind of tampering: what it does, as a sentence, the code that must be found, and which verifiers find it.

    `needs`: what the reader must have kept; without it nothing is found. It is empty if the file alone is enough.
    """

    name: str
    about: str
    code: str
    verifiers: tuple[str, ...]
    needs: str
    change: Callable[[Case], int | None]


KINDS: list[Tampering] = []
CHECKS = {
    "line_unknown": "1",
    "truncated": "1",
    "signature_broken": "2",
    "wrong_key": "2",
    "gap": "3a",
    "wrong_version": "3a",
    "wrong_match": "3a",
    "unreadable": "3a",
    "not_canonical": "3a",
    "time_backwards": "3b",
    "rules_differ": "3c",
    "rules_unknown": "3c",
    "digest_broken": "3d",
    "secret_differs": "3e",
    "seat_differs": "3g",
    "commitment_broken": "4",
    "salt_differs": "4",
    "events_differ": "7",
    "not_legal": "8",
    "level_differs": "8",
    "action_differs": "8",
    "decision_missing": "8",
    "decision_differs": "8",
    "saw_differs": "8",
    "budget_differs": "8",
    "request_twice": "3h",
    "move_signature_broken": "3f",
    "seen_not_before": "3f",
    "move_list_broken": "3f",
    "files_differ": "9",
    "shown_differs": "9",
}
"""By code, the number of its check in docs/auditing.md; 6 for all others."""
OTHER_CHECKS = {
    "cut_the_tail": "5",
    "finish_a_cut_tail": "6",
    "keep_the_secret": "4",
    "change_a_read": "6",
    "sign_the_log_by_another_key": "6",
    "stack_the_deck": "8",
    "leave_an_event_out": "8",
    "play_on_after_the_end": "3e",
    "swap_the_players": "8",
    "name_another_game": "3c",
    "cut_the_tail_below_the_end_of_the_log": "6",
}
"""By kind of tampering, the number of its check where it is another one."""


def tampering(
    code: str, verifiers: tuple[str, ...] = BOTH, needs: str = ""
) -> Callable[[Callable[[Case], int | None]], Callable[[Case], int | None]]:
    """Register a function as a kind of tampering."""

    def register(change: Callable[[Case], int | None]) -> Callable[[Case], int | None]:
        assert change.__doc__ is not None
        KINDS.append(Tampering(change.__name__, change.__doc__.split("\n")[0], code, verifiers, needs, change))
        return change

    return register


def cases(base: Base, tried: Container[str] = ()) -> Iterator[tuple[Tampering, Case, int | None]]:
    """Yield every kind of tampering that can be done to a dossier, with what the reader has, and the version of the finding.

    `tried`: the names of kinds to leave out.
    """
    for kind in KINDS:
        if kind.name in tried:
            continue
        if base.log_only and not kind.name.endswith(
            ("leaf", "leaves_but_one", "log", "log_earlier", "seal", "seal_closed", "seal_otherwise")
        ):
            continue
        case = Case(base)
        version = kind.change(case)
        if version != NOT_HERE:
            yield kind, case, version


def table() -> str:
    """Return the rows of the table in docs/auditing.md, a line for each kind of tampering."""
    rows = []
    for kind in KINDS:
        check = OTHER_CHECKS.get(kind.name, CHECKS.get(kind.code, "6"))
        found = ("yes" if verifier in kind.verifiers else "no" for verifier in BOTH)
        rows.append(f"| {kind.about} | {kind.needs or '–'} | {check} | `{kind.code}` | {' | '.join(found)} |")
    return "\n".join(rows)


def version_of(entry: dict[str, Any]) -> int:
    return int(entry["version"])


# ---------------------------------------------------------------- by somebody who has the file alone


@tampering("signature_broken")
def change_the_first_line(case: Case) -> int | None:
    """The file says that it was written at another time."""
    case.draft.first["at"] += 1
    return None


@tampering("signature_broken")
def change_a_count(case: Case) -> int | None:
    """The number of refused actions that are no longer kept is changed."""
    case.draft.lines.insert(-1, {"line": "refusals_dropped", "seat": "red", "count": 7, "hash": "5a" * 32})
    case.owner.finish(case.draft)
    case.draft.lines[-2]["count"] = 0
    return None


@tampering("digest_broken")
def change_an_action(case: Case) -> int | None:
    """The action of an entry is another one."""
    entry = case.middle(lambda entry: case.draft.whole or "salt" in entry["proof"]["action"])
    if entry is None:
        return NOT_HERE
    entry["action"]["type"] += "_not"
    return version_of(entry)


@tampering("digest_broken")
def change_an_event(case: Case) -> int | None:
    """An event of an entry has a member more."""
    entry = case.middle(lambda entry: entry["events"] and (case.draft.whole or "salt" in entry["proof"]["events"][0]))
    if entry is None:
        return NOT_HERE
    entry["events"][0]["more"] = 1
    return version_of(entry)


@tampering("digest_broken")
def drop_an_event(case: Case) -> int | None:
    """An event of an entry is gone."""
    entry = case.middle(lambda entry: len(entry["events"]) > 1)
    if entry is None:
        return NOT_HERE
    del entry["events"][-1]
    if not case.draft.whole:
        del entry["proof"]["events"][-1]
    return version_of(entry)


@tampering("digest_broken")
def change_a_time(case: Case) -> int | None:
    """An entry was a second later."""
    entry = case.draft.entries[-2]
    entry["at"] += 1000
    return version_of(entry)


@tampering("digest_broken")
def change_the_actor(case: Case) -> int | None:
    """An entry was made by somebody else."""
    entry = case.middle()
    assert entry is not None
    entry["actor"] = "system" if entry["actor"] != "system" else "red"
    return version_of(entry)


@tampering("digest_broken")
def name_other_rules(case: Case) -> int | None:
    """An entry says that other rules have decided it."""
    entry = case.middle()
    assert entry is not None
    if case.draft.whole:
        entry["rules"] = "0" * 32
    else:
        entry["proof"]["rules"] = "0" * 32
    return version_of(entry)


@tampering("gap")
def drop_an_entry(case: Case) -> int | None:
    """An entry is left out."""
    entry = case.middle()
    assert entry is not None
    del case.draft.lines[case.draft.place(version_of(entry))]
    return version_of(entry)


@tampering("gap")
def drop_the_first_entry(case: Case) -> int | None:
    """The entry that created the match is left out."""
    del case.draft.lines[case.draft.place(1)]
    return 1


@tampering("wrong_version")
def insert_an_entry(case: Case) -> int | None:
    """An entry stands there twice."""
    entry = case.middle()
    assert entry is not None
    place = case.draft.place(version_of(entry))
    case.draft.lines.insert(place, case.draft.lines[place])
    return version_of(entry) + 1


@tampering("gap")
def swap_two_entries(case: Case) -> int | None:
    """Two entries that follow one another have changed places."""
    entry = case.middle()
    assert entry is not None
    one, other = case.draft.place(version_of(entry)), case.draft.place(version_of(entry) + 1)
    lines = case.draft.lines
    lines[one], lines[other] = lines[other], lines[one]
    return version_of(entry)


@tampering("truncated")
def cut_the_tail(case: Case) -> int | None:
    """The file ends earlier, with the last line of the honest one."""
    kept = case.draft.last - 3
    end = case.draft.lines[-1]
    case.draft.cut(kept)
    if case.draft.lines[-1] is not end:
        case.draft.lines.append(end)
    return kept + 1


@tampering("truncated")
def cut_within_a_line(case: Case) -> int | None:
    """The file ends in the middle of its last line."""
    case.raw = case.file[:-40]
    return None


@tampering("truncated")
def drop_the_last_line(case: Case) -> int | None:
    """The line with the signature is gone."""
    del case.draft.lines[-1]
    return None


def _rewritten(case: Case, version: int, change: Callable[[bytes], bytes]) -> None:
    """Write the file with the line of one entry changed in its bytes."""
    place = case.draft.place(version)
    lines = case.file.splitlines(keepends=True)
    lines[place] = change(lines[place])
    case.raw = b"".join(lines)


@tampering("not_canonical")
def write_white_space(case: Case) -> int | None:
    """An entry has a blank that canonical JSON does not have."""
    version = case.draft.last // 2
    _rewritten(case, version, lambda line: line.replace(b'"actor":', b'"actor": '))
    return version


@tampering("not_canonical")
def write_an_escape(case: Case) -> int | None:
    """An entry has a letter written as an escape."""
    version = case.draft.last // 2
    _rewritten(case, version, lambda line: line.replace(b'"actor":', b'"\\u0061ctor":'))
    return version


@tampering("not_canonical")
def write_a_member_twice(case: Case) -> int | None:
    """An entry names its actor twice, first falsely."""
    version = case.draft.last // 2
    _rewritten(case, version, lambda line: line.replace(b'"actor":', b'"actor":"somebody","actor":'))
    return version


@tampering("unreadable")
def spoil_an_entry(case: Case) -> int | None:
    """An entry has a text for its time."""
    entry = case.middle()
    assert entry is not None
    entry["at"] = str(entry["at"])
    return version_of(entry)


@tampering("wrong_match")
def move_an_entry_here(case: Case) -> int | None:
    """An entry of another match stands in the place of that of the same version."""
    if not case.draft.whole:
        return NOT_HERE
    version = case.draft.last // 2
    case.draft.lines[case.draft.place(version)] = case.base.stranger.lines[case.base.stranger.place(version)]
    return version


@tampering("digest_broken")
def move_a_shown_entry_here(case: Case) -> int | None:
    """What was shown of an entry of another match stands in the place of that of the same version."""
    if case.draft.whole:
        return NOT_HERE
    version = case.draft.last // 2
    case.draft.lines[case.draft.place(version)] = case.base.stranger.lines[case.base.stranger.place(version)]
    return version


def _hidden(entry: dict[str, Any]) -> int | None:
    """Return the place of the first event of an entry that is hidden in part."""
    return next((at for at, given in enumerate(entry["proof"]["events"]) if "leaf" in given), None)


@tampering("digest_broken")
def open_a_hidden_event(case: Case) -> int | None:
    """An event that was hidden is shown with a salt that somebody has made up."""
    entry = None if case.draft.whole else next((entry for entry in case.draft.entries if _hidden(entry) is not None), None)
    if entry is None:
        return NOT_HERE
    place = _hidden(entry)
    assert place is not None
    entry["proof"]["events"][place] = {"salt": "5a" * 32}
    return version_of(entry)


@tampering("digest_broken")
def exchange_a_salt(case: Case) -> int | None:
    """A part has the salt of another."""
    entry = None if case.draft.whole else case.middle(lambda entry: "salt" in entry["proof"]["action"])
    if entry is None:
        return NOT_HERE
    entry["proof"]["action"]["salt"] = "5a" * 32
    return version_of(entry)


@tampering("line_unknown")
def add_a_line(case: Case) -> int | None:
    """The file has a line of no known kind, and is signed again."""
    case.draft.lines.insert(-1, {"line": "remark", "text": "Trust me."})
    case.owner.sign(case.draft)
    return None


@tampering("line_unknown")
def add_a_member(case: Case) -> int | None:
    """The line of the receipt has a member more, and the file is signed again."""
    case.draft.of("receipt")[0]["more"] = 1
    case.owner.sign(case.draft)
    return None


@tampering("wrong_key", needs="the key")
def sign_by_another_key(case: Case) -> int | None:
    """The file is signed by somebody else, brings that key, and has no leaf of the log; the reader has noted the right key."""
    case.drop("leaf", "read", "reads")
    case.draft.first["vkeys"] = [ANOTHER.verifier.vkey]
    case.draft.first["name"] = ANOTHER.verifier.name
    case.owner.sign(case.draft, ANOTHER)
    case.keys.append(case.owner.key.verifier.vkey)
    return None


@tampering("signature_broken")
def take_the_signature_of_another_file(case: Case) -> int | None:
    """The last line is that of another dossier."""
    case.draft.lines[-1]["note"] = case.base.stranger.lines[-1]["note"]
    return None


@tampering("digest_broken")
def change_a_record(case: Case) -> int | None:
    """The record of a match says that an entry was a millisecond later."""
    if not case.base.record:
        return NOT_HERE
    lines = case.base.record.splitlines(keepends=True)
    version = case.draft.last // 2
    at = case.draft.entries[version - 1]["at"]
    lines[version] = lines[version].replace(b'"at":%d' % at, b'"at":%d' % (at + 1))
    case.raw = b"".join(lines)
    return version


@tampering("receipt_differs", needs="a receipt")
def compare_a_record_with_a_receipt(case: Case) -> int | None:
    """The record is that of another match with the same id; the reader has kept a receipt."""
    if not case.base.record:
        return NOT_HERE
    entries = case.base.replayed.entries
    case.raw = b"".join(rfc8785.dumps(entry) + b"\n" for entry in entries)
    case.keep_receipt(2)
    case.keys.append(case.owner.key.verifier.vkey)
    return 2


# ---------------------------------------------------------------- by the owner: the tail


def _later(case: Case, version: int) -> None:
    """Let every entry from a version on be a second later."""
    for entry in case.draft.entries[version - 1 :]:
        entry["at"] += 1000
    case.draft.first["at"] += 1000


@tampering("receipt_differs", needs="a receipt")
def rewrite_the_tail_of_a_receipt(case: Case) -> int | None:
    """The tail is rewritten with good digests, salts and signatures; the reader has kept a receipt."""
    version = case.draft.last - 2
    case.draft.lines = [line for line in case.draft.lines if line["line"] != "leaf"]
    _later(case, version)
    case.sign()
    case.keep_receipt(version + 1)
    return version + 1


@tampering("leaf_differs")
def rewrite_the_tail_of_a_leaf(case: Case) -> int | None:
    """The tail is rewritten with good digests, salts and signatures; the log has had a leaf."""
    leaves = case.draft.of("leaf")
    version = inside(leaves[-1])["version"] if leaves else 0
    if version < 3:
        return NOT_HERE
    _later(case, version - 1)
    case.sign()
    return int(version)


@tampering("truncated", needs="a receipt")
def finish_a_cut_tail(case: Case) -> int | None:
    """The last entries are gone and the file is completed again; the reader has kept a receipt of one of them."""
    case.keep_receipt(case.draft.last)
    kept = case.draft.last - 3
    receipt = case.draft.of("receipt")[0]
    case.draft.cut(kept)
    case.draft.first.update({"versions": kept, "secret": None, "at": case.draft.first["at"] + 120_000})
    case.drop("read", "reads", "receipt", "end")
    case.draft.lines += [receipt, {"line": "end"}]
    if case.base.over and not case.draft.whole:
        case.draft.first["blind"] = None
    case.sign()
    return kept + 1


@tampering("truncated")
def cut_the_tail_below_the_end_of_the_log(case: Case) -> int | None:
    """The last entries are gone and the file is completed again, with a new receipt; the log has a leaf of the last one."""
    leaves = case.draft.of("leaf")
    if not leaves:
        return NOT_HERE
    kept = case.draft.last - 3
    case.draft.cut(kept)
    blind = case.draft.first["blind"] if case.draft.whole else None
    case.draft.first.update({"versions": kept, "secret": None, "blind": blind})
    case.draft.lines = [*(line for line in case.draft.lines if line["line"] not in ("leaf", "end")), *leaves, {"line": "end"}]
    case.sign()
    return kept + 1


@tampering("not_legal")
def play_on_after_the_end(case: Case) -> int | None:
    """The record goes on with an action of the game after the end that the log has a leaf of, with good digests, salts and signatures."""
    if not case.base.over:
        return NOT_HERE
    ends = case.draft.entries[-1]
    entry = next(json.loads(json.dumps(each)) for each in reversed(case.draft.entries) if not is_table_action(each["action"]))
    entry.update({"version": ends["version"] + 1, "at": ends["at"] + 1, "events": []})
    entry.pop("request", None)
    if not case.draft.whole:
        part = {"salt": chain.salt(chain.blind_key(case.owner.secret), entry["version"], "a").hex()}
        entry["proof"].update({"action": part, "events": []})
    kind = "entry" if case.draft.whole else "shown"
    case.draft.lines.insert(case.draft.place(ends["version"]) + 1, {"line": kind, "entry": entry})
    case.draft.first["versions"] += 1
    case.draft.first["at"] += 1
    case.sign()
    return int(entry["version"])


@tampering("receipt_differs")
def drop_the_receipt(case: Case) -> int | None:
    """The file has no receipt, and is signed again."""
    case.draft.lines = [line for line in case.draft.lines if line["line"] != "receipt"]
    case.owner.finish(case.draft)
    return case.draft.last


@tampering("receipt_differs")
def take_an_older_receipt(case: Case) -> int | None:
    """The receipt in the file is of another digest, and the file is signed again."""
    other = case.draft.copy()
    other.entries[-1]["digest"] = other.entries[-2]["digest"]
    case.draft.of("receipt")[0]["note"] = case.owner.receipt(other, other.last)
    case.owner.finish(case.draft)
    return case.draft.last


@tampering("receipt_differs", needs="a receipt")
def replace_the_whole_match(case: Case) -> int | None:
    """The match was played once more, by the same players under another secret; the reader has kept a receipt."""
    case.draft = case.base.replayed.copy()
    case.keep_receipt(1)
    return 1


@tampering("files_differ", needs="another file")
def show_two_histories(case: Case) -> int | None:
    """Two readers are given two histories, each sound by itself, and compare their files."""
    case.beside.append(case.file)
    case.draft.lines = [line for line in case.draft.lines if line["line"] != "leaf"]
    _later(case, case.draft.last - 1)
    case.sign()
    return case.draft.last - 1


# ---------------------------------------------------------------- by the owner: what the rules and the dice say


def _dice(entry: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str | int]]:
    """Yield where the faces of dice stand in an entry: in what, and under which name."""
    for event in entry["events"]:
        if event["type"] == "attack_rolled":
            yield event["attack"], "die"
            yield event["defence"], "die"
        elif event["type"] == "dice_rolled":
            yield event["dice"], 0
            yield event["dice"], 1


@tampering("events_differ")
def roll_another_face(case: Case) -> int | None:
    """A die shows another face, with good digests, salts and signatures."""
    if not case.base.over:
        return NOT_HERE
    for entry in case.draft.entries:
        for where, name in _dice(entry):
            where[name] = where[name] % 6 + 1  # type: ignore[index]
            case.sign()
            return version_of(entry)
    return NOT_HERE


@tampering("events_differ", (PYTHON,))
def stack_the_deck(case: Case) -> int | None:
    """A deck is in another order, with good digests, salts and signatures."""
    if not case.base.over or not case.draft.whole:
        return NOT_HERE
    for entry in case.draft.entries:
        for event in entry["events"]:
            cards = event.get("cards" if event["type"] == "supply_shuffled" else "deck")
            if isinstance(cards, list) and len(cards) > 1 and cards[0] != cards[-1]:
                cards[0], cards[-1] = cards[-1], cards[0]
                case.sign()
                return version_of(entry)
    return NOT_HERE


@tampering("not_legal", (PYTHON,))
def act_out_of_turn(case: Case) -> int | None:
    """An action is made by a seat that was not to act, with good digests, salts and signatures."""
    seats = [seat["seat"] for seat in case.draft.of("seat")]
    entry = case.middle(lambda entry: entry["actor"] in seats and len(entry["action"]) > 1 and "offer" not in entry["action"]["type"])
    if entry is None or not case.draft.whole or len(seats) < 2:
        return NOT_HERE
    entry["actor"] = next(seat for seat in seats if seat != entry["actor"])
    case.sign()
    return version_of(entry)


@tampering("events_differ", (PYTHON,))
def leave_an_event_out(case: Case) -> int | None:
    """An event that follows by the rules is gone, with good digests, salts and signatures."""
    entry = case.middle(lambda entry: len(entry["events"]) > 1)
    if entry is None or not case.draft.whole or not case.base.over:
        return NOT_HERE
    del entry["events"][-1]
    case.sign()
    return version_of(entry)


@tampering("level_differs", (PYTHON,))
def decide_for_a_player(case: Case) -> int | None:
    """An action of a player is said to be the decision of an artificial player, with good digests, salts and signatures."""
    seats = [seat["seat"] for seat in case.draft.of("seat")]
    entry = case.middle(lambda entry: entry["actor"] in seats)
    if entry is None or not case.draft.whole:
        return NOT_HERE
    entry["request"] = {"budget": 0, "level": "greedy", "players": 1, "saw": "ab" * 8, "spent": 0, "weights": "cd" * 32}
    case.sign()
    return version_of(entry)


@tampering("not_legal", (PYTHON,))
def act_after_the_deadline(case: Case) -> int | None:
    """An action came after its seat's time had run out, with good digests, salts and signatures."""
    created = next(event for event in case.draft.entries[0]["events"] if event["type"] == "match_created")
    seats = [seat["seat"] for seat in case.draft.of("seat")]
    entry = case.middle(lambda entry: entry["actor"] in seats and entry["action"]["type"] != "resign")
    quick = created.get("clock", {}).get("kind") in ("per_action", "bank")
    if not quick or entry is None or not case.draft.whole:
        return NOT_HERE
    for each in case.draft.entries[version_of(entry) - 1 :]:
        each["at"] += 3_600_000
    case.draft.first["at"] += 3_600_000
    case.sign()
    return version_of(entry)


@tampering("time_backwards")
def write_it_before_its_end(case: Case) -> int | None:
    """The file says that it was written earlier, so that neither receipts nor leaves are due yet."""
    later = case.draft.entries[-1]["at"] - 1
    case.draft.first["at"] = later
    case.sign()
    return min(int(entry["version"]) for entry in case.draft.entries if entry["at"] > later)


@tampering("time_backwards")
def set_a_time_back(case: Case) -> int | None:
    """An entry is a day older than the one before it, with good digests, salts and signatures."""
    entry = case.middle(lambda entry: entry["actor"] == "system") or case.draft.entries[-1]
    created = next(event for event in case.draft.entries[0]["events"] if event["type"] == "match_created")
    if entry["actor"] != "system" and "clock" in created:
        return NOT_HERE
    entry["at"] -= 86_400_000
    case.sign()
    return version_of(entry)


@tampering("rules_differ")
def name_another_revision(case: Case) -> int | None:
    """An entry names another revision of the rules, with good digests, salts and signatures."""
    entry = case.middle()
    assert entry is not None
    entry["revision"] += 1
    rules = case.draft.of("rules")[0]
    case.draft.lines.insert(1, {**rules, "revision": entry["revision"]})
    case.sign()
    return version_of(entry)


@tampering("commitment_broken")
def take_another_secret(case: Case) -> int | None:
    """The secret at the end is another one, and all salts follow from it."""
    if not case.base.over:
        return NOT_HERE
    secret = "ab" * 32
    case.draft.entries[-1]["secret"] = secret
    case.draft.first.update({"secret": secret, "blind": chain.blind_key(secret).hex()})
    case.owner.relink(case.draft, secret)
    case.owner.sign(case.draft)
    return 1


@tampering("secret_differs")
def reveal_the_secret_early(case: Case) -> int | None:
    """The secret is revealed in the middle of the match, with good digests, salts and signatures."""
    entry = case.middle()
    assert entry is not None
    entry["secret"] = case.owner.secret
    case.sign()
    return version_of(entry)


@tampering("secret_differs")
def keep_the_secret(case: Case) -> int | None:
    """The first line lacks the secret that the last entry reveals."""
    if not case.base.over:
        return NOT_HERE
    case.draft.first["secret"] = None
    case.owner.finish(case.draft)
    return case.draft.last


@tampering("salt_differs")
def take_another_blind_key(case: Case) -> int | None:
    """The key of the salts in the first line is another one, and the file is signed again."""
    if not case.base.over:
        return NOT_HERE
    case.draft.first["blind"] = "ab" * 32
    case.owner.finish(case.draft)
    return None


@tampering("salt_differs")
def keep_the_blind_key(case: Case) -> int | None:
    """The first line keeps the key of the salts back although all seats are taken, and the file is signed again."""
    if case.base.over or not case.draft.whole:
        return NOT_HERE
    case.draft.first["blind"] = None
    case.owner.finish(case.draft)
    return None


@tampering("salt_differs")
def salt_a_part_otherwise(case: Case) -> int | None:
    """A part has a salt that does not follow from the secret, with good digests and signatures."""
    entry = None if case.draft.whole or not case.base.over else case.middle(lambda entry: "salt" in entry["proof"]["action"])
    if entry is None:
        return NOT_HERE
    entry["proof"]["action"]["salt"] = "5a" * 32
    case.sign()
    return version_of(entry)


@tampering("shown_differs", (PYTHON,))
def lie_about_what_is_hidden(case: Case) -> int | None:
    """A viewer was shown something false in place of what is hidden, with its true part hash; afterwards there is the whole dossier."""
    entry = None if case.draft.whole else next((entry for entry in case.draft.entries if _hidden(entry) is not None), None)
    if entry is None:
        return NOT_HERE
    place = _hidden(entry)
    assert place is not None
    entry["events"][place]["seat" if "seat" in entry["events"][place] else "more"] = "nobody"
    case.owner.sign(case.draft)
    case.beside.append(case.base.whole.bytes())
    return version_of(entry)


# ---------------------------------------------------------------- by the owner: the lines around the entries


@tampering("seat_differs")
def seat_somebody_else(case: Case) -> int | None:
    """Another player had a seat, says the file, which is signed again."""
    seat = next((line for line in case.draft.of("seat") if line["player"] is not None), None)
    if seat is None:
        return NOT_HERE
    seat["player"] = "p" + "z" * 16
    case.owner.finish(case.draft)
    return int(seat["taken"])


@tampering("seat_differs")
def drop_a_seat(case: Case) -> int | None:
    """The file does not say who had a seat, and is signed again."""
    seat = case.draft.of("seat")[-1]
    case.draft.lines = [line for line in case.draft.lines if line is not seat]
    case.owner.finish(case.draft)
    return int(seat["taken"])


@tampering("rules_unknown")
def drop_the_rules(case: Case) -> int | None:
    """The file does not name the rules, and is signed again."""
    case.draft.lines = [line for line in case.draft.lines if line["line"] != "rules"]
    case.owner.finish(case.draft)
    return 1


@tampering("wrong_match")
def give_it_to_another_match(case: Case) -> int | None:
    """The first line names another match, and the file is signed again."""
    if not case.draft.whole:
        return NOT_HERE
    case.draft.first["match"] = case.base.stranger.match
    case.owner.sign(case.draft)
    return 1


@tampering("digest_broken")
def give_what_was_shown_to_another_match(case: Case) -> int | None:
    """The first line names another match, and the file is signed again."""
    if case.draft.whole:
        return NOT_HERE
    case.draft.first["match"] = case.base.stranger.match
    case.owner.sign(case.draft)
    return 1


@tampering("line_unknown")
def name_another_game(case: Case) -> int | None:
    """The first line names another game, and the file is signed again."""
    case.draft.first["game"] = case.draft.of("rules")[0]["game"] = "war" if case.draft.first["game"] != "war" else "war_of_the_worlds"
    case.owner.finish(case.draft)
    return None


@tampering("read_broken")
def take_a_read_of_another_match(case: Case) -> int | None:
    """A read that is recorded in the file is one of another match; the file is signed again."""
    read = Read(case.base.stranger.match, 2, "p" + "a" * 16, "dossier", 1_700_000_000_000)
    case.draft.lines.insert(-2, {"line": "read", "note": case.owner.key.sign(read_text(read)), "count": 1})
    case.owner.finish(case.draft)
    return 2


@tampering("signature_broken")
def change_a_read(case: Case) -> int | None:
    """The version of a recorded read is changed, and the file is signed again."""
    read = Read(case.draft.match, 2, "p" + "a" * 16, "dossier", 1_700_000_000_000)
    note = case.owner.key.sign(read_text(read)).replace("\n2\n", "\n3\n")
    case.draft.lines.insert(-2, {"line": "read", "note": note, "count": 1})
    case.owner.finish(case.draft)
    return 3


@tampering("dispute_differs")
def invent_a_dispute(case: Case) -> int | None:
    """The file has a dispute that the entries do not know, and is signed again."""
    version = case.draft.last // 2
    steps = [{"version": version, "type": "dispute"}]
    line = {"line": "dispute", "number": 1, "seat": "red", "version": version - 1, "steps": steps, "verdict": None}
    case.draft.lines.insert(-2, line)
    case.owner.finish(case.draft)
    return version


@tampering("dispute_differs")
def drop_a_dispute(case: Case) -> int | None:
    """The file does not mention a dispute, and is signed again."""
    dispute = next(iter(case.draft.of("dispute")), None)
    if dispute is None:
        return NOT_HERE
    case.draft.lines = [line for line in case.draft.lines if line is not dispute]
    case.owner.finish(case.draft)
    return int(dispute["steps"][0]["version"])


@tampering("dispute_differs")
def change_a_verdict(case: Case) -> int | None:
    """The file has another verdict on a dispute, and is signed again."""
    dispute = next(iter(case.draft.of("dispute")), None)
    if dispute is None:
        return NOT_HERE
    dispute["verdict"] = "upheld"
    case.owner.finish(case.draft)
    return int(dispute["steps"][0]["version"])


# ---------------------------------------------------------------- by the owner: the side log


def _held(case: Case) -> tuple[str, int] | None:
    """Let the reader have the receipt of a seat whose refused actions are in the file. Return the seat and the version, or None."""
    refused = case.draft.of("refused")
    if not refused:
        return None
    seat, version = refused[0]["seat"], case.draft.last - 1
    case.keep_receipt(version, seat)
    return seat, version


@tampering("refusals_differ", needs="a receipt of the seat")
def empty_the_refused_actions(case: Case) -> int | None:
    """The file has no refused action, though there were some, and is signed again."""
    held = _held(case)
    if held is None:
        return NOT_HERE
    case.drop("refused")
    case.owner.finish(case.draft)
    return held[1]


@tampering("refusals_differ", needs="a receipt of the seat")
def drop_a_refused_action(case: Case) -> int | None:
    """One refused action is left out, and the file is signed again."""
    held = _held(case)
    if held is None:
        return NOT_HERE
    case.draft.lines.remove(case.draft.of("refused")[0])
    case.owner.finish(case.draft)
    return held[1]


@tampering("refusals_differ", needs="a receipt of the seat")
def change_a_refused_action(case: Case) -> int | None:
    """A refused action has another code, and the file is signed again."""
    held = _held(case)
    if held is None:
        return NOT_HERE
    case.draft.of("refused")[0]["code"] = "not_your_turn"
    case.owner.finish(case.draft)
    return held[1]


@tampering("refusals_differ", needs="a receipt of the seat")
def swap_two_refused_actions(case: Case) -> int | None:
    """Two refused actions of a seat have changed places, and the file is signed again."""
    held = _held(case)
    if held is None:
        return NOT_HERE
    one, other = (line for line in case.draft.of("refused") if line["seat"] == held[0])
    first = one.copy()
    one.update(other)
    other.update(first)
    case.owner.finish(case.draft)
    return held[1]


@tampering("refusals_differ", needs="a receipt of the seat")
def make_up_what_was_dropped(case: Case) -> int | None:
    """The file says falsely that other refused actions of the seat came first and are no longer kept, and is signed again."""
    held = _held(case)
    if held is None:
        return NOT_HERE
    case.drop("refused")
    case.draft.lines.insert(-1, {"line": "refusals_dropped", "seat": held[0], "count": 2, "hash": "5a" * 32})
    case.owner.finish(case.draft)
    return held[1]


@tampering("refusals_differ")
def count_what_was_dropped_twice(case: Case) -> int | None:
    """The file says twice how many refused actions of a seat are no longer kept, and is signed again."""
    case.draft.lines[-1:-1] = [{"line": "refusals_dropped", "seat": "red", "count": 2, "hash": "5a" * 32}] * 2
    case.owner.finish(case.draft)
    return None


def _has_reads(case: Case) -> bool:
    """Return True if there are reads in the file. Let the reader have the receipt of a seat."""
    if not case.draft.of("reads"):
        return False
    case.keep_receipt(case.draft.last - 1, case.draft.of("seat")[0]["seat"])
    return True


@tampering("reads_differ", needs="a receipt of the seat")
def empty_the_reads(case: Case) -> int | None:
    """The file has no read of staff, though there were some, and is signed again."""
    if not _has_reads(case):
        return NOT_HERE
    case.drop("read", "reads")
    case.owner.finish(case.draft)
    return case.draft.last - 1


@tampering("reads_differ", needs="a receipt of the seat")
def give_the_reads_of_one_to_another(case: Case) -> int | None:
    """All reads are said to be those of one reader, with good numbers and signatures, and the file is signed again."""
    if not _has_reads(case):
        return NOT_HERE
    (reads,) = case.draft.of("reads")
    for seen in reads["newest"]:
        seen.update({"reader": "admin", "what": "audit"})
    case.drop("read")
    newest = Read(case.draft.match, **reads["newest"][-1])
    case.draft.lines.insert(-1, {"line": "read", "note": case.owner.key.sign(read_text(newest)), "count": len(reads["newest"])})
    case.owner.finish(case.draft)
    return case.draft.last - 1


@tampering("reads_differ")
def drop_a_reader(case: Case) -> int | None:
    """The reads of one reader are left out, but for their order, and the file is signed again."""
    if not case.draft.of("reads"):
        return NOT_HERE
    case.draft.lines.remove(case.draft.of("read")[0])
    case.owner.finish(case.draft)
    return None


@tampering("reads_differ")
def count_fewer_reads(case: Case) -> int | None:
    """The file says that a reader looked less often, and another one more often, and is signed again."""
    reads = case.draft.of("read")
    many = next((line for line in reads if line["count"] > 1), None)
    if many is None:
        return NOT_HERE
    many["count"] -= 1
    next(line for line in reads if line is not many)["count"] += 1
    case.owner.finish(case.draft)
    text = many["note"].partition("\n\n")[0]
    return int(text.split("\n")[2])


@tampering("reads_differ")
def list_the_reads_twice(case: Case) -> int | None:
    """The file has two lists of reads, and is signed again."""
    if not case.draft.of("reads"):
        return NOT_HERE
    case.draft.lines.insert(-1, case.draft.of("reads")[0])
    case.owner.finish(case.draft)
    return None


# ---------------------------------------------------------------- by the owner: names, words and times


@tampering("seat_differs")
def swap_the_names(case: Case) -> int | None:
    """Two players have changed seats in the lines about seats, and the file is signed again."""
    one, other = case.draft.of("seat")[:2]
    one["player"], other["player"] = other["player"], one["player"]
    case.owner.finish(case.draft)
    return int(one["taken"])


@tampering("events_differ", (PYTHON,))
def swap_the_players(case: Case) -> int | None:
    """Two players have changed places in all entries and lines, with good digests, salts and signatures."""
    if not case.draft.whole or not case.base.over:
        return NOT_HERE
    one, other = (line["player"] for line in case.draft.of("seat")[:2])
    names = {one: other, other: one}

    def swapped(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(name, name): swapped(member) for name, member in value.items()}
        if isinstance(value, list):
            return [swapped(member) for member in value]
        return names.get(value, value) if isinstance(value, str) else value

    for line in case.draft.lines:
        if "entry" in line:
            line["entry"] = {**line["entry"], "events": swapped(line["entry"]["events"])}
        elif line["line"] == "seat":
            line["player"] = names.get(line["player"], line["player"])
    case.drop("leaf")
    case.sign()
    return 1


def _ruling(case: Case) -> dict[str, Any] | None:
    """Return the entry of a ruling in a whole file."""
    entries = case.draft.entries if case.draft.whole else []
    return next((entry for entry in entries if entry["action"]["type"] == "rule_dispute"), None)


def _reworded(entry: dict[str, Any]) -> None:
    entry["action"]["text"] = "The seat is right."
    for event in entry["events"]:
        if event["type"] == "dispute_ruled":
            event["text"] = "The seat is right."


@tampering("digest_broken")
def change_the_words_of_a_ruling(case: Case) -> int | None:
    """A ruling has other words."""
    entry = _ruling(case)
    if entry is None:
        return NOT_HERE
    _reworded(entry)
    return version_of(entry)


@tampering("receipt_differs", needs="a receipt")
def retell_a_ruling(case: Case) -> int | None:
    """A ruling has other words, with good digests, salts and signatures, and the file leaves the leaves of the log out."""
    entry = _ruling(case)
    if entry is None:
        return NOT_HERE
    _reworded(entry)
    case.drop("leaf")
    case.sign()
    case.keep_receipt(version_of(entry))
    return version_of(entry)


@tampering("time_backwards", needs="the time")
def write_it_later_than_it_is(case: Case) -> int | None:
    """The file says that it was written a year later, and is signed again."""
    case.now = f"{datetime.fromtimestamp(case.draft.first['at'] // 1000 + 1, UTC):%Y-%m-%dT%H:%M:%SZ}"
    case.draft.first["at"] += 365 * 86_400_000
    case.drop("leaf")
    case.owner.finish(case.draft)
    return None


@tampering("receipt_differs")
def take_the_receipt_of_another_match(case: Case) -> int | None:
    """The receipt in the file is one of another match, and the file is signed again."""
    case.draft.of("receipt")[0]["note"] = case.owner.receipt(case.base.stranger, case.base.stranger.last)
    case.owner.finish(case.draft)
    return case.draft.last


@tampering("request_twice")
def carry_a_request_out_twice(case: Case) -> int | None:
    """Two entries say that they were made for one request, with good digests, salts and signatures."""
    seats = [line["seat"] for line in case.draft.of("seat")]
    entries = [entry for entry in case.draft.entries if case.draft.whole and entry["actor"] == seats[0] and "request" not in entry]
    if len(entries) < 2 or entries[0]["version"] + 1 == entries[-1]["version"]:
        return NOT_HERE
    for entry in (entries[0], entries[-1]):
        entry["request"] = {"id": "again", "fingerprint": "0f" * 16}
    case.drop("leaf")
    case.sign()
    return version_of(entries[-1])


@tampering("action_differs", (PYTHON,))
def write_an_action_otherwise(case: Case) -> int | None:
    """An action has a count of 0 more, which the rules drop, with good digests, salts and signatures."""
    entry = case.middle(lambda entry: isinstance(entry["action"].get("to"), dict))
    if entry is None or not case.draft.whole:
        return NOT_HERE
    entry["action"]["to"]["zz"] = 0
    case.sign()
    return version_of(entry)


# ---------------------------------------------------------------- by the owner: artificial players


def _served(case: Case, cheat: Cheat) -> int:
    """Let the file be the record of a match in which the server cheats for an artificial player. Return the first version, or NOT_HERE."""
    if not case.base.record:
        return NOT_HERE
    served = Served("war", {"red": "greedy", "blue": "me"}, cheat.__name__)
    served.go_on(4)
    versions: list[int] = []
    while not versions:
        versions = served.go_on(1, cheat)
    served.go_on(2)
    served.act_at_table("blue", {"type": "resign"}, served.now.at + 1)
    header = canonical({"blind": chain.blind_key(served.secret.hex()).hex(), "match": served.match})
    case.raw = b"".join(line + b"\n" for line in (header, *served.raws))
    case.decisions = True
    return versions[0]


def _nothing_kept(served: Served, seat: str) -> tuple[Action, Decision | None]:
    return served.honest(seat)[0], None


@tampering("decision_missing", (PYTHON,), needs="`--decisions`")
def strip_a_decision(case: Case) -> int | None:
    """The record keeps nothing of a decision of an artificial player."""
    return _served(case, _nothing_kept)


@tampering("decision_differs", (PYTHON,), needs="`--decisions`")
def decide_otherwise(case: Case) -> int | None:
    """An artificial player did something else than its level decides."""
    return _served(case, another_action)


@tampering("saw_differs", (PYTHON,), needs="`--decisions`")
def show_the_level_the_truth(case: Case) -> int | None:
    """An artificial player was shown what its seat does not see."""
    return _served(case, the_truth_as_its_view)


@tampering("budget_differs", (PYTHON,), needs="`--decisions`")
def say_that_more_was_spent(case: Case) -> int | None:
    """The record says that an artificial player searched longer than it did."""
    return _served(case, more_spent)


# ---------------------------------------------------------------- by the owner: signed moves


ADA, OTHER = Signer(1), Signer(2)
DAY_MS = 86_400_000


@cache
def _match() -> Match:
    return Match()


def _signed(case: Case, by: Signer = ADA, *leaves: dict[str, Any], at: int | None = None, change: Any = lambda lines: None) -> int:
    """Let the file be a dossier in which a player signed two moves. Return the version of the first, or NOT_HERE.

    `leaves`: of the key, if it was not registered before the match as it should be. `at`: when the file was written. `change`: is given the
    lines of keys.
    """
    if not case.base.record:
        return NOT_HERE
    match = _match()
    one, other = match.moves("red")[:2]
    known = {(ANN, by.key): list(leaves or [registration(by, ANN, match.began - 1000)])}
    case.raw = dossier(match, {one: by, other: by}, known, at=at, change=change)
    case.keys.append(SERVER.verifier.vkey)
    return one


def _resigned(case: Case, change: Callable[[dict[str, Any]], Any], later: int = 0) -> int:
    """Let the owner change an entry of such a dossier, compute every digest anew and sign. Return its version, or NOT_HERE.

    `later`: 0 for the first signed move, 1 for the second, -1 for the entry before the first.
    """
    version = _signed(case)
    if version == NOT_HERE:
        return version
    assert case.raw is not None
    version = _match().moves("red")[1] if later == 1 else version + later
    draft, owner = Draft.read(case.raw), Owner(SERVER, bytes(range(32)).hex())
    change(draft.entries[version - 1])
    draft.lines = [line for line in draft.lines if line["line"] != "leaf"]
    owner.relink(draft)
    owner.sign(draft)
    case.raw = draft.bytes()
    return version


@tampering("move_signature_broken")
def move_for_a_player(case: Case) -> int | None:
    """The server makes a move for a player and signs it with a key of its own, which it calls the player's."""
    thief = Signer(2)
    thief.key = ADA.key
    return _signed(case, thief, registration(ADA, ANN, 1))


@tampering("move_signature_broken")
def change_a_signed_action(case: Case) -> int | None:
    """A signed action is another one, with good digests, salts and signatures of the server."""
    return _resigned(case, lambda entry: entry["action"].update(type="end_moves"))


@tampering("move_signature_broken")
def retell_what_a_move_followed(case: Case) -> int | None:
    """The entry before a signed move is another one, with good digests, salts and signatures of the server."""
    version = _resigned(case, lambda entry: entry.update(at=entry["at"] + 1), -1)
    return version if version == NOT_HERE else version + 1


@tampering("seen_not_before")
def say_that_more_was_seen(case: Case) -> int | None:
    """A signed move says that its sender had seen the move itself, with good digests, salts and signatures of the server."""
    return _resigned(case, lambda entry: entry["signed"].update(seen=entry["version"]))


@tampering("move_list_broken")
def cut_a_signed_list(case: Case) -> int | None:
    """A signed move says that it is the first of two of a list, and the other one is not there."""
    return _resigned(case, lambda entry: entry["signed"].update(count=2))


@tampering("move_signature_broken")
def take_a_signature_away(case: Case) -> int | None:
    """A move has lost its signature, with good digests, salts and signatures of the server; the player has signed a later one."""
    version = _resigned(case, lambda entry: entry.pop("signed"))
    return version if version == NOT_HERE else _match().moves("red")[1]


@tampering("receipt_differs", needs="a receipt")
def take_the_last_signature_away(case: Case) -> int | None:
    """The last signed move has lost its signature, with good digests, salts and signatures of the server, and no leaf of the log."""
    version = _resigned(case, lambda entry: entry.pop("signed"), 1)
    if version != NOT_HERE:
        honest = Case(case.base)
        _signed(honest)
        assert honest.raw is not None
        case.receipts.append(Owner(SERVER, "").receipt(Draft.read(honest.raw), version))
    return version


@tampering("key_invalid")
def register_a_key_for_somebody(case: Case) -> int | None:
    """The server signs moves for a player with a key that it registers afterwards."""
    return _signed(case, OTHER, registration(OTHER, ANN, _match().position.at + 600_000), at=_match().position.at + DAY_MS)


@tampering("key_invalid")
def sign_by_a_revoked_key(case: Case) -> int | None:
    """The server signs moves for a player with a key that the player has revoked."""
    began = _match().began
    return _signed(case, OTHER, registration(OTHER, ANN, began - 2 * DAY_MS), revocation(OTHER, ANN, began - DAY_MS))


@tampering("key_missing")
def leave_the_key_out(case: Case) -> int | None:
    """The file has nothing of the key that has signed moves, and was written a day later."""
    return _signed(case, at=_match().position.at + DAY_MS, change=lambda lines: lines.clear())


@tampering("key_differs")
def show_the_key_of_another_player(case: Case) -> int | None:
    """The leaf of the key that has signed moves says that it is another player's."""
    late = _match().position.at + DAY_MS
    return _signed(case, at=late, change=lambda lines: lines[0]["leaves"][0].update(leaf=registration(ADA, BOB, 1)))


@tampering("key_differs")
def register_a_key_without_its_owner(case: Case) -> int | None:
    """The server has registered a key for a player who has not proven to have it."""
    return _signed(case, ADA, registration(ADA, ANN, 1, signature=OTHER.body(ANN)["signature"]))


@tampering("inclusion_broken")
def register_a_key_in_no_log(case: Case) -> int | None:
    """The leaf of the key that has signed moves is not in the log."""
    return _signed(case, change=lambda lines: lines[0]["leaves"][0]["leaf"].update(at=5))


# ---------------------------------------------------------------- by the owner: the log


@tampering("leaf_missing", needs="a checkpoint")
def leave_all_leaves_out(case: Case) -> int | None:
    """The file has no leaf of the log, and was written a day later."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    case.drop("leaf")
    case.draft.first["at"] += 86_400_000
    case.owner.finish(case.draft)
    case.checkpoints.append(case.base.log.checkpoint())
    return 1


def _whole_log(case: Case, *more: dict[str, Any]) -> None:
    """Let the reader have the whole log, which has these leaves after those of the file."""
    log = TestLog(case.owner.key, [*case.base.log.leaves, *map(canonical, more)])
    case.logs.append(log.whole())


def _leaf_of(case: Case, kind: str, version: int, digest: str | None = None) -> dict[str, Any]:
    entry = case.draft.entries[version - 1]
    return {"at": entry["at"], "digest": digest or entry["digest"], "kind": kind, "match": case.draft.match, "version": version}


@tampering("begin_twice", needs="the whole log")
def retell_the_match_in_the_log(case: Case) -> int | None:
    """The log has another beginning of the match, after that of the file."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    _whole_log(case, {**_leaf_of(case, "begin", 1, "5a" * 32), "commitment": "5b" * 32})
    return 1


@tampering("end_twice", needs="the whole log")
def end_the_match_again_in_the_log(case: Case) -> int | None:
    """The log has another end of the match, after that of the file."""
    if not case.draft.of("leaf") or not case.base.over:
        return NOT_HERE
    _whole_log(case, _leaf_of(case, "end", case.draft.last, "5a" * 32))
    return case.draft.last


@tampering("after_end", needs="the whole log")
def go_on_after_the_end_in_the_log(case: Case) -> int | None:
    """The log has a leaf of the running match after its end."""
    if not case.draft.of("leaf") or not case.base.over:
        return NOT_HERE
    _whole_log(case, _leaf_of(case, "hour", case.draft.last, "5a" * 32))
    return case.draft.last


@tampering("digest_twice", needs="the whole log")
def log_two_digests(case: Case) -> int | None:
    """The log has two digests of one version."""
    leaves = case.draft.of("leaf")
    if not leaves or case.base.over or "opened" in leaves[-1]:
        return NOT_HERE
    _whole_log(case, _leaf_of(case, "hour", case.draft.last, "5a" * 32))
    return case.draft.last


@tampering("version_backwards", needs="the whole log")
def log_an_older_version(case: Case) -> int | None:
    """The log has a leaf of an older version after a newer one."""
    leaves = case.draft.of("leaf")
    if not leaves or case.base.over or "opened" in leaves[-1]:
        return NOT_HERE
    _whole_log(case, _leaf_of(case, "hour", 2))
    return 2


@tampering("leaf_withheld", needs="the whole log")
def keep_a_leaf_back(case: Case) -> int | None:
    """The file lacks a leaf that the log had when it was written, and is signed again."""
    leaves = case.draft.of("leaf")
    if len(leaves) < 3 or "opened" in leaves[1]:
        return NOT_HERE
    case.draft.lines = [line for line in case.draft.lines if line is not leaves[1]]
    case.owner.finish(case.draft)
    _whole_log(case)
    return int(leaves[1]["leaf"]["version"])


@tampering("quorum_missed", needs="a witness")
def show_a_log_that_nobody_has_seen(case: Case) -> int | None:
    """The checkpoint under the leaves has no cosignature of a witness that the reader trusts."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    case.witnesses.append(WITNESS.verifier.vkey)
    return None


@tampering("truncated")
def show_a_leaf_of_what_is_left_out(case: Case) -> int | None:
    """The log has a leaf of a version that the file does not have, though the file is completed and signed again."""
    leaves = case.draft.of("leaf")
    if not leaves or case.base.over:
        return NOT_HERE
    leaf = {**inside(leaves[-1]), "version": case.draft.last + 1, "kind": "hour"}
    leaf.pop("hour", None)
    log = TestLog(case.owner.key, [*case.base.log.leaves, canonical(leaf)])
    case.draft.lines.insert(-1, {"line": "leaf", "index": len(log.leaves) - 1, "leaf": leaf, "proof": log.proof(len(log.leaves) - 1)})
    case.owner.finish(case.draft)
    return case.draft.last + 1


@tampering("signature_broken")
def change_a_checkpoint(case: Case) -> int | None:
    """The checkpoint under a leaf has another size, and the file is signed again."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    line = case.draft.of("leaf")[0]
    size = len(case.base.log.leaves)
    line["proof"] = line["proof"].replace(f"\n{size}\n", f"\n{size + 1}\n")
    case.owner.finish(case.draft)
    return int(inside(line)["version"])


@tampering("leaf_differs")
def begin_twice(case: Case) -> int | None:
    """The file has a leaf of another beginning of the match, which the log has, too."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    first = case.draft.of("leaf")[0]
    leaf = {**first["leaf"], "digest": "5a" * 32, "commitment": "5b" * 32}
    log = TestLog(case.owner.key, [*case.base.log.leaves, canonical(leaf)])
    case.draft.lines.insert(-1, {"line": "leaf", "index": len(log.leaves) - 1, "leaf": leaf, "proof": log.proof(len(log.leaves) - 1)})
    case.owner.finish(case.draft)
    return 1


@tampering("leaf_missing")
def drop_the_leaves_but_one(case: Case) -> int | None:
    """The file has only the first leaf of the log, and was written a day later."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    first = case.draft.of("leaf")[0]
    case.draft.lines = [line for line in case.draft.lines if line["line"] != "leaf" or line is first]
    case.draft.first["at"] += 86_400_000
    case.owner.finish(case.draft)
    return case.draft.last


@tampering("leaf_missing")
def drop_the_first_leaf(case: Case) -> int | None:
    """The file lacks the leaf of the beginning, though it has later ones, and was written a day later."""
    leaves = case.draft.of("leaf")
    if not leaves:
        return NOT_HERE
    case.draft.lines = [line for line in case.draft.lines if line is not leaves[0]]
    case.draft.first["at"] += 86_400_000
    case.owner.finish(case.draft)
    return 1


@tampering("leaf_missing")
def keep_the_end_out_of_the_log(case: Case) -> int | None:
    """The log has a leaf of the last version that does not say that it is the end, and the file was written a day later."""
    leaves = case.draft.of("leaf")
    if not leaves or not case.base.over:
        return NOT_HERE
    leaves[-1]["leaf"]["kind"] = "hour"
    log = TestLog(case.owner.key, case.base.log.leaves)
    log.leaves[leaves[-1]["index"]] = canonical(leaves[-1]["leaf"])
    for line in leaves:
        line["proof"] = log.proof(line["index"])
    case.draft.first["at"] += 86_400_000
    case.owner.finish(case.draft)
    return case.draft.last


@tampering("leaf_differs")
def change_a_leaf(case: Case) -> int | None:
    """A leaf has another digest than the log, and the file is signed again."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    leaf = case.draft.of("leaf")[0]["leaf"]
    leaf["digest"] = "00" * 32
    case.owner.finish(case.draft)
    return int(leaf["version"])


@tampering("leaf_differs")
def open_a_seal_otherwise(case: Case) -> int | None:
    """The stated content of a sealed leaf is of another hour, and the file is signed again."""
    line = next((line for line in case.draft.of("leaf") if "opened" in line), None)
    if line is None or (not case.base.over and not case.draft.whole):
        return NOT_HERE
    line["opened"]["hour"] += 3_600_000
    case.owner.finish(case.draft)
    return int(line["opened"]["version"])


@tampering("leaf_differs")
def keep_a_seal_closed(case: Case) -> int | None:
    """A leaf of the log stays sealed for somebody who may know what is in it, and the file is signed again."""
    leaf = next((line for line in case.draft.of("leaf") if "opened" in line), None)
    if leaf is None:
        return NOT_HERE
    leaf["opened"] = None
    case.owner.finish(case.draft)
    return None


@tampering("inclusion_broken")
def take_another_place_in_the_log(case: Case) -> int | None:
    """A leaf says that it stands elsewhere in the log, and the file is signed again."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    line = case.draft.of("leaf")[0]
    line["index"] += 1
    line["proof"] = line["proof"].replace(f"index {line['index'] - 1}\n", f"index {line['index']}\n")
    case.owner.finish(case.draft)
    return int(inside(line)["version"])


@tampering("inclusion_broken")
def put_a_leaf_in_afterwards(case: Case) -> int | None:
    """A leaf that the log never had is proven by the path of another."""
    lines = case.draft.of("leaf")
    if len(lines) < 2:
        return NOT_HERE
    entry = case.draft.entries[1]
    leaf = {"at": entry["at"], "digest": entry["digest"], "kind": "hour", "match": case.draft.match, "version": 2}
    case.draft.lines.insert(-1, {**lines[-1], "leaf": leaf})
    case.owner.finish(case.draft)
    return 2


def _forked(case: Case) -> TestLog:
    """Return a log of the same size in which one leaf is another one, and put it under the file."""
    log = TestLog(case.owner.key, case.base.log.leaves)
    for place, leaf in enumerate(log.leaves):
        if leaf == b"another leaf":
            log.leaves[place] = b"a leaf of the other log"
    for line in case.draft.of("leaf"):
        line["proof"] = log.proof(line["index"])
    case.owner.finish(case.draft)
    return log


@tampering("checkpoint_forked", needs="a checkpoint")
def fork_the_log(case: Case) -> int | None:
    """The file shows another log than the reader has seen, of the same size."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    case.checkpoints.append(case.base.log.checkpoint())
    _forked(case)
    return None


@tampering("checkpoint_forked", needs="a checkpoint")
def fork_the_log_earlier(case: Case) -> int | None:
    """The file shows a log that does not continue the one that the reader has seen, and the server gives a proof of its own log."""
    if not case.draft.of("leaf"):
        return NOT_HERE
    size = len(case.base.log.leaves)
    case.checkpoints.append(case.base.log.checkpoint(size - 2))
    case.consistency.append(_forked(case).consistency(size - 2, size))
    return None


@tampering("wrong_key")
def sign_the_log_by_another_key(case: Case) -> int | None:
    """The checkpoint under the leaves is signed by another key, and the file is signed again."""
    lines = case.draft.of("leaf")
    if not lines:
        return NOT_HERE
    log = TestLog(ANOTHER, case.base.log.leaves)
    for line in lines:
        line["proof"] = log.proof(line["index"])
    case.owner.finish(case.draft)
    return int(inside(lines[0])["version"])


@tampering("line_unknown")
def write_a_line_otherwise(case: Case) -> int | None:
    """A line is JSON, but not canonical."""
    lines = case.file.splitlines(keepends=True)
    place = next(at for at, line in enumerate(case.draft.lines) if line["line"] == "receipt")
    lines[place] = json.dumps(case.draft.lines[place]).encode() + b"\n"
    assert lines[place] != rfc8785.dumps(case.draft.lines[place]) + b"\n"
    case.raw = b"".join(lines)
    return None
