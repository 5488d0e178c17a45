"""Arrays come back from the text: exactly, or to half a step; 0 and infinity exactly."""

import numpy as np
import pytest

from coterie.report.payload import Payload
from tests.report.pages import carried


def back(payload: Payload) -> dict[str, np.ndarray]:
    return carried(f'<script id="payload" type="text/plain">{payload.text()}</script>')[1]


@pytest.mark.parametrize(
    ("values", "kind"),
    [([0, 255], "u1"), ([0, 256], "u2"), ([65536], "u4"), ([0.5], "f4"), ([-1.0], "f4"), ([2.0**32], "f4")],
)
def test_exact_numbers_take_the_smallest_type_that_holds_them(values: list[float], kind: str) -> None:
    payload = Payload({})
    payload.exact("a", np.array(values))
    assert payload.arrays["a"]["type"] == kind
    assert back(payload)["a"].tolist() == values


@pytest.mark.parametrize("bits", [8, 16])
def test_rounded_numbers_are_off_by_half_a_step_at_most(bits: int) -> None:
    values, payload = np.random.default_rng(0).normal(size=999), Payload({})
    payload.rounded("a", values, bits=bits)  # type: ignore[arg-type]
    half = np.ptp(values) / (2**bits - 1) / 2
    assert np.abs(back(payload)["a"] - values).max() <= half * (1 + 1e-9)


def test_a_logarithmic_array_keeps_nothing_and_infinity() -> None:
    values, payload = np.array([0.0, 1e-3, 2.5, 1e6, np.inf]), Payload({})
    payload.rounded("a", values, bits=16, scale="log")
    assert back(payload)["a"] == pytest.approx(values, rel=2e-4)
    assert back(payload)["a"][[0, -1]].tolist() == [0.0, np.inf]


@pytest.mark.parametrize("values", [[], [3.0], [3.0, 3.0]])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_arrays_without_a_spread(values: list[float], scale: str) -> None:
    payload = Payload({})
    payload.rounded("a", np.array(values), bits=8, scale=scale)  # type: ignore[arg-type]
    assert back(payload)["a"] == pytest.approx(values)


def test_what_is_dropped_is_gone_and_the_rest_still_in_place() -> None:
    payload = Payload({"v": 1})
    for k, name in enumerate("abc"):
        payload.exact(name, np.full(3, k))
    assert payload.drop("b")
    assert not payload.drop("b")
    assert {name: array.tolist() for name, array in back(payload).items()} == {"a": [0] * 3, "c": [2] * 3}
