"""Who is in the class."""
