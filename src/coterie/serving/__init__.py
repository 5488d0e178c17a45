"""Deciding whole tables of requests. Read `requests.py`, then `vectors`, `met`, `stream`."""

from coterie.serving.requests import RequestColumns, RequestReader, Requests
from coterie.serving.stream import decide_file

__all__ = ["RequestColumns", "RequestReader", "Requests", "decide_file"]
