"""Text to a tree: one grammar for all notations. This is what ships to students."""
