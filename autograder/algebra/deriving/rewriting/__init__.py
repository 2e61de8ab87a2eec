"""Rules: what may be done to a line, and whether two are equal for every n."""
