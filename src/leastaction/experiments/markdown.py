"""Tables in Markdown, and pages of which one part is generated: those of the bench."""

from leastaction.bench.markdown import BEGIN, END, fill, table

__all__ = ["BEGIN", "END", "fill", "table"]
