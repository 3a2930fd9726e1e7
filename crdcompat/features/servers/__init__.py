"""servers: which Kubernetes minors take these CRDs."""
