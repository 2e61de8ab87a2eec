"""Plans of a term: tables, made from the course with the site."""

from __future__ import annotations

from catalogue import COURSE, loaded
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.course.release.plan import markdown, plan


class Plan(SphinxDirective):
    """``{plan} WEEKS HOURS [ASSIGNMENT ...]``: the core of the course, without these."""

    required_arguments = 2
    optional_arguments = 99

    def run(self) -> list[nodes.Node]:
        """Return the table, and what is said of the hours."""
        self.env.note_reread()  # it is made of files that Sphinx doesn't know
        weeks, hours, *drop = self.arguments
        made = plan(map(loaded, COURSE.ids()), int(weeks), float(hours), drop=drop)
        return self.parse_text_to_nodes(markdown(made))


def setup(app: Sphinx) -> None:
    """Let Sphinx know the directive."""
    app.add_directive("plan", Plan)
