"""Equivalence of constraints, whichever keywords or CEL rules state them.

**The normal form.** A constraint is a formula (``formula``) in negation normal form: conjunctions, disjunctions and
counts over literals, without order or repetition. A literal says that an atom holds or does not hold. An atom is one
statement about the value at one path: it is there, it equals a value, it has at least a size, it is at least a number,
a pattern is found in it, it is a multiple, each of its elements satisfies a formula. Whatever has no such form is an
opaque atom: the CEL expression or the keyword itself, canonically written, with the paths that it reads.

**From CEL** (``rules``, ``terms``): a rule accepts a value if it evaluates to true; false and an error both reject. So
an expression becomes two formulas, when it is true and when it is false; it is an error if neither holds. Reading an
absent member is such an error. ``&&`` and ``||`` are commutative in CEL, with regard to errors, too. An order of
evaluation, white space, quotes, parentheses and names of variables do not survive; ``!``, ``? :``, macros over literal
lists, ``size``, comparisons and ``in`` with literals become atoms.
"""
