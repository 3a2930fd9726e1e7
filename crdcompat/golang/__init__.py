"""Go types of an API: the markers and fields that its CRDs are generated from."""
