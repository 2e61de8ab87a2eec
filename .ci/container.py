"""Build the image that Containerfile describes, and grade a small class in it and beside it.

With Podman or Buildah the image is built as anybody would.  Where neither is installed, the same
RUN and COPY lines are carried out in a fresh root folder, which bubblewrap enters as an ordinary
user.  What lies below them is made by debootstrap where this is root; otherwise a builder fetches
it, and a folder has this system's own /usr, where nothing can be installed.  `make container`.
"""

from __future__ import annotations

import ast
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CONTAINERFILE = ROOT / "Containerfile"
COURSE = ROOT / "tests" / "sample_course"
ASSIGNMENT = "m01_motion"
SECRET = "AUTOGRADER_CLUSTER_SECRET"
IMAGE, BASE = "localhost/autograder", "localhost/autograder-base"
RELEASE = "bookworm"  # what Containerfile names
IS_ROOT = os.geteuid() == 0
#: Who is inside: as root the image's own user, otherwise whoever runs this.
USER, GROUP = (1000, 1000) if IS_ROOT else (os.geteuid(), os.getegid())
_BESIDE = [sys.executable, "-c", "from autograder.cli import main; main()"]
#: What programs of this system's /usr look for.
_OF_ETC = ["alternatives", "group", "hosts", "ld.so.cache", "nsswitch.conf", "passwd"]
_OF_ETC += ["resolv.conf", "ssl"]
_PIP = "/etc/xdg/pip"  # where pip looks for settings, inside


class Step(NamedTuple):
    """An instruction of a Containerfile."""

    word: str
    rest: str


def steps(text: str) -> list[Step]:
    """Return the instructions of a Containerfile, each in one line."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\s*\\\n\s*", " ", "\n".join(lines))
    return [Step(*line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def run(*command: object, folder: Path | None = None) -> str:
    """Show a command and run it; show and return what it prints."""
    words = [str(word) for word in command]
    print("$", shlex.join(words), flush=True)
    said = ""
    with subprocess.Popen(words, cwd=folder, text=True, stdout=subprocess.PIPE) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            said += line
    if process.returncode:
        sys.exit(f"{words[0]} ended with status {process.returncode}")
    return said


def pip_listed() -> list[str]:
    """Return how this machine's pip reaches packages, as it says itself."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def pip_settings(folder: Path, listed: list[str]) -> dict[Path, str]:
    """Write these settings into a folder for use inside.

    Returns
    -------
    dict
        What has to be shown inside for it: folders here, and where they are there.
    """
    found = {}
    for line in reversed(listed):  # those of the environment come first, and count
        name, _, value = line.partition("=")
        found[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    folder.mkdir()
    if "cert" in found:
        shutil.copy(found["cert"], folder / "cert.pem")
        found["cert"] = f"{_PIP}/cert.pem"
    settings = "".join(f"{name} = {' '.join(value.split())}\n" for name, value in found.items())
    (folder / "pip.conf").write_text(f"[global]\n{settings}")
    shown = {folder: _PIP}
    for name in ("find-links", "index-url", "extra-index-url"):
        for place in found.get(name, "").split():
            path = Path(place.removeprefix("file://"))
            # An index refers to files that lie beside it.
            path = path.parent if place.startswith("file://") else path
            if path.is_absolute() and path.is_dir():
                shown[path] = str(path)
    return shown


def arguments(shown: dict[Path, str]) -> dict[str, str]:
    """Return the image's arguments: who has told pip of places of their own has torch there."""
    return {"TORCH_INDEX": ""} if len(shown) > 1 else {}


def debootstrap(folder: Path) -> None:
    """Make a small Debian, from where this system has its own packages if it is one."""
    mirrors = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    mirror: list[str] = []
    if shutil.which("apt-get"):
        mirror = run(*mirrors, f"Release: {RELEASE}").splitlines()[:1]
    run("debootstrap", "--variant=minbase", RELEASE, folder, *mirror)


class Image(ABC):
    """What Containerfile describes."""

    #: Whether it isolates as the machine around it does.
    full = True

    @abstractmethod
    def build(self, place: Path) -> None:
        """Make it; ``place`` is an empty folder that is removed in the end."""

    @abstractmethod
    def command(self, course: Path, *words: str) -> list[str]:
        """Return a command line that calls ``autograder`` in it."""


class Built(Image):
    """An image, by Podman or Buildah; its layers stay with them, so the next time is faster."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._container = ""
        # Buildah alone only changes the root folder, below which nobody gets namespaces.
        self.full = Path(program).name == "podman"

    def build(self, place: Path) -> None:  # noqa: D102
        shown = pip_settings(place / "pip", pip_listed())
        given = arguments(shown)
        if IS_ROOT and shutil.which("debootstrap"):
            self._make_base(place / "base")
            given["BASE"] = BASE
        options = [f"--volume={here}:{there}:ro" for here, there in shown.items()]
        options += [f"--build-arg={name}={value}" for name, value in given.items()]
        self._build(IMAGE, CONTAINERFILE, ROOT, *options)
        if not self.full:
            self._container = run(self._program, "from", IMAGE).strip()

    def _make_base(self, folder: Path) -> None:
        if BASE not in run(self._program, "images", "--format", "{{.Repository}}").split():
            debootstrap(folder)
            file = folder.with_name("Base")
            file.write_text("FROM scratch\nADD . /\n")
            self._build(BASE, file, folder)

    def _build(self, name: str, file: Path, folder: Path, *options: str) -> None:
        # The isolation that goes anywhere: the lines are our own.
        common = ["--isolation=chroot", "--layers", f"--tag={name}", f"--file={file}"]
        run(self._program, "build", *common, *options, folder)

    def starts(self) -> bool:
        """Tell whether containers start here at all."""
        if not self.full:
            return True
        # Status 125 and 126: not what is in the container failed, but the runtime.
        command = self.command(Path("/var/tmp"), "--help")
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        return done.returncode not in (125, 126)

    def command(self, course: Path, *words: str) -> list[str]:  # noqa: D102
        common = [f"--user={USER}:{GROUP}", f"--volume={course}:/course", f"--env={SECRET}"]
        if not self.full:
            options = ["--isolation=chroot", *common, self._container, "--", "autograder"]
            return [self._program, "run", *options, *words]
        options = ["--rm", "--network=host", "--security-opt=unmask=/proc/*"]
        # Podman's own limits are higher than every root may set.
        options += ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"]
        if Path("/sys/fs/cgroup/unified").is_dir() and shutil.which("runc"):
            options.append("--runtime=runc")  # crun refuses both kinds of control groups at once
        if not IS_ROOT:
            options.append("--userns=keep-id")
        return [self._program, "run", *options, *common, IMAGE, *words]


class Folder(Image):
    """A root folder in which the same steps were carried out."""

    def __init__(self) -> None:
        self._own = IS_ROOT and shutil.which("debootstrap") is not None
        self._environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        self._entry: list[str] = []
        self._workdir = "/"

    def build(self, place: Path) -> None:  # noqa: D102
        self._root = place / "root"
        self._make_base()
        shown = pip_settings(place / "pip", pip_listed())
        variables = dict(arguments(shown))
        for word, rest in steps(CONTAINERFILE.read_text()):
            if word == "ARG":
                name, _, value = rest.partition("=")
                variables.setdefault(name, value)
            elif word == "ENV":
                self._environment |= dict(part.split("=", 1) for part in shlex.split(rest))
            elif word == "COPY":
                self._copy(*rest.split())
            elif word == "RUN":
                self._run(rest, variables, shown)
            elif word == "WORKDIR":
                self._workdir = rest
                (self._root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
            elif word == "ENTRYPOINT":
                self._entry = json.loads(rest)

    def _make_base(self) -> None:
        if self._own:
            debootstrap(self._root)
            return
        for name in ("usr", "etc", "opt", "tmp", "dev", "proc", "sys"):
            (self._root / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (self._root / name).symlink_to(f"usr/{name}")

    def _copy(self, *names: str) -> None:
        *sources, target = names
        for source in sources:
            here, there = ROOT / source, self._root / target.lstrip("/")
            if here.is_dir():
                shutil.copytree(here, there)
            else:
                there.mkdir(parents=True, exist_ok=True)
                shutil.copy(here, there)

    def _run(self, line: str, variables: dict[str, str], shown: dict[Path, str]) -> None:
        if not self._own and re.match(r"apt-get|useradd", line):
            print(f"left out, since this /usr is the system's: {line}")
            return
        options = [] if self._own else ["--unshare-user", "--uid", "0", "--gid", "0"]
        for name in ("/etc/resolv.conf", "/etc/hosts") if self._own else ():
            options += ["--ro-bind", os.path.realpath(name), name]
        for here, there in shown.items():
            options += ["--ro-bind", str(here), there]
        run(*self._bwrap(variables, options), "sh", "-c", line)

    def _bwrap(self, variables: dict[str, str], options: list[str]) -> list[str]:
        command = ["bwrap", "--die-with-parent", "--unshare-pid", "--bind", str(self._root), "/"]
        if not self._own:
            command += ["--ro-bind", "/usr", "/usr"]
            for name in _OF_ETC:
                command += ["--ro-bind-try", os.path.realpath(f"/etc/{name}"), f"/etc/{name}"]
        command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", *options, "--clearenv"]
        for name, value in (self._environment | variables).items():
            command += ["--setenv", name, value]
        return command

    def command(self, course: Path, *words: str) -> list[str]:  # noqa: D102
        ids = [f"--reuid={USER}", f"--regid={GROUP}", "--clear-groups"]
        become = ["setpriv", *ids] if IS_ROOT else []
        options = ["--unshare-user", "--ro-bind", "/sys", "/sys"]
        options += ["--bind", str(course), self._workdir, "--chdir", self._workdir]
        given = {SECRET: os.environ[SECRET]}
        return [*become, *self._bwrap(given, options), *self._entry, *words]


def records(course: Path) -> dict[str, object]:
    """Return the records of a course, without what is the machine's."""
    found: dict[str, object] = {}
    for path in sorted((course / "records").rglob("*.json")):
        record = json.loads(path.read_text())
        found[str(path.relative_to(course))] = {
            k: v for k, v in record.items() if k not in ("runtime", "isolation")
        }
    return found


def tier(said: str) -> str:
    """Return the isolation tier in what `autograder doctor` said."""
    return said.partition("isolation tier ")[2].partition(":")[0]


@contextmanager
def background(*command: str) -> Iterator[None]:
    """Run a command until the block is over."""
    print("$", shlex.join(command), "&", flush=True)
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def scheduled(image: Image, place: Path, course: Path) -> None:
    """Grade a class here, by a worker in the image."""
    file = place / "scheduler.json"
    options = ["--host=127.0.0.1", "--port=0", "--no-dashboard", f"--scheduler-file={file}"]
    with background(sys.executable, "-m", "distributed.cli.dask_scheduler", *options):
        while not (file.exists() and file.read_text().endswith("}")):
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        empty = mine(place / "empty")
        with background(*image.command(empty, "worker", address, "--insecure", "--processes=1")):
            words = ["grade", ASSIGNMENT, "--force", "--scheduler", address, "--insecure"]
            run(*_BESIDE, *words, folder=course)


def mine(folder: Path) -> Path:
    """Give a folder to whoever is inside."""
    folder.mkdir(exist_ok=True)
    if IS_ROOT:
        run("chown", "-R", f"{USER}:{GROUP}", folder)
    return folder


def trial(image: Image, place: Path) -> None:
    """Grade the same class in the image and beside it; the records must be equal."""
    inside, beside = place / "inside", place / "beside"
    for course in (inside, beside):
        shutil.copytree(COURSE, course, ignore=shutil.ignore_patterns("__pycache__"))
        (course / "grading_secret.txt").write_text("s1")
    mine(inside)
    said = run(*image.command(inside, "doctor"))
    around = tier(run(*_BESIDE, "doctor", folder=place))
    if image.full and tier(said) != around:
        sys.exit(f"isolation is tier {tier(said)} inside, and {around} around it")
    class_of = ["simulate", ASSIGNMENT, "--students=4"]
    for words in (["generate"], class_of, ["grade", ASSIGNMENT, "--jobs=1"]):
        run(*image.command(inside, *words))
        run(*_BESIDE, *words, folder=beside)
    expected = records(beside)
    if not expected or records(inside) != expected:
        sys.exit("the records made inside are not those made beside it")
    scheduled(image, place, beside)
    if records(beside) != expected:
        sys.exit("the records by a worker inside are not those made beside it")
    print(f"container: {len(expected)} equal records inside, beside it, and by a worker inside")


def main() -> None:
    """Build and try it."""
    os.umask(0o022)
    os.environ[SECRET] = secrets.token_hex(32)
    builder = next(filter(None, map(shutil.which, ("podman", "buildah"))), None)
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="container.") as name:
        place = Path(name)
        place.chmod(0o755)
        if builder and "--folder" not in sys.argv:
            image = Built(builder)
            image.build(place)
            if image.starts():
                trial(image, place)
                return
            print("the image is built, and containers don't start here; a folder instead")
            shutil.rmtree(place / "pip")
        folder = Folder()
        folder.build(place)
        trial(folder, place)


if __name__ == "__main__":
    main()
