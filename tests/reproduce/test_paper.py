"""The paper's experiments on the smallest plan: a whole report, and claims that follow from the numbers."""

import csv
import re
from typing import get_args

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import leastaction as la
from leastaction.cli.commands import app
from leastaction.reference import lie
from leastaction.reproduce import agreement, convergence, cost, errata, section, step_size, suite, timing
from leastaction.reproduce.section import Plan, spread
from leastaction.reproduce.timing import Timing

TINY = Plan(sizes=(2, 10, 20, 30, 40), long_sizes=(60,), frames=20, budget=1e-3, repeats=2, tree_depth=3, short=0.2,
            long=0.5, bodies=10, counted=20, guess_frames=20, step_duration=0.2)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What `leastaction reproduce --quick` writes, on the smallest plan."""
    folder = tmp_path_factory.mktemp("reproduce")
    page = "# Ours\n\n<!-- begin: reproduced -->\nold\n<!-- end: reproduced -->\n\nThe end.\n"
    (folder / "docs").mkdir()
    for name in ("README.md", "docs/paper.md"):
        (folder / name).write_text(page)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suite, "QUICK", TINY)
        result = CliRunner().invoke(app, ["reproduce", "--quick", "--out", str(folder / "out"), "--publish",
                                          str(folder)])
    assert result.exit_code == 0, result.output
    return folder


def rows(report, name):
    with (report / "out" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_page_holds_everything_it_shows(report):
    page = (report / "out" / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert page.count("data:image/png;base64,") == 6
    for claim in rows(report, "claims"):
        assert claim["verdict"] in get_args(section.Verdict)
        assert f">{claim['verdict']}<" in page
    for heading in ("Figure 2b", "Figures 3a and 3b", "Figure 4a", "Figure 4b", "Initial guesses", "Errata"):
        assert heading in page


def test_every_method_and_size_is_timed(report):
    found = rows(report, "cost")
    assert len(found) == len(timing.PAIRS) * len(TINY.sizes) + len(TINY.long_sizes)
    assert all(float(row["µs a frame, least"]) > 0 and int(row["frames"]) == 20 for row in found)
    assert len(rows(report, "tree")) == len(timing.PAIRS)
    assert len(rows(report, "growth")) == len(timing.PAIRS) + 1


@pytest.mark.parametrize("name", ["README.md", "docs/paper.md"])
def test_pages_are_filled_between_their_marks(report, name):
    text = (report / name).read_text(encoding="utf-8")
    assert text.startswith("# Ours\n\n<!-- begin: reproduced -->\n") and text.endswith("reproduced -->\n\nThe end.\n")
    assert "old" not in text


def test_the_figures_are_published(report):
    pictures = re.findall(r"\]\((images/paper-\w+\.png)\)", (report / "docs" / "paper.md").read_text(encoding="utf-8"))
    assert len(pictures) == 6
    for picture in pictures:
        with Image.open(report / "docs" / picture) as image:
            assert min(image.size) > 200


def test_the_readme_counts_the_verdicts(report):
    text = (report / "README.md").read_text(encoding="utf-8")
    verdicts = [row["verdict"] for row in rows(report, "claims")]
    assert f"Of its {len(verdicts)} claims" in text
    assert f"{verdicts.count('confirmed')} *confirmed*" in text


def test_claims_are_those_of_the_paper(report):
    said = " ".join(row["the paper says"] for row in rows(report, "claims"))
    for number in ("15 times", "3.8 times", "σ = 0", "σ = 1.16", "Euler", "larger steps", "O(n)"):
        assert number in said


def test_the_row_of_linear_cost_names_the_calm_starts(report):
    row, = (row for row in rows(report, "claims") if "O(n)" in row["the paper says"])
    assert "chains of more than 40 bodies start calmer, with rates that shrink as 1/n" in row["measured"]
    assert section.RULE in (report / "docs" / "paper.md").read_text(encoding="utf-8")


def test_verdicts_follow_the_ratios():
    for found, paper in (([14.0, 16.0], 15.0), ([10.5, 10.0, 11.0], 15.0), ([22.0], 15.0)):
        assert section.verdict_on_ratio(found, paper) == "confirmed"
    for found, paper in (([1.66, 1.76], 15.0), ([3.93], 32.0), ([14.0], 53.0), ([2.49], 3.8), ([30.0], 15.0)):
        assert section.verdict_on_ratio(found, paper) == "direction confirmed, size not"
    assert section.verdict_on_ratio([0.9, 1.2], 15.0) == "not confirmed"
    counts = np.array([3, 4, 4, 5])
    assert section.verdict_on_counts(counts, 4.1, 0.6) == "confirmed"
    assert section.verdict_on_counts(counts, 4.1, 0.0) == "mean confirmed, spread not"
    assert section.verdict_on_counts(counts, 8.0, 0.6) == "not confirmed"
    assert cost.ratios([Timing(4.0, 1, 1)], [Timing(2.0, 1, 1)]) == [2.0]
    assert spread([3.0, 1.0, 2.0]) == "2 (1–3)"


def test_growth_and_its_confidence():
    n = [10, 20, 40, 80]
    exact = timing.growth(n, [3e-6 * k**1.5 for k in n])
    assert exact.exponent == pytest.approx(1.5) and exact.half_width < 1e-9
    # of ln y = x + noise, by hand: slope and standard error of four points
    noisy = timing.growth(n, [k * f for k, f in zip(n, (1.1, 0.9, 1.0, 1.05), strict=True)])
    x, y = np.log(n), np.log(n) + np.log((1.1, 0.9, 1.0, 1.05))
    (slope, _), covariance = np.polyfit(x, y, 1, cov="unscaled")
    left = y - np.polyval(np.polyfit(x, y, 1), x)
    assert noisy.exponent == pytest.approx(slope)
    assert noisy.half_width == pytest.approx(4.303 * np.sqrt(covariance[0, 0] * left @ left / 2))


def test_growth_of_an_evaluation_where_frames_need_ever_fewer_of_them():
    n, evaluations = [20, 50, 100, 500, 2000], [8.0, 6.0, 5.0, 3.0, 2.0]
    seconds = [1e-8 * k**1.05 * (e + 2.5) for k, e in zip(n, evaluations, strict=True)]
    found, worth = timing.growth_of_evaluation(n, seconds, evaluations)
    assert found.exponent == pytest.approx(1.05) and worth == pytest.approx(2.5) and found.half_width < 1e-9
    assert timing.growth(n, [s / e for s, e in zip(seconds, evaluations, strict=True)]).exponent > 1.1


def test_largest_step_stops_at_the_first_that_is_too_large():
    runs = [step_size.Run("a", step, energy, 0.0) for step, energy in ((1, 1e-5), (2, 1e-2), (5, 1e-5))]
    assert step_size.largest(runs, "a") == 1
    assert step_size.largest(runs, "b") == 0


def test_newton_converges_at_higher_order_than_riqn():
    model = la.library.paper_chain(10)
    model.q0, model.v0 = np.zeros(10), 20 * model.v0
    newton, riqn = (convergence.residuals(model, finder) for finder in (la.peers.DenseNewton, la.RIQN))
    assert convergence.observed_order(newton) > 1.5
    assert convergence.updates(newton) < convergence.updates(riqn)
    assert convergence.observed_order([1e-1, 1e-2, 1e-4, 1e-8]) == pytest.approx(2.0)


def test_root_finders_agree():
    for residual in ("drnea", "svi"):
        assert max(agreement.differences(residual).values()) < 1e-9


def test_errata_are_shown_by_their_numbers():
    np.testing.assert_allclose(errata.signs(), -1.0, atol=1e-7)
    assert errata.asymmetry(30) < 1e-8 < 1e-6 < errata.asymmetry(3)
    left, impulse = errata.falling_residual()
    assert abs(left) < 1e-12 * impulse
    assert errata.start_order(0.5) == pytest.approx(2.0, abs=0.1)
    assert errata.start_order(1.0) == pytest.approx(1.0, abs=0.1)
    for right, wrong in (errata.displacement_errors(), errata.twist_errors()):
        assert right < 1e-14 and wrong > 0.1


def test_the_whole_series_of_dlog_is_its_closed_form():
    x = np.array([0.3, -0.2, 0.4, 1.0, 0.5, -0.7])
    np.testing.assert_allclose(errata.dlog_series(x), lie.dlog(x), atol=1e-14)
