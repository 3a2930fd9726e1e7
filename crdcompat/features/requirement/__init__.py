"""requirement: a CompatibilityRequirement of OpenShift, which keeps a release's CRD possible."""
