"""Formulas as MathML, which browsers draw themselves: MathJax would come from the network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.writers._html_base import HTMLTranslator
from sphinx.application import Sphinx


def _inline(self: Any, node: nodes.math) -> None:
    HTMLTranslator.visit_math(self, node)


def _block(self: Any, node: nodes.math_block) -> None:
    HTMLTranslator.visit_math_block(self, node)


def setup(app: Sphinx) -> None:
    """Let docutils write the formulas."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
