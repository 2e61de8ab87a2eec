"""The whole course on attention goes the whole way."""

from ..copies import course  # noqa: F401
