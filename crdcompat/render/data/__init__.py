"""Reports as JSON data, format "1", of a matrix "2": a module for each kind of report, and the schema of all."""
