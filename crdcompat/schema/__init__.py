"""Schemas and the values that they accept: structural nodes, paths, example values, patterns as languages."""
