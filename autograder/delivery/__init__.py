"""What comes of grading: gradebook, feedback, report, exports.  The only importer of nbgrader."""

import sys
from typing import Any

# nbgrader imports jsonschema, which imports this if it is there and then compiles 38 grammars for
# kinds of text that notebooks don't contain: a second for every command.  It does without.
_modules: dict[str, Any] = sys.modules
_modules.setdefault("rfc3987_syntax", None)
