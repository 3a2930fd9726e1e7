"""The answers of kube-apiserver, by version: admission of writes, and validation of CRDs."""
