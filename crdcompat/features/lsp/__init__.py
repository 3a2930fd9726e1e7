"""The server of editors: diagnostics, hover and code actions (``crdcompat lsp``)."""
