"""Which processes there are, as seen from outside of any namespace."""

from pathlib import Path


def descendants(pid):
    """Return the living processes that a process has started, and those that these have."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
            continue
        state, parent = rest.split()[:2]
        if state != "Z":
            parents[int(name.split()[0])] = int(parent)
    found, todo = set(), [pid]
    while todo:
        parent = todo.pop()
        children = {child for child, of in parents.items() if of == parent}
        found |= children
        todo += children
    return found


def gone(pid):
    """Tell whether a process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True
