"""The settings of hypothesis for all tests. A slow machine is no failure, and a failure prints how to repeat it."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("warledger", deadline=None, print_blob=True)
settings.load_profile("warledger")
