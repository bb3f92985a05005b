"""Repair the store of a data folder, and report what is lost: `./run repair`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from events.keeping import aof, losses
from events.keeping.embedded import STORE
from events.rebuild import rebuild
from tools.checkup import NAMED, add_sample_option, as_text, check, folder_of, own, started
from tools.platform import Unable, add_data_option


def main(arguments: list[str] | None = None) -> int:
    """Examine a store, repair it, and audit a sample. Return 0 if all is well, 1 after losses or findings, 2 if this is not possible."""
    parser = argparse.ArgumentParser(
        prog="./run repair",
        description="Cut off and keep a damaged end of the store's file, compare the store with the journal, rebuild the projections, "
        "and audit a sample. The service must not run, except for --accept.",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--look", action="store_true", help="only report the damage and what would be lost")
    what.add_argument("--cut", action="store_true", help=f"also cut if more than {aof.AUTOMATIC} entries would be lost")
    what.add_argument("--accept", action="store_true", help="acknowledge the losses: stop reporting them")
    add_sample_option(parser)
    add_data_option(parser)
    options = parser.parse_args(arguments)
    try:
        data = folder_of(options.data)
        if not (data / STORE).is_dir():
            raise Unable(f"There is no data in {data}. Name its folder with --data. A server of your own has its own tools.")
        if options.accept:
            return accepted(data)
        return repaired(data, options)
    except (Unable, aof.NotWhole, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2


def accepted(data: Path) -> int:
    """Stop reporting what is lost. Raises OSError."""
    found = losses.accept(data)
    if not found:
        print("There is nothing to accept.")
    for loss in found.losses:
        print(f"{loss.match}: {losses.about(loss)}")
    for cut in found.cuts:
        print(f"{cut.size} bytes that were cut off are kept in {cut.kept}.")
    return 0


def repaired(data: Path, options: argparse.Namespace) -> int:
    """Examine the files, repair them, and check everything. Raises Unable, NotWhole, OSError."""
    own(data)
    store = data / STORE
    damage = aof.find_damage(store)
    print("The append-only file is whole." if damage is None else described(damage))
    if damage is not None and not options.look and not options.cut and len(damage.entries) > aof.AUTOMATIC:
        print("Restore a backup, or use --cut.")
    if damage is not None and (options.look or (not options.cut and len(damage.entries) > aof.AUTOMATIC)):
        return 1
    if options.look:
        return int(bool(losses.read(data)))
    if aof.mend(store, by_hand=True):
        print(f"Cut. What was cut off is in {losses.read(data).cuts[-1].kept}.")
    with started(data) as platform:
        done = rebuild(platform)
        found = check(platform, options.sample)
    print(f"{done.matches} matches rebuilt from {done.entries} entries.")
    for match in done.unreadable:
        print(f"{match} cannot be replayed and was left alone. `./run audit {match}` says why.")
    for match in done.secretless:
        print(f"{match} is not over, but its secret is missing, so it cannot be played. Restore it from a backup.")
    print(as_text(found))
    known = losses.read(data)
    print(losses.sentence(data, known) or "Nothing in the journal is lost.")
    return int(not found.ok or bool(known) or bool(done.unreadable or done.secretless))


def described(damage: aof.Damage) -> str:
    """Return the damage as text, and what a cut would lose."""
    lines = [f"{damage.file} is damaged at byte {damage.at}. {damage.size} bytes come after that."]
    spans = losses.ranges(damage.entries)
    lines += [f"Entries in them that can be read: {len(damage.entries)}, of {len({match for match, _, _ in spans})} matches."]
    lines += [f"  {match} {first}" + (f" to {last}" if last > first else "") for match, first, last in spans[:NAMED]]
    lines += [f"  and {len(spans) - NAMED} more"] if len(spans) > NAMED else []
    lines += [f"They hold the players {', '.join(damage.players)}."] if damage.players else []
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
