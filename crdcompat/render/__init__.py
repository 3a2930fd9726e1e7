"""How a report is shown: a module per format, over plain values."""
