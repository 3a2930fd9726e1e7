"""The configuration, what follows from it for a run, and a first one for a repository."""
