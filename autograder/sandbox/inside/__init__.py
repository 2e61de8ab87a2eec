"""What runs in the process of student code: it knows nothing of exercises."""
