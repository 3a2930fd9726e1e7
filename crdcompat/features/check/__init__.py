"""check: what a change does to rollbacks and upgrades; ``waive`` and ``baseline`` accept what it finds."""
