"""The words an exercise is written in, and what its parts depend on."""
