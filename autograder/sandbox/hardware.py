"""What a machine has beside the isolation of student code: found by looking, never required."""

import importlib.metadata
import shutil
from typing import NamedTuple

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Device(NamedTuple):
    """One thing that some of the course takes.

    Parameters
    ----------
    what : str
        Its name.
    found : str
        Which one is there; empty if none is.
    purpose : str
        What it is for.
    """

    what: str
    found: str
    purpose: str


def look() -> list[Device]:
    """Look for torch, an accelerator and a browser. This may import torch, which takes seconds."""
    torch = _torch()
    return [
        Device(
            "torch", torch, "exercises that train or differentiate; the others need numpy alone"
        ),
        Device(
            "GPU", _accelerator() if torch else "", "tests marked gpu, which time functions on one"
        ),
        Device("browser", _browser(), "tests marked browser, which look at the pages"),
    ]


def _torch() -> str:
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ""


def _accelerator() -> str:
    """Ask torch, as the exercises do."""
    try:
        import torch

        return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else ""
    except (ImportError, OSError, RuntimeError):  # a broken installation, or driver
        return ""


def _browser() -> str:
    return next(filter(None, map(shutil.which, _BROWSERS)), "")
