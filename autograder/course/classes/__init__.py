"""A class's submissions, and simulated classes."""
