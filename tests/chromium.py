"""A browser that tests drive: chromium, by its DevTools protocol."""

import base64
import json
import subprocess
import time
import urllib.request
from contextlib import closing, contextmanager

from websocket import create_connection

#: What keys with a name are to the browser: a number, and the character that they type.
CODES = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    " ": (32, " "),
    "Backspace": (8, ""),
    "ArrowUp": (38, ""),
    "ArrowDown": (40, ""),
    "ArrowLeft": (37, ""),
    "ArrowRight": (39, ""),
}


class Tab:
    """A page in the browser."""

    def __init__(self, address):
        self._socket = create_connection(address, suppress_origin=True, timeout=120)
        self._id = 0

    def close(self):
        """Leave the page."""
        self._socket.close()

    def _send(self, method, **parameters):
        self._id += 1
        self._socket.send(json.dumps({"id": self._id, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._id:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, url):
        """Go to a page; ``wait`` for what should be on it, if a script puts it there."""
        answer = self._send("Page.navigate", url=url)
        assert "errorText" not in answer, answer
        self.wait("document.readyState === 'complete'")

    def ask(self, script):
        """Return the value of an expression in the page, or of what it promises.

        A page's policy allows no script of ours; an evaluation isn't bound by it.
        """
        options = {"returnByValue": True, "awaitPromise": True}
        answer = self._send("Runtime.evaluate", expression=script, **options)
        return answer["result"].get("value")

    def wait(self, script, seconds=120):
        """Wait until an expression in the page holds, and return its value."""
        end = time.monotonic() + seconds
        while not (value := self.ask(script)):
            assert time.monotonic() < end, f"{script} in: {self.ask('document.body.innerText')}"
            time.sleep(0.3)
        return value

    def press(self, *keys):
        """Press keys one after the other: characters, ``Tab``, ``Shift+Tab`` and so on."""
        for key in keys:
            name = key.removeprefix("Shift+")
            code, text = CODES[name] if name in CODES else (ord(name.upper()), name)
            event = {"key": name, "windowsVirtualKeyCode": code, "modifiers": 8 * (name != key)}
            self._send("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
            self._send("Input.dispatchKeyEvent", type="keyUp", **event)

    def resize(self, width, height, zoom=1):
        """Give the page a screen of that size in its own pixels, of which each is ``zoom`` wide."""
        size = {"width": width, "height": height, "deviceScaleFactor": zoom, "mobile": False}
        self._send("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, scheme):
        """Ask for ``light`` or ``dark`` colours, as a person's system does."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._send("Emulation.setEmulatedMedia", features=features)

    def photograph(self, path):
        """Save what the page looks like."""
        picture = self._send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(picture["data"]))


@contextmanager
def browsing(folder):
    """Start a browser with a profile of its own in ``folder``; give its page."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")
    command = ["chromium", *options, "--remote-debugging-port=0", f"--user-data-dir={folder}"]
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = folder / "DevToolsActivePort"
        end = time.monotonic() + 120
        while not port.is_file() or "\n" not in port.read_text():
            assert time.monotonic() < end, "the browser did not start"
            time.sleep(0.2)
        address = f"http://127.0.0.1:{port.read_text().splitlines()[0]}/json/list"
        with urllib.request.urlopen(address, timeout=60) as answer:
            pages = [page for page in json.load(answer) if page["type"] == "page"]
        with closing(Tab(pages[0]["webSocketDebuggerUrl"])) as tab:
            yield tab
    finally:
        browser.terminate()
        browser.wait()
