#!/usr/bin/env bash
# Gradescope runs this once, as root, when the autograder's image is built.
set -euo pipefail
cd /autograder/source

find_python() {
    local name
    for name in python3.13 python3.12 python3.11 python3; do
        if command -v "$name" >/dev/null &&
            "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            echo "$name"
            return
        fi
    done
}

python=$(find_python)
if [ -z "$python" ]; then
    apt-get update
    apt-get install -y python3.11 python3.11-venv
    python=python3.11
fi
if ! "$python" -m venv /autograder/venv; then
    apt-get update
    apt-get install -y "$python-venv"
    "$python" -m venv --clear /autograder/venv
fi
/autograder/venv/bin/pip install --no-cache-dir -r requirements.txt

# Student code runs as nobody: it needs Python, and has no business here.
chmod -R a+rX /autograder/venv
chmod -R go-rwx /autograder/source/course
