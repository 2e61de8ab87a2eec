"""What ships to students: check.py, which stands alone."""
