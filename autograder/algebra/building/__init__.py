"""Trees to values: every size is checked before anything is computed."""
