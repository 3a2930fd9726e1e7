"""matrix: which release can go back to which."""
