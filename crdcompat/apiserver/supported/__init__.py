"""What several servers say to one CRD, and what the CRD needs of a server."""
