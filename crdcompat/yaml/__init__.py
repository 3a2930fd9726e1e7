"""YAML and JSON as Kubernetes reads them, with positions; and edits of YAML that keep all other bytes."""
