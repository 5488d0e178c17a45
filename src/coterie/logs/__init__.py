"""Stage 1: logs in, checked batches out. Read `logs`, `sources`, `formats`, `decode`, `batch`."""

from coterie.logs.batch import Batch
from coterie.logs.items import Items, read_items
from coterie.logs.logs import Logs, read_logs

__all__ = ["Batch", "Items", "Logs", "read_items", "read_logs"]
