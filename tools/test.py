"""Run the tests, then run failed tests once more, alone: `./run test`.

The second run is a new process after all others have ended, so its fixtures are new and the machine is idle. A test that passes there is
flaky: both outputs are printed, and the run is green. There is no second run if a file could not be collected, a worker crashed, or the run
was interrupted or stopped (`-x`), because some tests may not have run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

PARALLEL = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"]
ALONE = ["-n", "0", "--maxfail", "10", "--junitxml", ""]  # after ten failures the run is red; keep the XML file of the first run
STEPS = ["setup", "call", "teardown"]

Reports = dict[str, list[pytest.TestReport]]


def main(words: list[str]) -> int:
    """Run pytest with these options, and return its exit status. With `--strict`, there is no second run."""
    options = [*PARALLEL, *(word for word in words if word != "--strict")]
    return pytest.main(options, plugins=[] if "--strict" in words else [FirstRun(options)])


class FirstRun:
    """A plugin that runs failed tests again at the end. A test that passes then counts as flaky."""

    def __init__(self, options: list[str]) -> None:
        self.options = options
        self.failed: Reports = {}
        self.again: Reports = {}
        self.printed = ""
        self.complete = True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the report of a failed test."""
        if report.failed:
            self.failed.setdefault(report.nodeid, []).append(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be collected. Its tests are unknown."""
        self.complete = self.complete and not report.failed

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object | None) -> None:
        """Note a worker that crashed. It may leave tests that no other worker runs."""
        self.complete = self.complete and not error

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Run the failed tests again. The workers have ended, and the summary is printed afterwards."""
        stopped = session.shouldfail or session.shouldstop
        if session.exitstatus != pytest.ExitCode.TESTS_FAILED or stopped or not self.complete:
            return
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        assert isinstance(terminal, TerminalReporter)
        terminal.write_line(f"\n\nRunning again, alone: {', '.join(self.failed)}")
        self.again, self.printed = run_again(self.options, session.config, self.failed)
        flaky = {test: reports for test, reports in self.failed.items() if passed(self.again[test])}
        for category in ("passed", "failed", "error"):
            reports = [report for report in terminal.stats.pop(category, []) if report.nodeid not in flaky]
            terminal.stats |= {category: reports} if reports else {}
        terminal.stats |= {"flaky": [reports[0] for reports in flaky.values()]} if flaky else {}
        if len(flaky) == len(self.failed):
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Print both outputs of flaky tests, and the second output of the others."""
        for test, reports in self.again.items():
            flaky = passed(reports)
            terminalreporter.section(f"{'FLAKY' if flaky else 'FAILED AGAIN' if reports else 'NOT RUN AGAIN'} {test}")
            texts = [*output("first run", self.failed[test] if flaky else []), *output("second run", reports)]
            terminalreporter.write_line("\n".join(texts))
        if not all(self.again.values()):
            terminalreporter.section("The second run")
            terminalreporter.write_line(self.printed)


def passed(reports: list[pytest.TestReport]) -> bool:
    """Return True if a test passed, with its setup and its teardown."""
    return [report.when for report in reports if report.passed] == STEPS


def output(title: str, reports: list[pytest.TestReport]) -> Iterator[str]:
    """Yield the result of a test in a run, its errors and its output."""
    if reports:
        yield f"--- {title}: {'passed' if passed(reports) else 'did not pass'} ---"
        yield from (report.longreprtext for report in reports if not report.passed)
        for name, text in reports[-1].sections:
            yield from (f"--- {title}: {name} ---", text.rstrip("\n"))


def run_again(options: list[str], config: pytest.Config, tests: Iterable[str]) -> tuple[Reports, str]:
    """Run tests in a process of their own. Return the reports of each test, none if it did not run, and the output of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, reported = Path(folder, "wanted"), Path(folder, "reported")
        wanted.write_text(json.dumps(list(tests)))
        reported.touch()
        command = [sys.executable, "-m", "tools.test", "--again", folder, *options, *ALONE]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        found: Reports = {test: [] for test in tests}
        for line in reported.read_text().splitlines():
            report = config.hook.pytest_report_from_serializable(config=config, data=json.loads(line))
            found[report.nodeid].append(report)
        return found, ended.stdout


class SecondRun:
    """A plugin that runs the tests listed in a folder, and writes their reports to that folder."""

    def __init__(self, folder: Path) -> None:
        self.tests = set(json.loads((folder / "wanted").read_text()))
        self.reported = folder / "reported"

    def pytest_configure(self, config: pytest.Config) -> None:
        """Keep the configuration, which is needed to write reports."""
        self.config = config

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """Return True for files without a wanted test, so that they are not imported."""
        files = {config.rootpath / test.split("::")[0] for test in self.tests}
        return True if collection_path.is_file() and collection_path not in files else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Select the wanted tests."""
        items[:] = [item for item in items if item.nodeid in self.tests]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a report at once, because a test may end the process."""
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        with self.reported.open("a") as file:
            file.write(json.dumps(data, default=str) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--again"]:
        sys.exit(pytest.main(sys.argv[3:], plugins=[SecondRun(Path(sys.argv[2]))]))
    sys.exit(main(sys.argv[1:]))
