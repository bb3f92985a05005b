"""Weights are fitted by ridge regression, and written only if they win matches."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from games import GAMES
from games.kernel import Seat, State
from players import evaluation, plans
from players.evaluation import share_of
from players.knowledge import Features, Knowledge
from tests.tally import TALLY
from tools import tune
from tools.regression import Pull, ridge, solved
from tools.significance import better
from tools.tune import Row, Source, fitted, fitted_outlook, main, positions


def test_a_system_of_equations_is_solved() -> None:
    found = solved([[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]], [11.0, 21.0, 25.0])
    assert found == pytest.approx([1, 2, 3])


def test_a_regression_finds_the_weights_behind_noise_whatever_their_units() -> None:
    draw = random.Random(4)
    rows = [[draw.gauss(0, 1), draw.gauss(0, 1000), 0.0] for _ in range(2000)]
    targets = [3 * one - 0.002 * two + draw.gauss(0, 1) for one, two, _ in rows]
    weights = ridge(rows, targets, [0.0, 0.0, 7.0], Pull(1e-6))
    assert weights[:2] == pytest.approx([3, -0.002], rel=0.05)
    assert weights[2] == 7, "nothing is known of it, so it stays as it was"


def test_a_strong_pull_leaves_the_weights_about_where_they_were() -> None:
    rows, targets = [[1.0], [2.0]], [2.0, 4.0]
    assert ridge(rows, targets, [1.0], Pull(1e-9)) == pytest.approx([2])
    assert ridge(rows, targets, [1.0], Pull(1.0)) == pytest.approx([1.5])
    assert ridge(rows, targets, [1.0], Pull(1e9)) == pytest.approx([1])
    assert ridge(rows, targets, [1.0], Pull(1e-9, 2)) == pytest.approx([1.5]), "two rows, and two more that say 1"


def test_a_feature_that_is_seldom_there_gets_no_great_weight() -> None:
    """Whoever had it, in three of 300 matches, has won. That is no proof of anything."""
    draw = random.Random(4)
    rows = [Row(number, "end", [1.0, lead, float(number < 3)], float(lead > 0)) for number in range(300) for lead in [draw.gauss(0, 1)]]
    rows[:3] = [row._replace(share=1.0) for row in rows[:3]]
    for row in rows:
        row.features[1] += draw.gauss(0, 1)
    free, held = (fitted_outlook(rows, ("turn", "lead", "rare"), {"end": {}}, Pull(0.01, prior))["end"] for prior in (0, 20))
    assert free["rare"] > 4 > 0.5 > held["rare"] > 0
    assert held["lead"] == pytest.approx(free["lead"], rel=0.2)


def test_each_phase_has_its_weights_and_one_without_rows_keeps_them() -> None:
    rows = [Row(0, phase, [side * size], 0.5 + side * size / 4) for phase, size in (("early", 1), ("late", 2)) for side in (1, -1)]
    present = {"early": {"lead": 0.1}, "late": {"lead": 0.1}, "end": {"lead": 0.1}}
    found = fitted(rows, ("lead",), 2, present, Pull(1e-9))
    assert found == {"early": {"lead": 0.5}, "late": {"lead": 0.5}, "end": {"lead": 0.1}}


def test_an_outlook_is_fitted_to_victories_and_defeats() -> None:
    draw = random.Random(4)
    rows: list[Row] = []
    for number in range(4000):
        lead = draw.gauss(0, 10)
        won = draw.random() < share_of(0.1 * lead + 0.5, 2)
        rows.append(Row(number, "end", [1.0, lead], float(won)))
    found = fitted_outlook(rows, ("turn", "lead"), {"end": {}, "start": {"lead": 0.2}}, Pull(1e-6))
    assert found["end"] == {"turn": pytest.approx(0.5, abs=0.1), "lead": pytest.approx(0.1, abs=0.02)}
    assert found["start"] == {"lead": 0.2}, "a phase without rows keeps its weights"
    few = [Row(0, "start", [1.0, lead], float(lead > 0)) for lead in (9.0, -9.0)]
    alone, pooled = (fitted_outlook([*rows, *few], ("turn", "lead"), {"end": {}, "start": {}}, Pull(2.0), pool) for pool in (None, 1e-6))
    assert alone["start"]["turn"] == pytest.approx(0, abs=0.05)
    assert pooled["start"]["turn"] > 0.25, "a phase with few rows learns from the others"


def test_the_sequential_test_seldom_takes_an_even_candidate_and_finds_a_better_one() -> None:
    def accepted(chance: float, seed: int) -> bool:
        draw, counts = random.Random(seed), [0, 0]
        while (verdict := better(counts[0], counts[1], 0.6, 0.05)) is None:
            counts[draw.random() >= chance] += 1
        return verdict

    assert sum(accepted(0.5, seed) for seed in range(1000)) <= 65
    assert sum(accepted(0.6, seed) for seed in range(1000)) >= 935


def know(monkeypatch: pytest.MonkeyPatch, features: Features) -> None:
    """Let the players know some features of the game `tally`, as if it had a folder in players/."""
    monkeypatch.setattr(evaluation, "knowledge_of", lambda game: Knowledge(features))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The game `tally` with two features, `lead` and one that says nothing, and with weights that are the wrong way round."""

    def features(state: State, seat: Seat) -> list[float]:
        return [TALLY.worth(state, seat), float(len(state["pile"]))]

    monkeypatch.setitem(GAMES, "tally", TALLY)  # type: ignore[arg-type]
    know(monkeypatch, Features(("lead", "noise"), features, lambda state: "any"))
    monkeypatch.setattr(plans, "FOLDER", tmp_path)
    data = json.loads(plans.DEFAULT.read_text())
    data["worth"] = [{"seats": [2, 3], "phases": ["any"], "weights": {"any": {"lead": -0.1, "noise": 0.0}}}]
    path = plans.path_of("tally")
    path.parent.mkdir()
    path.write_text(json.dumps(data))
    plans._data.cache_clear()
    yield path
    plans._data.cache_clear()


WORDS = ["tally", "--matches", "40", "--every", "3", "--iterations", "8", "--pairs", "60", "--cores", "1", "--ridge", "0.01"]


def test_weights_that_win_matches_are_written_for_their_number_of_seats(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(WORDS) == 0
    others, item = json.loads(toy.read_text())["worth"]
    assert (others["seats"], others["weights"]["any"]["lead"]) == ([3], -0.1)
    assert item["seats"] == [2]
    assert item["weights"]["any"]["lead"] > 0.05
    assert abs(item["weights"]["any"]["noise"]) < 0.05
    assert "--ridge 0.01" in item["tuned"]
    assert "better" in capsys.readouterr().out
    plans._data.cache_clear()
    assert plans.weights_of("tally", 2) == item


@pytest.mark.soak
def test_steps_by_matches_alone_find_weights_that_win(
    toy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two features are opposites, and the wrong one counts for more."""

    def features(state: State, seat: Seat) -> list[float]:
        return [TALLY.worth(state, seat), -TALLY.worth(state, seat)]

    know(monkeypatch, Features(("lead", "against"), features, lambda state: "any"))
    data = json.loads(toy.read_text())
    data["worth"][0]["weights"]["any"] = {"lead": 0.1, "against": 0.11}
    toy.write_text(json.dumps(data))
    plans._data.cache_clear()
    words = ["tally", "--steps", "12", "--step-pairs", "4", "--iterations", "8", "--pairs", "60", "--cores", "1", "--dry-run"]
    printed = []
    for _ in range(2):
        assert main(words) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert printed[0].startswith("12 steps: ")
    found = json.loads(printed[0][printed[0].index("{") :])["any"]
    assert found["lead"] > found["against"] > 0
    same = data["worth"][0]["weights"]
    assert tune.climbed(tune.Trial("tally", 2, {}, "s", "strong", 8, same, same), 0, 4, 1) == same


@pytest.mark.parametrize("path", [plans.DEFAULT, *map(plans.path_of, sorted(GAMES))], ids=["default", *sorted(GAMES)])
def test_a_file_keeps_its_content_and_has_short_lines(path: Path) -> None:
    data = json.loads(path.read_text())
    text = tune.laid_out(data)
    assert json.loads(text) == data
    assert list(json.loads(text)["worth"][0]) == list(data["worth"][0])
    assert max(map(len, text.splitlines())) <= 160
    assert len(text.splitlines()) < 1300


def test_the_weights_of_an_outlook_are_written_for_the_levels_that_had_it(toy: Path) -> None:
    data = json.loads(toy.read_text())
    old = {"seats": [2, 3], "levels": ["expert"], "phases": ["any"], "weights": {"any": {}}}
    data["outlooks"] = [{**old, "levels": ["strong"]}, old]
    toy.write_text(json.dumps(data))
    assert tune.put("tally", 2, {"any": {"lead": 0.5}}, "by hand", "expert", outlook=True) == toy
    plans._data.cache_clear()
    assert plans.outlook_weights("tally", 2, "expert") == {"any": {"lead": 0.5}}
    assert plans.outlook_weights("tally", 2, "strong") == plans.outlook_weights("tally", 3, "expert") == {"any": {}}
    assert plans.outlook_weights("tally", 2, "greedy") is None
    assert json.loads(toy.read_text())["worth"] == data["worth"]


def test_a_level_with_weights_of_its_own_is_tuned_by_them(toy: Path) -> None:
    data = json.loads(toy.read_text())
    data["worth"].insert(0, {"seats": [2], "levels": ["expert"], "phases": ["any"], "weights": {"any": {"lead": 0.3}}})
    toy.write_text(json.dumps(data))
    general = plans.weights_of("tally", 2, "strong")
    tune.put("tally", 2, {"any": {"lead": 0.5}}, "by hand", "expert")
    plans._data.cache_clear()
    assert (plans.weights_of("tally", 2, "expert") or {})["weights"] == {"any": {"lead": 0.5}}
    assert plans.weights_of("tally", 2, "strong") == general


def test_self_play_may_search_otherwise_than_its_level(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for changes in ({}, {"iterations": 1}, {"iterations": 1, "completions": 1}):
        found.append(positions((Source("tally", 2, {}, "s", "strong", 10**9, 3, changes=changes), 0)))
    assert found[0] != found[1] != found[2]
    for wrong in (["greedy", '{"nodes": 3}'], ["strong", '{"nobody": 3}']):
        with pytest.raises(SystemExit):
            main([*WORDS, "--self-play", wrong[0], "--self-play-plan", wrong[1]])
        assert "--self-play-plan may name iterations and settings" in capsys.readouterr().err


def test_a_dry_run_writes_nothing_and_prints_the_same_twice(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, printed = toy.read_text(), []
    for _ in range(2):
        assert main([*WORDS, "--dry-run"]) == 0
        printed.append(capsys.readouterr().out)
    assert toy.read_text() == before
    assert printed[0] == printed[1]


def test_a_better_fit_that_wins_no_more_matches_is_not_written(
    toy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = toy.read_text()
    monkeypatch.setattr(tune, "pair", lambda task: (-1) ** task[1])
    assert main(WORDS) == 1
    assert toy.read_text() == before
    assert "undecided, so not accepted" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "pulled_to"), [([], -0.1), (["--from-zero"], 0.0)])
def test_a_fit_is_pulled_to_the_present_weights_or_to_0(toy: Path, words: list[str], pulled_to: float) -> None:
    options = tune.parsed([*WORDS, "--ridge", "1e9", *words])
    present = {"any": {"lead": -0.1}, "end": {"lead": 0.3}}
    trial = tune.Trial("tally", 2, {}, "s", "strong", 8, present, present)
    ((_, found),) = tune.candidates(options, trial)
    assert found["any"]["lead"] == pytest.approx(pulled_to, abs=1e-4)
    assert found["end"] == {"lead": 0.3}, "a phase without rows keeps its weights"


def test_positions_follow_from_the_seed() -> None:
    source = Source("war", 2, {}, "7", "random", 10, 20)
    rows = positions((source, 3))
    assert rows == positions((source, 3)) != positions((source, 4))
    assert {row.share for row in rows} <= {0.0, 0.5, 1.0}
    assert sum(row.share for row in rows) == len(rows) / 2, "both seats have each position, and share one victory"


@pytest.mark.parametrize(
    "words",
    [
        ["war", "--level", "greedy"],
        ["war", "--seats", "7"],
        ["war", "--ridge", "0"],
        ["war", "--share", "0.4"],
        ["war", "--pairs", "0"],
        ["war", "--steps", "-1"],
        ["war", "--steps", "1", "--from-zero"],
        ["war_of_the_worlds", "--level", "expert"],  # it has weights of its own for the humans
        ["war", "--outlook", "--pool", "1", "--from-zero"],
    ],
)
def test_what_cannot_be_tuned_is_said(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
