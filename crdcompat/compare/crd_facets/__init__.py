"""One module per facet of a CRD outside its schemas, each with its ``FACET``: found and named as in ``facets``."""
