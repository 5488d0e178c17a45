r"""What a model says of logged rows: the expected reward, how little is known, the score.

Takes: a fitted `Model` and rows.
Gives: `Predicted`.
Next: `held_out`, `choice`, `off_policy`.
"""

from dataclasses import dataclass, replace

import numpy as np

from coterie.decision import ActionSets, Bonus, choose
from coterie.logs.logs import default_threads
from coterie.model import Model
from coterie.model.mixture_model import MixtureModel
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray

_ONE = np.ones(1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Predicted:
    r"""Per row: `estimate` theta' a, `spread` a' M^-1 a, and the `score` by which the model decides.

    The spread is in units of the noise's variance.
    """

    estimate: FloatArray
    spread: FloatArray
    score: FloatArray


def predict(model: Model, at: IntArray, action: FloatArray) -> Predicted:
    """Predictions for users in rows `at` (n,) of the model (-1: never seen) of actions (n, d).

    The actions have the intercept inside, if the log has one.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(["a"], [[1.0]], [3.0])
    >>> model = ct.Independent(confidence=ct.Confidence(ridge=2.0)).fit(logs)
    >>> said = predict(model, np.array([0, -1]), np.array([[1.0], [1.0]]))
    >>> said.estimate.round(3).tolist(), said.spread.round(3).tolist()
    ([1.0, 0.0], [0.333, 0.5])
    """
    asked = np.where(at >= 0, at, model.n_users)
    n = len(asked)
    sets = ActionSets(
        np.ascontiguousarray(action / model.scale),
        np.arange(n, dtype=np.int64),
        np.broadcast_to(_ONE, n).copy(),
    )
    plain = replace(model.policy, multiplier=np.ones_like(model.policy.multiplier))
    made = choose(plain, asked, sets, Bonus(sign=0), threads=default_threads())
    estimate, norm = made.estimate[:, 0], made.width[:, 0]
    beta = model.policy.multiplier[model.policy.group[asked]]
    width = model.bonus.scale * beta * (norm**2 if model.bonus.form == "squared" else norm)
    unit = model.noise**2 if isinstance(model, MixtureModel) else 1.0  # its norm is in rewards
    return Predicted(estimate, norm**2 / unit, estimate + model.bonus.sign * width)
