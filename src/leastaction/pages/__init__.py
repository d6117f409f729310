"""Findings as pages: one HTML file each, with its plots inside, that fetches nothing."""

from leastaction.pages.certificate import write_certificate
from leastaction.pages.comparison import write_comparison

__all__ = ["write_certificate", "write_comparison"]
