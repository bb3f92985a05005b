"""The settings of hypothesis for all tests. A slow machine is no failure, and a failure prints how to repeat it.

HYPOTHESIS_PROFILE names other settings: `mutants`, for tools/mutate.py, tries the same few examples on every mutant and does not look for
the smallest that fails.
"""

from __future__ import annotations

import os

from hypothesis import Phase, settings

settings.register_profile("warledger", deadline=None, print_blob=True)
settings.register_profile(
    "mutants", deadline=None, max_examples=25, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "warledger"))
