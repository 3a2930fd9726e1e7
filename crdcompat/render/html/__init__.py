"""The parts of the HTML page: what is shown, in templates that know nothing of reports."""
