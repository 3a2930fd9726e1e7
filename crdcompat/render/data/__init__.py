"""Reports as JSON data, format "1" (design, section 7): a module for each kind of report."""
