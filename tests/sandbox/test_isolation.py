"""The tier follows from what was tried, and what is missing is said with what to do about it."""

import importlib.metadata

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.config import Course, CourseError
from autograder.sandbox import Isolation, Limits, Zygote, advice, isolation, probe
from autograder.sandbox import hardware as equipment
from autograder.sandbox.isolation import Trial
from autograder.sandbox.jails import bubblewrap
from autograder.sandbox.jails.jail import JAILS

from ..tiers import isolation_of

OUTSIDE = ("user", "Landlock", "seccomp")


def machine(monkeypatch, *broken, bwrap=True):
    """Pretend that some parts do not work."""
    monkeypatch.setattr(bubblewrap, "installed", lambda: "/usr/bin/bwrap" if bwrap else None)

    def tried(tier):
        wrapper = JAILS[tier].wrapper
        if wrapper and (wrapper in broken or not bwrap):
            return (Trial(wrapper, False, "refused"),)
        wrapped = [Trial(wrapper, True, "tried")] if wrapper else []
        return (*wrapped, *(Trial(p, p not in broken, "tried") for p in JAILS[tier].attempts))

    monkeypatch.setattr(isolation, "_tried", tried)
    return isolation._probed.__wrapped__()


class TestTiers:
    def test_everything_works(self, monkeypatch):
        found = machine(monkeypatch)
        assert found.tier == "A"
        assert found.advice() == []

    def test_no_nested_namespaces(self, monkeypatch):
        assert machine(monkeypatch, "namespaces").tier == "A-"

    def test_bubblewrap_is_refused(self, monkeypatch):
        found = machine(monkeypatch, "bubblewrap")
        assert found.tier == "B"
        assert [part.what for part in found.tried] == ["bubblewrap", *OUTSIDE]

    def test_bubblewrap_is_not_installed(self, monkeypatch):
        found = machine(monkeypatch, bwrap=False)
        assert found.tier == "B"
        assert "install bubblewrap" in found.advice()[0]

    @pytest.mark.parametrize("part", OUTSIDE)
    def test_nothing_goes_without_these(self, monkeypatch, part):
        found = machine(monkeypatch, "bubblewrap", part)
        assert found.tier == "C"
        assert f"{part}: tried" in found.failures()

    def test_an_unreadable_python_is_no_fault_of_bubblewrap(self, monkeypatch):
        found = machine(monkeypatch, "bubblewrap", "user")
        assert found.advice() == [advice.on("user")]

    @pytest.mark.sandbox
    def test_without_bubblewrap_this_machine_gives_tier_b(self, monkeypatch):
        monkeypatch.setattr(bubblewrap, "installed", lambda: None)
        assert isolation._probed.__wrapped__().tier == "B"


class TestAdvice:
    @pytest.fixture
    def settings(self, monkeypatch, tmp_path):
        monkeypatch.setattr(advice, "_ROOT", tmp_path)
        monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
        for name in ("user", "kernel"):
            (tmp_path / "proc/sys" / name).mkdir(parents=True)
        return tmp_path / "proc/sys"

    def test_namespaces_switched_off(self, settings):
        (settings / "user/max_user_namespaces").write_text("0\n")
        assert "sysctl -w user.max_user_namespaces" in advice.on("namespaces")

    def test_debians_switch(self, settings):
        (settings / "user/max_user_namespaces").write_text("100\n")
        (settings / "kernel/unprivileged_userns_clone").write_text("0\n")
        assert "kernel.unprivileged_userns_clone=1" in advice.on("namespaces")

    def test_apparmor(self, settings):
        (settings / "kernel/apparmor_restrict_unprivileged_userns").write_text("1\n")
        assert "apparmor_parser -r" in advice.on("namespaces")

    @pytest.mark.usefixtures("settings")
    def test_no_switch_and_no_container(self):
        assert advice.container() == ""
        assert "no switch for that was found" in advice.on("namespaces")

    @pytest.mark.usefixtures("settings")
    @pytest.mark.parametrize(
        ("file", "text", "found", "flag"),
        [
            ("run/.containerenv", "", "Podman", "unmask=/proc/*"),
            ("run/.containerenv", 'engine="podman-4.3.1"\n', "Podman", "unmask=/proc/*"),
            ("run/.containerenv", 'engine="buildah-1.28.2"\n', "Buildah", "with Podman"),
            (".dockerenv", "", "Docker", "systempaths=unconfined"),
            ("proc/1/cgroup", "8:pids:/lxc/one\n", "unknown runtime", "the runtime must"),
        ],
    )
    def test_a_container_is_recognised(self, tmp_path, file, text, found, flag):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
        assert advice.container() == found
        said = advice.on("bubblewrap" if bubblewrap.installed() else "namespaces")
        assert said.startswith(f"this is a container ({found}): ")
        assert flag in said

    @pytest.mark.usefixtures("settings")
    def test_kubernetes_is_recognised_whatever_runs_its_containers(self, tmp_path, monkeypatch):
        (tmp_path / ".dockerenv").touch()
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
        assert "procMount: Unmasked" in advice.on("namespaces")

    def test_in_a_container_the_machine_may_deny_namespaces_as_well(self, settings, tmp_path):
        (tmp_path / ".dockerenv").touch()
        (settings / "kernel/apparmor_restrict_unprivileged_userns").write_text("1\n")
        said = advice.on("namespaces")
        assert "docker run" in said
        assert "on the machine itself, AppArmor" in said

    @pytest.mark.usefixtures("settings")
    def test_a_filter_of_the_runtime_may_be_older_than_landlock(self, tmp_path):
        assert "--security-opt" not in advice.on("Landlock")
        (tmp_path / ".dockerenv").touch()
        assert "--security-opt seccomp=unconfined" in advice.on("Landlock")


class TestDemands:
    def course(self, tmp_path, line):
        (tmp_path / "course_config.py").write_text(f"c = get_config()\n{line}\n")
        return Course.load(tmp_path)

    def test_a_weaker_tier_is_refused(self, tmp_path):
        course = self.course(tmp_path, "c.Course.minimum_tier = 'A-'")
        course.demand(Isolation("A"))
        course.demand(Isolation("A-"))
        with pytest.raises(CourseError, match="demands isolation tier A- .* gives tier B"):
            course.demand(Isolation("B", (Trial("bubblewrap", False, "not there"),)))

    def test_trust_does_not_help_against_it(self, tmp_path):
        course = self.course(tmp_path, "c.Course.minimum_tier = 'B'")
        with pytest.raises(CourseError, match="demands isolation tier B"):
            course.demand(Isolation("C"), trust_students=True)

    def test_no_isolation_takes_trust(self, tmp_path):
        course = self.course(tmp_path, "")
        course.demand(Isolation("B"))
        course.demand(Isolation("C"), trust_students=True)
        with pytest.raises(CourseError, match="can't isolate .* --trust-students"):
            course.demand(Isolation("C"))

    @pytest.mark.parametrize("tier", ["D", "C", 3, ["A"]])
    def test_a_tier_that_is_none(self, tmp_path, tier):
        with pytest.raises(CourseError, match="minimum_tier is .* 'A', 'A-', 'B'"):
            self.course(tmp_path, f"c.Course.minimum_tier = {tier!r}")


class TestDoctor:
    def test_it_ends_with_an_error_where_nothing_isolates(self, monkeypatch):
        tried = (Trial("Landlock", False, "landlock: Function not implemented"),)
        monkeypatch.setattr(isolation, "probe", lambda: Isolation("C", tried))
        result = CliRunner().invoke(app, ["doctor"])
        assert result.exit_code == 1
        assert "no  Landlock: landlock: Function not implemented" in result.output
        assert "isolation tier C" in result.output
        assert "for a better tier: Landlock takes Linux 5.13" in result.output

    @pytest.mark.sandbox
    def test_it_names_the_tier_of_this_machine(self):
        result = CliRunner().invoke(app, ["doctor"])
        assert result.exit_code == 0
        assert f"isolation tier {probe().tier}:" in result.output

    @pytest.mark.sandbox
    def test_what_is_not_there_is_no_error(self, monkeypatch):
        def missing(name):
            raise importlib.metadata.PackageNotFoundError(name)

        monkeypatch.setattr(importlib.metadata, "version", missing)
        monkeypatch.setattr("shutil.which", lambda *_, **__: None)
        monkeypatch.setattr(isolation, "probe", lambda: Isolation("B"))
        result = CliRunner().invoke(app, ["doctor"])
        assert result.exit_code == 0
        for what in ("torch", "GPU", "browser"):
            assert f"\n{what}: none (for " in result.output

    def test_what_is_there_is_named(self, monkeypatch):
        monkeypatch.setattr(isolation, "probe", lambda: Isolation("B"))
        monkeypatch.setattr("shutil.which", lambda name, **_: f"/opt/{name}")
        monkeypatch.setattr(importlib.metadata, "version", lambda _: "9.8.7")
        monkeypatch.setattr(equipment, "_accelerator", lambda: "a large one")
        output = CliRunner().invoke(app, ["doctor"]).output
        assert "torch: 9.8.7 (for exercises that train" in output
        assert "GPU: a large one (for " in output
        assert "browser: /opt/chromium (for " in output


@pytest.fixture(scope="module", params=["A", "A-", "B"])
def tiered(request):
    with Zygote(isolation=isolation_of(request.param), limits=Limits(scratch_mb=2)) as zygote:
        yield zygote


@pytest.mark.sandbox
class TestScratch:
    """Where student code may write, and how much."""

    def test_writing(self, tiered):
        source = (
            "import os, pathlib\n"
            "home = pathlib.Path.home()\n(home / 'd').mkdir()\n"
            "(home / 'd' / 'a.txt').write_text('kept')\n(home / 'd' / 'a.txt').rename(home / 'b')\n"
            "text = open('b').read()"
        )
        with tiered.session() as session:
            run = session.execute(source)
            if tiered.isolation.tier == "A":
                assert session.read("text") == "kept"
            else:
                assert run.error.type in ("PermissionError", "OSError", "FileNotFoundError")

    def test_the_next_session_finds_nothing(self, tiered):
        for _ in range(2):
            with tiered.session() as session:
                session.execute("import os\ntry: found = os.listdir(os.environ['HOME'])")
                run = session.execute(
                    "import os\ntry: found = os.listdir(os.environ['HOME'])\n"
                    "except OSError: found = []\n"
                    "try: open(os.environ['HOME'] + '/left', 'w')\nexcept OSError: pass"
                )
                assert run.error is None
                assert session.read("found") == []

    def test_it_is_bounded(self, tiered):
        with tiered.session() as session:
            run = session.execute(
                "import os; open(os.environ['HOME'] + '/x', 'wb').write(bytes(4 << 20))"
            )
            assert run.error.type in ("OSError", "PermissionError", "FileNotFoundError")
            assert session.alive

    def test_its_processes(self, tiered):
        with tiered.session() as session:
            session.execute("import os; ids = [os.getpid(), os.getppid()]")
            alone = session.read("ids") == [1, 0]
        assert alone == (tiered.isolation.tier == "A")
