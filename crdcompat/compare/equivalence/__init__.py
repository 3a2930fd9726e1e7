"""Equivalence of constraints, whichever keywords or CEL rules state them.

**The normal form.** A constraint is a formula (``formula``) in negation normal form: conjunctions, disjunctions and
counts over literals, sorted and each once. A literal says that an atom holds or does not hold. An atom is one statement
about the value at one path: it is there, it equals a scalar, it has at least a size, it is at least a number, it is a
multiple, a pattern is found in it, each of its elements satisfies a formula. Whatever has no such form is an opaque
atom: the CEL expression or the keyword itself, canonically written, with the paths that it reads.

**From CEL** (``rules``, over ``cases``, ``operators`` and ``terms``). A rule accepts a value if it evaluates to true;
false and an error both reject. So an expression becomes two formulas, when it is true and when it is false; it is an
error if neither holds. Reading an absent member is such an error. ``&&`` and ``||`` are commutative in CEL, with regard
to errors, too. White space, quotes, parentheses, the order of operands and variable names do not matter.
Macros over literal lists are unrolled; an expression with ``? :`` or optionals becomes one case per condition.

**From keywords** (``keywords``). The same atoms: ``required`` and ``has()``, ``enum`` and ``in``, ``maxLength`` and
``size()``, ``minProperties`` of an object and a count of members that are there.

**Comparison** (``entailment``, ``axioms``, ``values``). One formula follows from others if a search for values that
satisfy them, and not it, fails. That is a proof; where the search gives up, nothing is claimed. ``rewritten`` compares
the rules of two nodes, ``effective`` a changed constraint with all that the other side states about the same values
(``premises``), as far as both sides read them alike (``alike``, ``of_writer``).

**Counter-models** (``counterexamples``). Where the search succeeds, its assignment of atoms becomes a value: the
example that the servers judge.

Servers report a moved constraint in other words, and may ratchet it in another way; only the verdict on values counts
here.
"""
