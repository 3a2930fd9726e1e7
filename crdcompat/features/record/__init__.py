"""record: the smallest recording of a cluster that gives the same answer on another machine."""
