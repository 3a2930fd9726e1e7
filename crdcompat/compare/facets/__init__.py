"""One module per facet, each with its ``FACET``. A new file here is a new facet: no list names them.

The name of a module is the prefix of its kinds of change and rules: ``list-type-loosened`` is in ``list_type.py``.
"""
