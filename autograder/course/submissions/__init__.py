"""One submission: what was handed in, its job, its grade, its record."""
