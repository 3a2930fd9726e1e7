"""One module per facet, each with its ``FACET``. Adding a file here adds a facet: nothing else names them.

A module is named as its kinds of change and their rules begin: ``list-type-loosened`` is in ``list_type.py``.
"""
