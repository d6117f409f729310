"""Formulas as MathML, which browsers draw by themselves: the pages load nothing from elsewhere and work offline."""

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

log = logging.getLogger(__name__)


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def displayed(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    self.body.append(f"<div class='formula'>{mathml(node, as_block=True)}</div>\n")
    raise nodes.SkipNode


def mathml(node: nodes.Element, as_block: bool) -> str:
    """Translate a formula; one that cannot be is a warning, and so an error in `make docs`."""
    try:
        return latex2mathml.tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        log.warning("%s In: %s", error, node.astext(), location=node)
        return ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer to Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
