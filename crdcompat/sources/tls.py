"""Certificates of servers, checked as kubectl and curl check them."""

from __future__ import annotations

import ssl
from functools import cache


def tls_context(*, is_verified: bool = True, has_authorities: bool = True) -> ssl.SSLContext:
    """How a client checks a server; ``has_authorities``: by those of this machine, or of the file SSL_CERT_FILE.

    Python 3.13 also asks that each certificate has the extensions of RFC 5280. The authorities of many clusters (EKS,
    microk8s) and of companies' proxies lack them; the chain, the dates and the names are checked all the same.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the authority may be one in the middle, as in Python 3.13
    if not is_verified:
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if has_authorities:
        made.load_default_certs()
    return made


@cache
def usual_context() -> ssl.SSLContext:
    """That of this machine's authorities, made once: fsspec keeps a session for each context."""
    return tls_context()
