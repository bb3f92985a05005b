"""Count: the metrics of prometheus_client, with values that a process reads at once.

Collecting 1,500 of them through the library takes 8 ms, twice as long as all of `/metrics` may take. As for its own multi-process mode,
the library makes each value by `values.ValueClass`. So every metric is defined with the classes of this module, never with those of the
library (docs/decisions/0090).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, REGISTRY, Counter, Gauge, Histogram, values

__all__ = ["Counter", "Gauge", "Histogram", "Series", "counted"]

for _not_ours in (GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR):
    REGISTRY.unregister(_not_ours)


class Series(NamedTuple):
    """What one value counts. `name` and `labels` are those of its line, `metric`, `kind` and `about` those of its metric.

    Each bucket of a histogram counts what is in no smaller one.
    """

    metric: str
    kind: str
    about: str
    name: str
    labels: tuple[tuple[str, str], ...]


class _Value(values.MutexValue):
    """A value that is listed in `_counted`."""

    def __init__(self, kind: str, metric: str, name: str, labels: Sequence[str], of: Sequence[str], about: str, **more: Any) -> None:
        super().__init__(kind, metric, name, labels, of, about, **more)  # type: ignore[no-untyped-call]
        _counted.append((Series(metric, kind, about, name, tuple(zip(labels, of, strict=True))), self))


_counted: list[tuple[Series, _Value]] = []
values.ValueClass = _Value


def counted() -> list[tuple[Series, float]]:
    """Return everything that this process counts, with its number. It only becomes more, at the end."""
    return [(series, value._value) for series, value in _counted]
