"""The site of the docs (`make docs`): the repository's pages as they are, the API, the exercises.

The repository's root is the source, so that links between README, guides and measurements mean the
same here as on a code host.  A source file that a guide links to becomes a page as well.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import file_formats  # noqa: E402

PAGES = ["*.md", "docs/*.md", "docs/site/*.md", "bench/**.md"]
LINK = re.compile(r"\]\((?:\.\./)?([\w/]+\.py)\)")
READ = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
SOURCES = sorted({path for page in READ for path in LINK.findall(page.read_text())})

project = "The mathematics of attention, autograded"
html_title = project
root_doc = "README"
source_suffix = {".md": "markdown", ".py": "markdown"}
include_patterns = [*PAGES, *SOURCES]
exclude_patterns = [".*", "site", "release", "reference"]  # need not be looked through

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "catalogue",
    "mathml",
    "plans",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # the anchors that a code host gives
napoleon_google_docstring = False
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
default_role = "py:obj"  # `Reading` in a docstring: a link where there is one
suppress_warnings = ["misc.highlighting_failure"]  # examples with … in them

html_theme = "furo"  # loads nothing from elsewhere
html_copy_source = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_extra_path = ["index.html"]

CONTENTS = """
```{toctree}
:hidden:
:caption: Guides
docs/instructor
docs/author
docs/authoring
docs/own_course
docs/grader
docs/gpu
docs/student
docs/nbgrader
docs/jupyterhub
docs/cluster
docs/platforms
docs/postgres
docs/container
```

```{toctree}
:hidden:
:caption: The course
docs/teaching
docs/site/exercises
docs/site/plans
```

```{toctree}
:hidden:
:caption: The engine
docs/architecture
docs/security
docs/formats
docs/api
docs/site/api
docs/site/api_exercise
docs/site/api_algebra
bench/README
The labels of other systems <bench/results/algebra>
CONTRIBUTING
CHANGELOG
```
"""


def as_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Make a page of a source file; leave links to folders out; add contents and tables."""
    if app.env.doc2path(name).suffix == ".py":
        fence = "`" * 8
        head = "---\norphan: true\nnosearch: true\n---\n"
        source[0] = f"{head}# {name}.py\n\n{fence}python\n{source[0]}\n{fence}\n"
    source[0] = re.sub(r"\[([^\]]+)\]\(\.\./[\w/]+\)", r"\1", source[0])
    if name == root_doc:
        source[0] += CONTENTS
    elif name == "docs/formats":
        source[0] = file_formats.page(source[0])


def setup(app: Sphinx) -> None:
    """Let Sphinx know."""
    app.connect("source-read", as_page)
