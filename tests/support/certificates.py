"""A certificate authority for servers on the loopback."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_START = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
_END = datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC)


def authority(folder: Path, address: str = "127.0.0.1") -> tuple[Path, ssl.SSLContext]:
    """The file of a new authority's certificate, and the context of a server at ``address`` that it has signed."""
    key, its_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = _name("the authority of a test")
    ca = _certificate(issuer, issuer, key.public_key(), key, x509.BasicConstraints(ca=True, path_length=None))
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
    server = _certificate(_name("a server of a test"), issuer, its_key.public_key(), key, names)
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
    extension: x509.ExtensionType,
) -> x509.Certificate:
    builder = x509.CertificateBuilder(issuer, subject, key, x509.random_serial_number(), _START, _END)
    return builder.add_extension(extension, critical=False).sign(signer, hashes.SHA256())
