"""What checks say: of values, of work, of time."""
