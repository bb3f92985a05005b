"""How hypothesis runs everywhere in the tests: a slow machine is no failure, and a failure can be repeated from what is printed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("warledger", deadline=None, print_blob=True)
settings.load_profile("warledger")
