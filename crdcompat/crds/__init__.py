"""CRDs: read from documents, told apart by variant, and paired between two sets."""
