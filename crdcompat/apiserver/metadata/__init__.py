"""ObjectMeta: decoding, validation, and the rules for names."""

from crdcompat.apiserver.metadata.decoding import decode_object_meta, undecodable
from crdcompat.apiserver.metadata.object_names import dns1035_label_errors
from crdcompat.apiserver.metadata.validation import name_of_new, validate_create, validate_embedded, validate_update

__all__ = [
    "decode_object_meta",
    "dns1035_label_errors",
    "name_of_new",
    "undecodable",
    "validate_create",
    "validate_embedded",
    "validate_update",
]
