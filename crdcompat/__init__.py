"""crdcompat: can this release be rolled back? A CRD enum-compatibility and rollback-safety linter."""

__version__ = "0.1.0"
