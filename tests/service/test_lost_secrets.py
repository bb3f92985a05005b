"""A match whose secret was deleted from the store: answers with a sentence, and never a 500."""

from __future__ import annotations

from events.platform import Platform
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
