"""What a schema accepts: structural nodes, paths, example values, patterns as languages."""
