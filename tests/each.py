"""Many small cases of one claim in one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test once for all cases, with the same fixtures, as `pytest.mark.parametrize` runs it for each with new ones.

    For cases that leave the fixtures as they are, such as requests that are refused: a platform and an application for each of them
    would take longer than the test. A failure names its case.
    """
    named = (names,) if isinstance(names, str) else names

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        def of_each(**fixtures: Any) -> None:
            for case in cases:
                given = dict(zip(named, (case,) if isinstance(names, str) else case, strict=True))
                try:
                    test(**fixtures, **given)
                except BaseException as error:
                    error.add_note(f"The case is {given}.")
                    raise

        signature = inspect.signature(test)
        kept = [parameter for name, parameter in signature.parameters.items() if name not in named]
        of_each.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        of_each.__name__, of_each.__doc__, of_each.__module__ = test.__name__, test.__doc__, test.__module__
        return of_each

    return decorated
