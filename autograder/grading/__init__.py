"""Grade one submission: parts with follow-through, checks, results."""
