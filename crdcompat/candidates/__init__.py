"""Values that a schema may accept, made from what it states, and whether they are all that matter.

They are candidates: whoever claims something of a value asks the server (`apiserver`) first.
"""
