"""diff: findings between two sets of CRDs."""
