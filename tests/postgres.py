"""A PostgreSQL server of one's own in a temporary folder, reached through a socket there."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

#: Who owns the server: PostgreSQL refuses to run as root.
USER = "nobody"


def program(name):
    """Return where one of PostgreSQL's programs is: Debian puts few of them into the path."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    folders = [*map(str, reversed(installed)), os.environ.get("PATH", os.defpath)]
    return shutil.which(name, path=os.pathsep.join(folders))


@dataclass
class Server:
    """A server that runs."""

    folder: Path

    def __post_init__(self):
        self._names = (f"course{n}" for n in count())

    def url(self, database, user="postgres"):
        return f"postgresql+psycopg://{user}@/{database}?host={self.folder}"

    def run(self, name, *arguments, check=True):
        """Run one of PostgreSQL's programs as the server's owner."""
        return subprocess.run(
            [program(name), "--host", self.folder, "--username", "postgres", *arguments],
            capture_output=True,
            text=True,
            check=check,
        )

    def sql(self, text, database="postgres"):
        """Return what psql prints for a statement."""
        options = ["--no-psqlrc", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"]
        return self.run("psql", *options, "--dbname", database, "--command", text).stdout.strip()

    def create(self, template="template1"):
        """Make a database, an empty one or the copy of another, and return its name."""
        name = next(self._names)
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name


@contextmanager
def serving():
    """Start a server that listens on no port, and end it with all that it wrote."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-", dir="/tmp"))  # a socket's name is short
    own = {"cwd": folder, "stdout": subprocess.DEVNULL}
    if os.geteuid() == 0:
        shutil.chown(folder, USER)
        own |= {"user": USER, "group": "nogroup", "extra_groups": []}
    data = folder / "data"
    make = [program("initdb"), "--pgdata", data, "--username", "postgres", "--auth", "trust"]
    make += ["--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"]
    start = [program("postgres"), "-D", data, "-k", folder, "-c", "listen_addresses="]
    start += ["-c", "fsync=off"]
    try:
        subprocess.run(make, check=True, stderr=subprocess.PIPE, **own)
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(start, stderr=log, **own)
        try:
            server = Server(folder)
            until = time.monotonic() + 60
            while server.run("psql", "--command", "SELECT 1", check=False).returncode:
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until, "the server doesn't answer"
                time.sleep(0.05)
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)  # at once: nobody needs what it has yet to write
            process.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
