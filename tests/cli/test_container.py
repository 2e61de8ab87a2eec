"""The image's description is whole, and what tries it reads it as a builder does."""

import importlib.util
import json
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def container():
    spec = importlib.util.spec_from_file_location("container", ROOT / ".ci" / "container.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def described(container):
    return container.steps((ROOT / "Containerfile").read_text())


def test_lines_are_joined_and_comments_left_out(container):
    text = "# one\nFROM a\n\nRUN x && \\\n    # two\n    y \\\n  z\nUSER  1\n"
    assert container.steps(text) == [("FROM", "a"), ("RUN", "x && y z"), ("USER", "1")]


def test_the_one_who_tries_knows_every_instruction(described):
    known = {"ARG", "FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT"}
    assert {step.word for step in described} == known


def test_nobody_is_root_inside_and_a_course_is_where_it_is_mounted(container, described):
    last = dict(described)
    assert int(last["USER"]) == 1000
    assert last["WORKDIR"] == "/course"
    (command,) = json.loads(last["ENTRYPOINT"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert command in project["scripts"]
    (installed,) = (rest for _, rest in described if "/opt/source[" in rest)
    extras = installed.partition("/opt/source[")[2].partition("]")[0].split(",")
    assert set(extras) <= set(project["optional-dependencies"])


def test_all_that_is_copied_is_here(described):
    copied = [rest.split()[:-1] for word, rest in described if word == "COPY"]
    assert all((ROOT / name).exists() for names in copied for name in names)


def test_inside_pip_reaches_packages_as_it_does_here(container, tmp_path):
    (tmp_path / "own/simple").mkdir(parents=True)
    (tmp_path / "authority.pem").write_text("a certificate")
    listed = [
        f":env:.find-links='{tmp_path}'",
        f"global.cert='{tmp_path}/authority.pem'",
        f"global.extra-index-url='file://{tmp_path}/own/simple https://example.org/simple'",
        "global.find-links='/nowhere'",
    ]
    shown = container.pip_settings(tmp_path / "pip", listed)
    assert set(shown.values()) == {"/etc/xdg/pip", str(tmp_path), str(tmp_path / "own")}
    lines = (tmp_path / "pip/pip.conf").read_text().splitlines()
    assert f"find-links = {tmp_path}" in lines
    assert "cert = /etc/xdg/pip/cert.pem" in lines
    assert (tmp_path / "pip/cert.pem").read_text() == "a certificate"
    assert container.arguments(shown) == {"TORCH_INDEX": ""}
    assert container.arguments(container.pip_settings(tmp_path / "none", [])) == {}
