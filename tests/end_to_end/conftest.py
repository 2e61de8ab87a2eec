"""The whole course on attention goes the whole way."""

from ..loaded import course  # noqa: F401
