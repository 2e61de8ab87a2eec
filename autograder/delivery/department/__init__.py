"""What is done with whole courses: start, release, grade, watch, many at once."""
