"""The fan of an ensemble: what it draws, and what it calls things."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from folders import make

import leastaction as la
from leastaction.plots.fan import find_entry, quantiles


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def curve(ax, label):
    line, = (line for line in ax.get_lines() if line.get_label() == label)
    return line.get_xydata().T


def test_bands_and_median_are_those_of_the_members(tmp_path):
    make(tmp_path)
    results = la.open_ensemble(tmp_path)
    ax = results.plot_fan("base")
    assert legend(ax) == ["median", "50 % of members", "90 % of members", "extremes", "3 single members", "2 failed"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("time (s)", "q of base (rad)",
                                                                           "arm: 23 members")
    values = results.q[:, :, 0]
    t, median = curve(ax, "median")
    np.testing.assert_array_equal(t, results.t)
    np.testing.assert_allclose(median, np.nanmedian(values, axis=0), rtol=1e-14)
    np.testing.assert_array_equal(curve(ax, "extremes")[1], np.nanmin(values, axis=0))
    failed = curve(ax, "2 failed")
    np.testing.assert_allclose(failed, [[0.16, 0.16], values[[4, 15], 4]])
    edges = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert edges.min() == pytest.approx(np.nanquantile(values, 0.25, axis=0).min())


def test_without_nodes_the_statistics_are_drawn(tmp_path):
    make(tmp_path, keep="statistics", failing=False)
    results = la.open_ensemble(tmp_path)
    ax = plt.figure().subplots()
    assert results.plot_fan("energy", ax) is ax
    assert legend(ax) == ["mean", "± standard deviation", "extremes"] and ax.get_ylabel() == "total energy (J)"
    np.testing.assert_array_equal(curve(ax, "mean")[1], results.statistics.mean["energy"])


def test_missing_members_are_said_in_the_picture(tmp_path):
    make(tmp_path, chunks=[0, 2])
    ax = la.open_ensemble(tmp_path, missing="nan").plot_fan(examples=1)
    assert ax.get_title(loc="left") == "arm: 10 members, 13 missing" and "1 single member" in legend(ax)
    with pytest.raises(la.FileError, match="are missing"):
        la.open_ensemble(tmp_path).plot_fan()


def test_names_of_numbers(tmp_path):
    make(tmp_path, chunks=[], quantities=["q", "v", "energy", "momentum"])
    results = la.open_ensemble(tmp_path)
    for what, entry in {"energy": ("energy", (), "total energy (J)"), "q:base": ("q", (0,), "q of base (rad)"),
                        "hand/left": ("q", (5,), "q of hand/left (m)"),
                        "v:hand/left": ("v", (4,), "v of hand/left (m/s)"),
                        "wrist[3]": ("q", (4,), "q of wrist[3] (unit quaternion)"),
                        "v:socket[1]": ("v", (2,), "v of wrist[1] (rad/s)"),
                        "momentum:linear z": ("momentum", (5,), "linear z momentum (kg m/s)")}.items():
        assert find_entry(results.model, results.quantities, what) == entry
    for what, match in (("bse", "did you mean 'base'"), ("wrist", r"name one of wrist\[0\], wrist\[1\]"),
                        ("p:base", "p was not kept: this ensemble has q, v, energy, momentum")):
        with pytest.raises(ValueError, match=match):
            find_entry(results.model, results.quantities, what)


def test_quantiles_leave_out_members_that_failed():
    values = np.random.default_rng(0).standard_normal((40, 6))
    values[3:9, 2:] = np.nan
    values[:39, 4] = np.nan
    values[:, 5] = np.nan
    found = quantiles(values, (0.05, 0.5, 0.95))
    np.testing.assert_allclose(found[:, :5], np.nanquantile(values[:, :5], (0.05, 0.5, 0.95), axis=0), rtol=1e-13)
    assert np.isnan(found[:, 5]).all()
