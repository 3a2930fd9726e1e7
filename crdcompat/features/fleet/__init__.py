"""simulate --fleet: recordings of many clusters."""
