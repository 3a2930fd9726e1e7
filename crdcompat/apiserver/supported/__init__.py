"""The answers of several servers to one CRD, and the causes of their refusals."""
