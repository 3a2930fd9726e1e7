"""verify: asks a real API server about the witnesses of a report."""
