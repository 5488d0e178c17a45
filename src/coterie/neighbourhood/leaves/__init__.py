"""Comparisons of queries with the members of one leaf: who lends, how many, and their words."""
