"""How many messages the hooks of a player send. More of them wait."""

from __future__ import annotations

MESSAGES, MESSAGES_SECONDS = 600, 60  # of each process that sends
PATIENCE_MS = 3 * 86_400_000  # after which a message that does not arrive is given up
