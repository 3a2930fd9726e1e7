"""One package per command: the workflow of each, above all shared rooms."""
