"""The sequencer: a thread in each worker that can add leaves to the server's log. On each machine one does, until its worker ends.

A round every second adds the leaves that matches need. With witnesses there is a round every ten seconds, so that they can cosign a
checkpoint before the next one. Another thread asks the witnesses, and nothing waits for it. A third one collects bulk files.
"""

from __future__ import annotations

import structlog

from events.errors import NotInLog, StoreRefused, StoreUnavailable
from events.notary import collecting, highwater, sequencing
from events.notary.signer import KeysUnfit
from events.platform import Platform
from workers.background import Background, Turn

EVERY = 1.0
WITNESSED = 10.0
BETWEEN = 0.02  # seconds between two steps of collecting, so that it takes little of what decides and thinks

log = structlog.get_logger(__name__)


class Sequencer(Background):
    """The thread that sequences every second, or every ten seconds with witnesses."""

    TITLE = "sequencer"

    def run(self) -> None:
        """Sequence until stopped. After an error, continue with the next round."""
        every = WITNESSED if self._platform.settings.witnesses else EVERY
        pause, turn = EVERY, Turn(self._platform, "sequencer")
        while not self._stop_it.wait(pause):
            if not turn.is_mine():
                pause = EVERY
                continue
            pause = every
            try:
                if sequencing.sequence(self._platform).more:
                    pause = EVERY
            except (StoreUnavailable, StoreRefused, KeysUnfit, highwater.Unreadable) as reason:
                log.warning("log_not_written", error=type(reason).__name__)
            except OSError as reason:
                log.warning("log_not_written", error=reason.strerror)
            except Exception as reason:  # noqa: BLE001 - it is logged; an ended thread would be noticed much later
                log.error("log_not_written", error=type(reason).__name__)
        turn.close()


class Asker(Background):
    """The thread that asks the witnesses to cosign each published checkpoint. One thread on a machine works at a time."""

    TITLE = "witnesses"

    def run(self) -> None:
        """Ask until stopped."""
        from events.notary.witnessing import Witnesses  # its HTTP client is slow to import, and few servers have witnesses

        witnesses = Witnesses(self._platform)
        while not self._stop_it.wait(EVERY):
            try:
                with highwater.alone(self._platform.settings.keys_folder, "witnesses") as alone:
                    if alone:
                        witnesses.visit()
            except (StoreUnavailable, StoreRefused, NotInLog, KeysUnfit, OSError):
                continue  # the sequencer logs it
            except Exception as reason:  # noqa: BLE001 - it is logged
                log.error("witnesses_not_asked", error=type(reason).__name__)
        witnesses.close()


class Collector(Background):
    """The thread that collects finished matches into bulk files. Of the workers of a machine, one does."""

    TITLE = "collector"

    def run(self) -> None:
        """Collect until stopped. After an error, continue with the next round."""
        turn, pause = Turn(self._platform, "collector"), EVERY
        while not self._stop_it.wait(pause):
            pause = EVERY
            try:
                if turn.is_mine() and collecting.collect(self._platform):
                    pause = BETWEEN
            except (StoreUnavailable, StoreRefused, KeysUnfit) as reason:
                log.warning("bulk_not_collected", error=type(reason).__name__)
            except Exception as reason:  # noqa: BLE001 - it is logged; an ended thread would be noticed much later
                log.error("bulk_not_collected", error=type(reason).__name__, name=getattr(reason, "name", None))
        turn.close()


def begin(platform: Platform) -> list[Background]:
    """Start the threads that add to the server's log, and return them."""
    threads: list[Background] = [Sequencer(platform), Collector(platform)]
    if platform.settings.witnesses:
        threads.append(Asker(platform))
    for thread in threads:
        thread.start()
    return threads
