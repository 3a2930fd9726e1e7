"""Which files can matter to a comparison, decided by names, blob ids and single lines, before any file is parsed."""
