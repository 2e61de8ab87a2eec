"""nbgrader's side: its gradebook, its exchange, its people, its commands."""
