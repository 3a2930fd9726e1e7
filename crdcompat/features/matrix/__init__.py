"""matrix: which release can be rolled back to which."""
