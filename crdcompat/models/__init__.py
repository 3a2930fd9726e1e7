"""What is reported, as plain values: nothing here reads input or makes text."""
