"""Options in, exit code out: one module per command."""
