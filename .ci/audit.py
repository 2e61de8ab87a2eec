"""Look up known vulnerabilities of what requirements.lock pins, with pip-audit.

They are looked up online.  Where that is impossible it says so and succeeds: a skip, no result.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
SECONDS = 240


def audited() -> list[dict[str, object]]:
    """Return what pip-audit, in an environment of its own, says of each package.

    Raises
    ------
    OSError, subprocess.SubprocessError, ValueError
        If it can't be installed or says nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        tools = Path(folder) / "bin"
        pip = [str(tools / "pip"), "install", "--quiet", "pip-audit"]
        subprocess.run(pip, check=True, timeout=SECONDS, capture_output=True)
        command = [str(tools / "pip-audit"), "--disable-pip", "--no-deps", "--format=json"]
        command += [f"--requirement={LOCK}", "--progress-spinner=off"]
        done = subprocess.run(command, timeout=SECONDS, capture_output=True, text=True, check=False)
    return list(json.loads(done.stdout)["dependencies"])


def main() -> None:
    """Say what was found; exit 1 where there is something."""
    try:
        found = audited()
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        print(f"pip-audit: skipped, it can't be run here ({type(error).__name__})")
        return
    known = [one for one in found if "skip_reason" not in one]
    if not known:
        print("pip-audit: skipped, the package index here knows nothing of vulnerabilities")
        return
    bad = [one for one in known if one["vulns"]]
    for one in bad:
        print(f"{one['name']} {one['version']}: {json.dumps(one['vulns'])}")
    print(f"pip-audit: {len(known)} packages looked up, {len(bad)} with known vulnerabilities")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
