"""What counts the work of a call, beside student code."""
