"""What kube-apiserver answers: admission of a write, and validation of a CRD, by version."""
