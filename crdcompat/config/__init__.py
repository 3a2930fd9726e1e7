"""The configuration: reading it, applying it to a run, and writing a first one for a repository."""
