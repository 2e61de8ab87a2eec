"""Chains of lines: what is wrong with a derivation, and what it earns."""
