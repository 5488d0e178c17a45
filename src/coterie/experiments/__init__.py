"""The paper's experiments. Read `settings.py`, then `methods.py`, `cell.py`, `store.py`, `tables.py`."""
