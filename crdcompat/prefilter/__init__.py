"""The prefilter: selects the files that can matter to a comparison by names, blob ids and lines, without parsing."""
