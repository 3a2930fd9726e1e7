"""simulate: the replay of a rollback on recorded objects."""
