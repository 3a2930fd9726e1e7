"""Go types of an API: the markers and fields from which controller-gen generates its CRDs."""
