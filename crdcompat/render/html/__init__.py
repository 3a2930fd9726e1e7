"""The parts of the HTML page: plain values for templates, which know no reports."""
