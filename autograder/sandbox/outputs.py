"""What a cell has shown, as it may enter a notebook that an instructor opens."""

import base64
import binascii
from typing import Any

from autograder.sandbox.pictures import MOST, too_large
from autograder.sandbox.wire import WireError

_MAX_OUTPUTS = 10_000
_MAX_LINES = 100_000
_TOO_LARGE = f"[image left out: an image may have {MOST // 10**6} million pixels]"
_PNG = b"\x89PNG\r\n\x1a\n"


def clean(outputs: object, number: int) -> list[dict[str, Any]]:
    """Check the outputs that a worker reports and rebuild them.

    Only text and PNG images pass: HTML and JavaScript would run in the instructor's browser.

    Parameters
    ----------
    outputs
        What came over the wire.
    number : int
        The number of the cell's execution.

    Returns
    -------
    list of dict
        Outputs as in version 4 of the notebook format.

    Raises
    ------
    WireError
        If any of them is anything else.
    """
    if type(outputs) is not list or len(outputs) > _MAX_OUTPUTS:
        raise WireError("outputs that are none")
    return [_output(output, number) for output in outputs]


def error_output(name: str, message: str) -> dict[str, Any]:
    """Return the output that tells of an error without a traceback."""
    return {
        "output_type": "error",
        "ename": name,
        "evalue": message,
        "traceback": [f"{name}: {message}"],
    }


def _output(output: object, number: int) -> dict[str, Any]:
    if type(output) is not dict:
        raise WireError("an output that is none")
    kind = output.get("output_type")
    if kind == "stream":
        name = output.get("name")
        if name not in ("stdout", "stderr"):
            raise WireError("an unknown stream")
        return {"output_type": kind, "name": name, "text": _text(output.get("text"))}
    if kind in ("execute_result", "display_data"):
        data = _data(output.get("data"))
        count = {"execution_count": number} if kind == "execute_result" else {}
        return {"output_type": kind, **count, "data": data, "metadata": {}}
    if kind == "error":
        lines = output.get("traceback")
        if type(lines) is not list or len(lines) > _MAX_LINES:
            raise WireError("a traceback that is none")
        return {
            "output_type": kind,
            "ename": _text(output.get("ename")),
            "evalue": _text(output.get("evalue")),
            "traceback": [_text(line) for line in lines],
        }
    raise WireError("an unknown type of output")


def _text(value: object) -> str:
    if type(value) is not str:
        raise WireError("an output without text")
    return value


def _data(data: object) -> dict[str, str]:
    if type(data) is not dict or not data or not data.keys() <= {"text/plain", "image/png"}:
        raise WireError("an output of an unknown format")
    if "image/png" in data:
        try:
            image = base64.b64decode(_text(data["image/png"]), validate=True)
        except (binascii.Error, ValueError):
            raise WireError("an image that is not base64") from None
        if not image.startswith(_PNG):
            raise WireError("an image that is not PNG")
        if too_large(image):
            text = _text(data.get("text/plain", ""))
            return {"text/plain": f"{text}\n{_TOO_LARGE}".lstrip()}
    return {format_: _text(value) for format_, value in data.items()}


def said(text: str) -> dict[str, Any]:
    """Return an output with which the grader says something."""
    return {"output_type": "stream", "name": "stderr", "text": text}


def size(outputs: object) -> int:
    """Return how many characters outputs hold."""
    if isinstance(outputs, list):
        return sum(map(size, outputs))
    if isinstance(outputs, dict):
        return sum(map(size, outputs.values()))
    return len(outputs) if isinstance(outputs, str) else 0
