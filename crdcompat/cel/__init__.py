"""What a CEL rule says: its syntax tree, and the members, values and functions that it names."""
