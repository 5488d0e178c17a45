"""A ball tree over the estimates, and exact distances."""

from coterie.neighbourhood.tree.ball_tree import BallTree, ball_tree, words

__all__ = ["BallTree", "ball_tree", "words"]
