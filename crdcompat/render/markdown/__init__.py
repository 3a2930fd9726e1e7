"""Parts of the Markdown reports."""
