"""CRDs: reading them from documents, their variants, and the pairs of two sets."""
