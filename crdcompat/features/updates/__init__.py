"""updates: which versions of others a change moves, as pairs to compare."""
