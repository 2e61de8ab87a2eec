"""nbgrader's formgrader in a Jupyter server of its own."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

from nbgrader.api import Gradebook


@contextmanager
def serving(course, home):
    """Serve a course to a marker; give the server's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"HOME": str(home), "JUPYTER_CONFIG_DIR": str(home)}
    options = {
        "ServerApp.port": port,
        "ServerApp.jpserver_extensions": "{'nbgrader': True}",
        "IdentityProvider.token": "",
        "ServerApp.allow_root": True,
        "ServerApp.open_browser": False,
    }
    command = [sys.executable, "-m", "jupyter_server", *(f"--{k}={v}" for k, v in options.items())]
    address = f"http://127.0.0.1:{port}"
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=course.root, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            for _ in range(120):
                try:
                    urllib.request.urlopen(f"{address}/formgrader/gradebook", timeout=60).close()
                    break
                except (urllib.error.URLError, ConnectionError):
                    assert server.poll() is None, (home / "log").read_text()
                    time.sleep(0.5)
            yield address
        finally:
            server.terminate()
            server.wait()


def page_of(course, assignment, student):
    """Return where formgrader shows a submission."""
    with Gradebook(course.database) as gradebook:
        id = gradebook.find_submission_notebook(assignment, assignment, student).id
    return f"/formgrader/submissions/{id}/"
