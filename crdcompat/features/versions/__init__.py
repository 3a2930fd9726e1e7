"""versions: the life of each version of each CRD over releases, and which jumps lose stored objects."""
