"""Item vectors see no rating of the log that they are used on, and find the directions that were put in."""

import numpy as np
import pytest

from coterie.errors import LogError
from coterie.worlds import item_vectors, log_and_items
from coterie.worlds.ratings import Ratings


def test_ratings_of_the_log_do_not_change_the_vectors() -> None:
    rng = np.random.default_rng(0)
    user, item = rng.integers(0, 20, 300), rng.integers(0, 15, 300)
    rating, learned = rng.integers(1, 6, 300).astype(float), rng.random(300) < 0.5
    log, items = log_and_items(user, item, rating, learned, dim=4, time=np.arange(300))
    other = np.where(learned, rating, 6 - rating)
    _, again = log_and_items(user, item, other, learned, dim=4)
    assert items.equals(again)
    assert log["time"].to_pylist() == np.flatnonzero(~learned).tolist()
    mean = rating[learned].mean()
    np.testing.assert_allclose(log["reward"].to_numpy(), rating[~learned] - mean)


def test_one_direction_of_taste_is_found() -> None:
    """Everybody rates everything by taste x quality: the second coordinate is the quality, up to its sign."""
    rng = np.random.default_rng(1)
    taste, quality = rng.standard_normal(200), rng.standard_normal(30)
    quality -= quality.mean()
    taste -= taste.mean()
    user, item = (part.ravel() for part in np.meshgrid(np.arange(200), np.arange(30), indexing="ij"))
    vectors, mean = item_vectors(Ratings.of(user, item, 3 + taste[user] * quality[item]), 2, 30)
    assert mean == pytest.approx(3)
    assert abs(np.corrcoef(vectors[:, 1], quality)[0, 1]) > 0.999
    assert np.linalg.norm(vectors, axis=1).max() == pytest.approx(1)


def test_an_item_that_nobody_rated_and_directions_that_are_not_there_are_zero() -> None:
    vectors, _ = item_vectors(Ratings.of([0, 1], [0, 0], [1.0, 2.0]), 5, 3)
    assert vectors[1:].tolist() == [[0.0] * 5] * 2
    with pytest.raises(LogError, match="there are no ratings to learn item vectors from"):
        log_and_items([1], [1], [1.0], np.array([False]), dim=2)
