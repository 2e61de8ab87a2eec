"""The docs are about the course on attention, and their commands run in a copy of it."""

from ..copies import course  # noqa: F401
