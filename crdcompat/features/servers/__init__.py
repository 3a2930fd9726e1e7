"""servers: which Kubernetes minors accept these CRDs."""
