"""A match whose secret was deleted from the store, or whose log is damaged: answers with a sentence, and never a 500."""

from __future__ import annotations

import pytest

from events.platform import Platform
from events.store.packed import pack
from tests.conftest import Servers
from tests.service.conftest import Caller

ADD = {"type": "add", "by": 1, "stay": True}


def test_a_match_that_goes_on_without_its_secret_answers_503_with_a_sentence(
    platform: Platform, servers: Servers, ada: Caller, referee: Caller, tally: str
) -> None:
    servers.keeper.delete(platform.store.keys.of(tally).secret)
    platform.cache.drop(tally)
    for answer in (ada.get(f"/v1/matches/{tally}"), ada.act(tally, ADD), ada.get(f"/v1/matches/{tally}/choices")):
        assert (answer.status_code, answer.json["code"]) == (503, "secret_lost")
        assert tally in answer.json["detail"]
        assert answer.headers["Retry-After"] == "60", "an operator has to bring it back"
    assert platform.store.log.head(tally) == 3
    report = referee.get(f"/v1/matches/{tally}/audit").json
    assert [finding["code"] for finding in report["findings"]] == ["secret_missing"]
    assert referee.get(f"/v1/matches/{tally}/record").json["blind"] is None


@pytest.mark.parametrize("content", [None, b"{"], ids=["an entry", "junk"])
def test_a_match_whose_log_has_a_stray_item_answers_503_and_its_audit_names_the_item(
    platform: Platform, servers: Servers, ada: Caller, anybody: Caller, referee: Caller, tally: str, content: bytes | None
) -> None:
    """Also where the match was in memory when the item came. Nothing is shown of it, and nothing is written."""
    for route in ("", "/state", "/choices", "/dossier", "/receipts/3"):
        assert ada.get(f"/v1/matches/{tally}{route}").status_code == 200
    raw = platform.store.log.last([tally])[0] if content is None else content
    servers.keeper.xadd(platform.store.keys.of(tally).stream, {"e": pack(raw, tally, 3)}, id="3-1")
    for forgotten in (False, True):
        if forgotten:
            platform.cache.drop(tally)
        answers = [anybody.get(f"/v1/matches/{tally}{route}") for route in ("", "/state", "/entries", "/dossier", "/receipts/3")]
        for answer in (*answers, ada.act(tally, ADD), ada.get(f"/v1/matches/{tally}/audit")):
            assert (answer.status_code, answer.json["code"]) == (503, "log_damaged")
            assert f"`./run audit {tally}` tells the operator" in answer.json["detail"]
            assert answer.headers["Retry-After"] == "60"
    assert platform.store.log.head(tally) == 4
    report = referee.get(f"/v1/matches/{tally}/audit")
    assert report.status_code == 200
    assert ("wrong_id", 4) in [(finding["code"], finding["version"]) for finding in report.json["findings"]]
    assert "log_damaged" in anybody.get("/v1/problems/log_damaged").text
