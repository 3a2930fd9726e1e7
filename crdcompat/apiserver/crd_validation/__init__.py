"""CRD validation: whether a server accepts a CRD."""
