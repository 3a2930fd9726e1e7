"""The functions of ``import crdcompat``: load CRDs and objects, compare, check, replay, judge.

Each function imports its workflow when it is called. All errors are subclasses of ``crdcompat.errors.CrdcompatError``:
UsageError (an argument), ConfigError (a configuration or waiver file), SourceError (input that cannot be read) and
RefNotFoundError (a SourceError: a git ref that does not exist).

A source is a text: ``git:REF``, ``index:``, ``worktree:``, ``path:P``, ``recording:P``, ``cluster:CONTEXT``, or a bare
ref or path; a bare text that could be both is the ref. ``repo`` is the git repository, None: that of the current
directory.
"""

from crdcompat.api.comparing import baseline as baseline
from crdcompat.api.comparing import check as check
from crdcompat.api.comparing import diff as diff
from crdcompat.api.comparing import load_crds as load_crds
from crdcompat.api.comparing import load_objects as load_objects
from crdcompat.api.comparing import matrix as matrix
from crdcompat.api.comparing import suggest_patch as suggest_patch
from crdcompat.api.comparing import waive as waive
from crdcompat.api.server_answers import judge as judge
from crdcompat.api.server_answers import judge_crd as judge_crd
from crdcompat.api.server_answers import simulate as simulate
