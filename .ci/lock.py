"""Write requirements.lock: the pins of constraints.txt with the hashes of their files.

The files are the wheels that pip chooses on Linux (x86-64) for each Python that the course runs on.
torch is left out: its builds (CPU, CUDA) differ by machine.  pip reads metadata alone from 23.3 on;
an older one downloads all files.  `make lock` runs it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
LEFT_OUT = ("torch",)
HEADER = """\
# Made by `make lock` from constraints.txt: Linux (x86-64), Python {pythons}, without {left_out}.
#   pip install --require-hashes --no-deps -r requirements.lock
"""


def pins() -> dict[str, str]:
    """Return the pins by the names that they have in constraints.txt."""
    text = (ROOT / "constraints.txt").read_text()
    known = re.findall(r"^([\w.-]+)==([\w.+]+)", text, re.MULTILINE)
    return {name: version for name, version in known if name not in LEFT_OUT}


def hashes(python: str, pinned: dict[str, str]) -> dict[str, str]:
    """Return the hash of the file that pip would install, by name."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"]
        command += ["--ignore-installed", "--only-binary=:all:", f"--python-version={python}"]
        command += [f"--platform={platform}" for platform in PLATFORMS]
        command += [f"--target={folder}", f"--report={report}"]
        command += [f"{name}=={version}" for name, version in pinned.items()]
        subprocess.run(command, check=True)
        chosen = json.loads(report.read_text())["install"]
    found = {}
    for one in chosen:
        name = one["metadata"]["name"].lower().replace("-", "_")
        found[name] = one["download_info"]["archive_info"]["hashes"]["sha256"]
    return {name: found[name.lower().replace("-", "_")] for name in pinned}


def main() -> None:
    """Write the lock."""
    pinned = pins()
    of_pythons = [hashes(python, pinned) for python in PYTHONS]
    text = HEADER.format(pythons=", ".join(PYTHONS), left_out=", ".join(LEFT_OUT))
    for name, version in pinned.items():
        files = sorted({found[name] for found in of_pythons})
        text += " \\\n".join([f"{name}=={version}", *(f"    --hash=sha256:{one}" for one in files)])
        text += "\n"
    (ROOT / "requirements.lock").write_text(text)


if __name__ == "__main__":
    main()
