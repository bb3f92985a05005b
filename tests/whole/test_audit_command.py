"""`./run audit` without a store: files that are missing or empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.audit import main


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for what in (str(tmp_path / "record.ndjson"), str(tmp_path), "nonsense"):
        assert main([what]) == 2
        assert capsys.readouterr().err == f"There is no file {what}, and this is not the id of a match.\n"


@pytest.mark.parametrize("content", [b"", b"\n", b"  \r\n \n"])
def test_an_empty_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    file = tmp_path / "record.ndjson"
    file.write_bytes(content)
    assert main([str(file)]) == 2
    assert capsys.readouterr().err == f"The file {file} is empty.\n"
