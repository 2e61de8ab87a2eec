"""Learning platforms: what they hand out, whose it is, and what they take back."""
