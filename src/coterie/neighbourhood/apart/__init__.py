"""The nearest user that is provably apart, for the gap policies."""
