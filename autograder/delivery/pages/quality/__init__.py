"""How good was the test?  What points say of exercises, and wrong answers of what to write next."""
