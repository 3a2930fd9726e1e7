"""Values that a schema may accept, made from what it states, and whether they are all that matter.

They are candidates: a caller asks the server (`apiserver`) about a value before it claims anything of it.
"""
