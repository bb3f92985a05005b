"""The sequencer: beside each worker, a thread that lets the server's log grow. Of those on a machine one at a time does so.

A round a second adds what matches want. With witnesses there is a round each ten seconds, so that a checkpoint stands until they have
cosigned it. They are asked by another thread, which nobody waits for.
"""

from __future__ import annotations

import structlog

from events.errors import NotInLog, StoreRefused, StoreUnavailable
from events.notary import highwater, sequencing
from events.notary.signer import KeysUnfit
from events.platform import Platform
from workers.background import Background, Turn

EVERY = 1.0
WITNESSED = 10.0

log = structlog.get_logger(__name__)


class Sequencer(Background):
    """A round of sequencing each second, or each ten with witnesses."""

    TITLE = "sequencer"

    def run(self) -> None:
        """Sequence until stopped. After an error, go on a round later."""
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
            except Exception as reason:  # noqa: BLE001 - it is logged; a thread that ended for good would be noticed much later
                log.error("log_not_written", error=type(reason).__name__)
        turn.close()


class Asker(Background):
    """Asks the witnesses for each checkpoint that is served. Of those on a machine one at a time does so."""

    TITLE = "witnesses"

    def run(self) -> None:
        """Ask until stopped."""
        from events.notary.witnessing import Witnesses  # its HTTP client is a tenth of the start of a worker, and few have witnesses

        witnesses = Witnesses(self._platform)
        while not self._stop_it.wait(EVERY):
            try:
                with highwater.alone(self._platform.settings.keys_folder, "witnesses") as alone:
                    if alone:
                        witnesses.visit()
            except (StoreUnavailable, StoreRefused, NotInLog, KeysUnfit, OSError):
                continue  # the sequencer says it
            except Exception as reason:  # noqa: BLE001 - it is logged
                log.error("witnesses_not_asked", error=type(reason).__name__)
        witnesses.close()


def begin(platform: Platform) -> list[Background]:
    """Start what lets the server's log of a platform grow, and return it."""
    threads: list[Background] = [Sequencer(platform)]
    if platform.settings.witnesses:
        threads.append(Asker(platform))
    for thread in threads:
        thread.start()
    return threads
