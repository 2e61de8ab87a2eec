"""Limits on the time of what no bound on the work foresaw."""
