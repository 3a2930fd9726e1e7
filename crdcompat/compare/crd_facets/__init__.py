"""One module per facet of a CRD outside its schemas, each with its ``FACET``; naming as in ``facets``."""
