"""A fitted model and an evaluation as one page that opens from disk. Read `page.py` first."""

from coterie.report.page import report_page, write_report

__all__ = ["report_page", "write_report"]
