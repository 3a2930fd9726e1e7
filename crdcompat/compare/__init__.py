"""Changes between two CRD sets, and the effect of each in both directions, proved by a witness."""
