"""Derivations: chains of lines, each of which follows from the one before."""
