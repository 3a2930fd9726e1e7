"""The replay of a rollback on stored objects: what the server of another release answers to the writes that follow."""
