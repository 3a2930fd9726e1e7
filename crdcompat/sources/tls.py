"""Certificates of servers, checked as kubectl and curl check them."""

from __future__ import annotations

import ssl
from functools import cache


def without_strict(context: ssl.SSLContext) -> ssl.SSLContext:
    """The same context without the flag that Python 3.13 sets: that each certificate has the extensions of RFC 5280.

    The authorities of many clusters (EKS, microk8s) and of companies' proxies lack them. The chain, the dates and the
    names of certificates are checked all the same.
    """
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


@cache
def usual_context() -> ssl.SSLContext:
    """How a client checks servers with the authorities that this machine knows (or SSL_CERT_FILE names)."""
    return without_strict(ssl.create_default_context())
