"""Lines of derivations: how they are read, what they say, and what they come to."""
