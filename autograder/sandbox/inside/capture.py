"""What a cell shows, collected in the process of the student's code while the cell runs.

Text streams, results, displayed objects and errors are kept in the notebook format, up to a number
of bytes. HTML, JavaScript and widgets are never kept: they would run in an instructor's browser.
"""

import base64
import binascii
import io
import traceback
from typing import Any

_MAX_MESSAGE = 2000
_MAX_TRACEBACK = 1 << 16
_MAX_IMAGES = 1 << 20
_OVERHEAD = 512  # room that each output costs, however short: bounds their number
_CELL_FILES = ("<cell ", "<timed ")  # "<timed exec>" is what %%time calls a cell


class Output:
    """What the current cell has shown, up to a number of bytes."""

    def __init__(self) -> None:
        self._limit = self._room = self._images = 0
        self._shown: list[dict[str, Any]] | None = None
        self._displays: dict[str, dict[str, Any]] = {}

    @property
    def has_room(self) -> bool:
        """Whether anything more that is shown will be kept."""
        return self._shown is not None and self._room > 0

    def begin(self, limit: int) -> None:
        """Start to collect. Otherwise what is shown is dropped."""
        self._limit = self._room = limit
        self._images = _MAX_IMAGES
        self._shown = []
        self._displays = {}

    def end(self) -> list[dict[str, Any]]:
        """Stop collecting, and return the outputs in the notebook format."""
        shown, self._shown = self.so_far(), None
        return shown

    def so_far(self) -> list[dict[str, Any]]:
        """Return the outputs up to now in the notebook format."""
        return [
            output | {"text": "".join(output["text"])} if "text" in output else output
            for output in self._shown or []
        ]

    def clear(self) -> None:
        """Forget what was shown; the room that it took stays taken."""
        if self._shown is not None:
            self._shown.clear()

    def write(self, stream: str, text: str) -> None:
        """Add text to a stream."""
        shown = self._shown
        if shown is None or self._room <= 0 or not text:
            return
        text = self._fit(text)
        if not shown or shown[-1].get("name") != stream:
            self._room -= _OVERHEAD
            shown.append({"output_type": "stream", "name": stream, "text": []})
        shown[-1]["text"].append(text)

    def display(
        self, kind: str, data: dict[str, Any], *, id: str = "", update: bool = False
    ) -> None:
        """Add a result or a displayed object: its text and its PNG image, nothing livelier.

        With an ``id``, ``update`` replaces what was displayed under it before.
        """
        if self._shown is None or not self.has_room:
            return
        kept = self._harmless(data)
        if update and id in self._displays:
            self._displays[id]["data"] = kept
        elif kept:
            self._room -= _OVERHEAD
            self._shown.append({"output_type": kind, "data": kept})
            if id:
                self._displays[id] = self._shown[-1]

    def error(self, error: BaseException) -> None:
        """Add an exception, with the lines of the student's cells alone."""
        if self._shown is not None and self._limit > 0:
            name, message = describe(error)
            lines = _student_traceback(error)
            self._shown.append(
                {"output_type": "error", "ename": name, "evalue": message, "traceback": lines}
            )

    def _harmless(self, data: dict[str, Any]) -> dict[str, str]:
        kept = {}
        if isinstance(text := data.get("text/plain"), str):
            kept["text/plain"] = self._fit(text)
        image = data.get("image/png")
        if isinstance(image, str):  # as IPython's own Image has it
            try:
                image = base64.b64decode(image)
            except binascii.Error:
                image = None
        if isinstance(image, bytes):
            self._images -= len(image)
            if self._images >= 0:
                kept["image/png"] = base64.b64encode(image).decode()
            else:
                note = f"[image left out: the images of a cell may have {_MAX_IMAGES >> 10} KiB]"
                kept["text/plain"] = f"{kept.get('text/plain', '')}\n{note}".lstrip()
        return kept

    def _fit(self, text: str) -> str:
        """Return as much of the text as there is room for, and use up the room."""
        data = text.encode("utf-8", "replace")
        room = max(self._room, 0)
        self._room -= len(data)
        if len(data) <= room:
            return data.decode()
        cut = data[:room].decode("utf-8", "ignore")
        return f"{cut}\n[output cut after {self._limit >> 10} KiB]\n"


class Stream(io.TextIOBase):
    """``sys.stdout`` or ``sys.stderr``."""

    def __init__(self, name: str, output: Output) -> None:
        super().__init__()
        self._name = name
        self._output = output

    encoding = "utf-8"

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str, /) -> int:
        """Add text to the cell's output."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._output.write(self._name, text)
        return len(text)


def describe(error: BaseException) -> tuple[str, str]:
    """Return the name of an exception's class and its message, whatever its class does."""
    try:
        message = str(error)
    except BaseException:  # of the student's class
        message = ""
    return type(error).__name__[:100], _sendable(message[:_MAX_MESSAGE])


def place_of(error: BaseException) -> tuple[int, int]:
    """Return the cell and the line of it where an exception arose; zeros where that is nowhere."""
    place, step = (0, 0), error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if name.startswith("<cell ") and name[6:-1].isdecimal():
            place = int(name[6:-1]), step.tb_lineno
        step = step.tb_next
    return place


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _student_traceback(error: BaseException) -> list[str]:
    report = traceback.TracebackException.from_exception(error)
    pending: list[traceback.TracebackException | None] = [report]
    while pending:
        part = pending.pop()
        if part is not None:
            frames = [frame for frame in part.stack if frame.filename.startswith(_CELL_FILES)]
            part.stack = traceback.StackSummary.from_list(frames)
            pending += [part.__cause__, part.__context__]
    text = _sendable("".join(report.format()))
    return text[:_MAX_TRACEBACK].splitlines()
