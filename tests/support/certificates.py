"""A certificate authority for servers on the loopback."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from collections.abc import Mapping
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_START = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
#: What the key of an authority is for, of all that a certificate can name.
_SIGNS = {"key_cert_sign": True, "crl_sign": True} | dict.fromkeys(
    (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
        *("key_agreement", "encipher_only", "decipher_only"),
    ),
    False,
)
_END = datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC)


def authority(folder: Path, address: str = "127.0.0.1", *, is_plain: bool = False) -> tuple[Path, ssl.SSLContext]:
    """The file of a new authority's certificate, and the context of a server at ``address`` that it has signed.

    ``is_plain``: without the extensions of RFC 5280 that name keys and their use, as EKS made them.
    """
    key, its_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = _name("the authority of a test")
    known = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    constraints, usage = x509.BasicConstraints(ca=True, path_length=None), x509.KeyUsage(**_SIGNS)
    about: dict[x509.ExtensionType, bool] = {} if is_plain else {usage: True, known: False}
    ca = _certificate(issuer, issuer, key.public_key(), key, {constraints: True, **about})
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
    signed_by = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(known)
    about = {} if is_plain else {signed_by: False}
    server = _certificate(_name("a server of a test"), issuer, its_key.public_key(), key, {names: False, **about})
    pem = serialization.Encoding.PEM
    file, chain = folder / "ca.pem", folder / "server.pem"
    file.write_bytes(ca.public_bytes(pem))
    private = its_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    chain.write_bytes(private + server.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return file, context


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    signer: ec.EllipticCurvePrivateKey,
    extensions: Mapping[x509.ExtensionType, bool],
) -> x509.Certificate:
    """A certificate with extensions, each with whether it is critical; Python 3.13 asks for those of RFC 5280."""
    builder = x509.CertificateBuilder(issuer, subject, key, x509.random_serial_number(), _START, _END)
    for extension, critical in extensions.items():
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(signer, hashes.SHA256())
