"""check: the effect of a change on rollbacks and upgrades; ``waive`` and ``baseline`` accept its findings."""
