"""The reports as plain values; modules here neither read input nor write text."""
