"""A JupyterHub with two students and an instructor: fetch, hand in, grade, get feedback."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.delivery.department.watch import Watcher
from autograder.delivery.nbgrader.marks import scores

from ..courses import MOTION as A

BIN = Path(sys.executable).parent
PROXY = "configurable-http-proxy"
MISSING = [
    name
    for name, there in {
        "jupyterhub": find_spec("jupyterhub"),
        PROXY: shutil.which(PROXY),
        "bubblewrap": shutil.which("bwrap"),
    }.items()
    if not there
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.sandbox,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    # nbgrader leaves a file open when it releases feedback
    pytest.mark.filterwarnings("ignore:.*unclosed file", "ignore:Exception ignored in.*FileIO"),
]

#: What lets a test ask a hub. How servers are started follows, in one of two ways.
CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub_port}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api_port}"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allowed_users = {{"ada", "bob", "boss"}}
c.JupyterHub.services = [{{"name": "test", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [
    {{
        "name": "test",
        "services": ["test"],
        "scopes": ["admin:users", "admin:servers", "access:servers"],
    }}
]

c.Spawner.environment = {{"JUPYTER_CONFIG_PATH": "{root}/config"}}
"""
#: One machine's user is several people's container.
CONTAINERS = """
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{root}/homes/{{username}}"

def one_of_several(spawner):
    own = "{course}" if spawner.user.name == "boss" else f"{root}/homes/{{spawner.user.name}}"
    spawner.notebook_dir = own
    spawner.cmd = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/"]
    spawner.cmd += ["--ro-bind", "{root}/passwd", "/etc/passwd"]
    spawner.cmd += ["--chdir", own, "jupyterhub-singleuser"]

c.Spawner.pre_spawn_hook = one_of_several
c.Spawner.args = ["--allow-root", "--ServerApp.jpserver_extensions={{'nbgrader': True}}"]
"""
PAGE = Path(__file__).resolve().parents[2] / "docs" / "jupyterhub.md"
HOOK = "def in_the_course(spawner)"
NBGRADER = """
c = get_config()
c.CourseDirectory.course_id = "mechanics"
c.Exchange.root = "{root}/exchange"
"""


class Hub:
    """What people do, by the addresses that their buttons use."""

    def __init__(self, address, token):
        self.address, self.token = address, token

    def ask(self, path, method="GET", body=None):
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def start(self, user):
        self.ask(f"/hub/api/users/{user}/server", "POST")
        for _ in range(240):
            if self.ask(f"/hub/api/users/{user}")["servers"].get("", {}).get("ready"):
                return
            time.sleep(0.5)
        raise AssertionError(f"{user}'s server doesn't start")

    def assignment(self, user, action):
        body = {"course_id": "mechanics", "assignment_id": A}
        return self.ask(f"/user/{user}/assignments/{action}", "POST", body)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def as_the_page_says(course):
    """Return what docs/jupyterhub.md writes for the default spawner, with this machine's places."""
    blocks = PAGE.read_text().split("```python\n")[1:]
    (block,) = (text.split("```")[0] for text in blocks if HOOK in text)
    server = "{COURSE}/.venv/bin/jupyterhub-singleuser"
    assert server in block
    assert "/srv/attention" in block
    block = block.replace(server, "jupyterhub-singleuser").replace("/srv/attention", str(course))
    return f"{block}\nc.Spawner.args.append('--allow-root')\n"


@contextmanager
def running(root, course, spawner):
    """Run a hub in a folder; give what asks it.

    With the default spawner everybody is an account of the machine; so all of them are this user,
    who believes to be `jovyan`.
    """
    port, hub_port, api_port = free_ports(3)
    token = secrets.token_hex(16)
    places = {"port": port, "hub_port": hub_port, "api_port": api_port}
    text = CONFIG.format(root=root, token=token, **places)
    if spawner == "default":
        text += as_the_page_says(course.root)
    else:
        text += CONTAINERS.format(root=root, course=course.root)
    (root / "hub.py").write_text(text)
    accounts = {"jovyan": "/", **{name: root / "homes" / name for name in ("ada", "bob", "boss")}}
    lines = [f"{n}:x:{os.getuid()}:{os.getgid()}::{home}:/bin/sh" for n, home in accounts.items()]
    (root / "passwd").write_text("\n".join([*lines, ""]))
    for folder in ("config", "homes/ada", "homes/bob", "homes/boss", "state"):
        (root / folder).mkdir(parents=True)
    (root / "config" / "nbgrader_config.py").write_text(NBGRADER.format(root=root))
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "jupyterhub", "--config", str(root / "hub.py")]
    if spawner == "default":
        seen = ["--dev-bind", "/", "/", "--ro-bind", str(root / "passwd"), "/etc/passwd"]
        command = ["bwrap", "--die-with-parent", "--cap-add", "ALL", *seen, *command]
    hub = Hub(f"http://127.0.0.1:{port}", token)
    with (root / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=root / "state", env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            for _ in range(240):
                try:
                    hub.ask("/hub/api/")
                    break
                except (urllib.error.URLError, ConnectionError):
                    assert process.poll() is None, (root / "log").read_text()
                    time.sleep(0.5)
            yield hub
        finally:
            process.terminate()
            process.wait()


@pytest.mark.parametrize("spawner", ["default", "containers"])
def test_students_fetch_hand_in_and_get_feedback_on_a_hub(course, tmp_path, spawner):
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    config = course.root / "course_config.py"
    config.write_text(
        f"{config.read_text()}\nc.Exchange.root = {str(exchange)!r}\n"
        'c.Course.students = ["ada", "bob"]\n'
    )
    course = Course.load(course.root)
    simulate(course, A, 1)
    answers = course.folder("submitted") / "student_001"
    right = json.loads((answers / A / f"{A}.ipynb").read_text())
    shutil.rmtree(answers)
    with running(tmp_path, course, spawner) as hub:
        hub.start("boss")
        formgrader = "/user/boss/formgrader/api"
        assert hub.ask(f"{formgrader}/assignment/{A}/release", "POST", {})["success"]
        for student in ("ada", "bob"):
            hub.start(student)
            fetched = hub.assignment(student, "fetch")
            assert [each["status"] for each in fetched["value"]] == ["fetched"]
        path = f"/user/ada/api/contents/{A}/{A}.ipynb"
        notebook = hub.ask(path)["content"]
        filled = {c["metadata"]["nbgrader"]["grade_id"]: c for c in right["cells"] if graded(c)}
        for cell in notebook["cells"]:
            if graded(cell):
                cell["source"] = filled[cell["metadata"]["nbgrader"]["grade_id"]]["source"]
        hub.ask(path, "PUT", {"type": "notebook", "content": notebook})
        for student in ("ada", "bob"):
            hub.assignment(student, "submit")
        said = []
        assert Watcher(course.root, [A], feedback="now", say=said.append).once(), said
        assert "collected: 2 new, 0 updated" in said
        marks = scores(course, A)
        assert marks["ada"].score > marks["bob"].score == 0
        rows = hub.ask(f"{formgrader}/submissions/{A}")
        listed = {row["student"]: (row["score"], row["autograded"]) for row in rows}
        assert listed == {s: (marks[s].score, True) for s in ("ada", "bob")}
        pages = {}
        for student in ("ada", "bob"):
            hub.assignment(student, "fetch_feedback")
            (page,) = (tmp_path / "homes" / student / A / "feedback").glob(f"*/{A}.html")
            pages[student] = page.read_text()
        assert "Feedback for ada" in pages["ada"]
        assert "Feedback for bob" in pages["bob"]


def graded(cell):
    return cell["metadata"].get("nbgrader", {}).get("solution")
