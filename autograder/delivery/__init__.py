"""What comes of grading: gradebook, feedback, report, exports.  The only importer of nbgrader."""

import contextlib
import importlib
import sys
from types import ModuleType

# `import nbgrader` loads its extensions of Jupyter's server, and with them Jupyter: half a second
# more. They are loaded when somebody asks for them.
_EXTENSIONS = tuple(
    f"nbgrader.server_extensions.{name}"
    for name in ("assignment_list", "course_list", "validate_assignment", "formgrader")
)


def _placeholder(name: str) -> ModuleType:
    def load_jupyter_server_extension(application: object) -> None:
        importlib.import_module(name).load_jupyter_server_extension(application)

    module = ModuleType(name)
    vars(module).update(load_jupyter_server_extension=load_jupyter_server_extension)
    return module


if "nbgrader" not in sys.modules:
    sys.modules.update({name: _placeholder(name) for name in _EXTENSIONS})
    with contextlib.suppress(ModuleNotFoundError):  # Gradescope's container grades without it
        importlib.import_module("nbgrader")
    for _name in _EXTENSIONS:
        del sys.modules[_name]
