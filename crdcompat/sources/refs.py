"""Git refs: the commit that a name refers to, and advice if there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.errors import MissingObjectsError, RefNotFoundError, SourceError
from crdcompat.sources.branches import PROJECT, Names, is_release_branch, read_names
from crdcompat.sources.fetching import fetch_commands
from crdcompat.sources.naming import is_commit_id, without_suffix

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crdcompat.sources.repository import Repository

_MAX_COMPARED = 2_000  # names that difflib compares, at 50 µs for each


class Resolved(Struct, frozen=True):
    """A commit's full id, and notes for the user on how the name was resolved."""

    commit: str
    notes: tuple[str, ...] = ()


def resolve(repo: Repository, ref: str) -> Resolved:
    """The commit of a ref: as git resolves it, else as a branch of a remote.

    Of several remotes with different commits, ``upstream`` counts. Raises RefNotFoundError, whose advice is a
    ``git fetch`` command, and SourceError (NotARepositoryError) if there is no repository.
    """
    if not _can_be_ref(ref):
        raise RefNotFoundError(ref, f"{ref!r} cannot be a git ref")
    exact = _commit(repo, ref)
    if exact is not None:
        return exact
    names = read_names(repo)
    base = without_suffix(ref)
    suffix = ref[len(base) :]
    found = {name: _commit(repo, f"refs/remotes/{name}{suffix}") for name in _in_remotes(names, base)}
    if not any(found.values()):
        raise _not_found(repo, ref, base, suffix, names)
    first, chosen = next(iter(found.items()))
    others = [name for name, each in found.items() if each != chosen]
    if chosen is None or (others and not first.startswith(f"{PROJECT}/")):
        message = f"{base} is no local branch or tag but a branch of several remotes in {repo.where}: say which, "
        raise RefNotFoundError(ref, message + " or ".join(found), tuple(found))
    differ = f", not as {' or '.join(others)}" if others else ""
    return Resolved(chosen.commit, (f"{ref} is read as {first}{suffix}{differ}",))


def merge_base(repo: Repository, a: str, b: str) -> str:
    """The merge base of two refs: their best common ancestor.

    Raises SourceError if there is none, MissingObjectsError if a shallow clone may lack it.
    """
    if _can_be_ref(a) and _can_be_ref(b):
        done = repo.run("merge-base", a, b, ok=(0, 1, 128))
        if done.returncode == 0 and is_commit_id(base := done.stdout.decode("ascii", "replace").strip()):
            return base
    first = resolve(repo, a).commit
    second = first if b == a else resolve(repo, b).commit
    if first == second:
        return first
    done = repo.run("merge-base", first, second, ok=(0, 1))
    base = done.stdout.decode("ascii", "replace").strip()
    if done.returncode == 0 and is_commit_id(base):
        return base
    problem = f"{a} and {b} have no common commit in {repo.where}"
    if repo.is_shallow:
        raise MissingObjectsError(f"{problem}: the clone is shallow", _advice(repo, (), whole=True))
    raise SourceError(f"{problem}: their histories are unrelated")


def not_found(repo: Repository, name: str) -> RefNotFoundError:
    """The error for a name of no branch and no tag, with near names and advice. Raises SourceError."""
    return _not_found(repo, name, name, "", read_names(repo))


def release_refs(repo: Repository) -> dict[str, str]:
    """The full refs of branches ``release-X.Y`` and the like by name, as ``Names.refs`` has them."""
    try:
        refs = read_names(repo).refs
    except SourceError:
        return {}
    return {name: ref for name, ref in refs.items() if is_release_branch(name)}


def branches(repo: Repository) -> tuple[str, ...]:
    """The names of all local and remote branches, each once. Raises SourceError."""
    return tuple(sorted(set(branch_spellings(repo).values())))


def tags(repo: Repository) -> tuple[str, ...]:
    """The names of all tags. Raises SourceError."""
    return tuple(sorted(read_names(repo).tags))


def name_at(repo: Repository, commit: str) -> str:
    """The branch, else the tag, that ends at a commit, a release before others; "" if there is none."""
    names = read_names(repo, f"--points-at={commit}")
    found = (*names.local, *(branch for _, branch in names.remote), *names.tags)
    return next((name for name in found if is_release_branch(name)), found[0] if found else "")


def branch_spellings(repo: Repository) -> dict[str, str]:
    """All branches by each name that git accepts, with and without the name of the remote. Raises SourceError.

    ``release-4.13`` and ``origin/release-4.13`` are both spellings of ``release-4.13``; a local branch has precedence.
    """
    names = read_names(repo)
    own = {name: name for name in (*names.local, *(branch for _, branch in names.remote))}
    spelled = {f"{remote}/{branch}": branch for remote, branch in names.remote} | own
    return dict(sorted(spelled.items()))


def _can_be_ref(text: str) -> bool:
    return bool(text) and not text.startswith(("-", "^")) and all(ord(char) >= 32 for char in text)


def _commit(repo: Repository, ref: str) -> Resolved | None:
    done = repo.run("rev-parse", "--verify", f"{ref}^{{commit}}", ok=(0, 1, 128))
    commit = done.stdout.decode("ascii", "replace").strip()
    if done.returncode != 0 or not is_commit_id(commit):
        return None
    ambiguous = b"is ambiguous" in done.stderr
    notes = (f"{ref} is the name of several refs: read as git reads it, tags first",) if ambiguous else ()
    return Resolved(commit, notes)


def _in_remotes(names: Names, branch: str) -> list[str]:
    """The names with remote of a branch in all remotes that have it, ``upstream`` first."""
    found = [f"{remote}/{name}" for remote, name in names.remote if name == branch]
    return sorted(found, key=lambda name: not name.startswith(f"{PROJECT}/"))


def _not_found(repo: Repository, ref: str, base: str, suffix: str, names: Names) -> RefNotFoundError:
    remote_names = tuple(f"{remote}/{branch}" for remote, branch in names.remote)
    near = _near(base, names)
    if suffix and base in (*names.local, *names.tags, *remote_names, "HEAD", ""):
        problem = f"{ref}: {base or 'HEAD'} exists in {repo.where}, but its history does not reach that far"
        return RefNotFoundError(ref, problem, near, _advice(repo, (), whole=True) if repo.is_shallow else "")
    problem = f"no branch, tag or commit {ref} in {repo.where}"
    like = f"\nnames like it: {', '.join(near)}" if near else ""
    return RefNotFoundError(ref, problem + like, near, _advice(repo, (base,), whole=False))


def _advice(repo: Repository, refs: Sequence[str], *, whole: bool) -> str:
    line = fetch_commands(repo, refs, whole=whole)
    if not line:
        return "the repository has no remote to fetch it from"
    return f"to get {'more history' if whole else 'it'}: {line}"


def _near(wanted: str, names: Names) -> tuple[str, ...]:
    """The names most similar to ``wanted``; a remote branch is compared also without its remote."""
    from difflib import get_close_matches

    shown = {branch: f"{remote}/{branch}" for remote, branch in reversed(names.remote)}
    shown |= {name: name for name in (*shown.values(), *names.tags, *names.local)}
    pool = sorted(shown)
    if len(pool) > _MAX_COMPARED:
        start = wanted.rpartition("/")[2][:3].lower()
        pool = [name for name in pool if start in name.lower()][:_MAX_COMPARED]
    return tuple(dict.fromkeys(shown[name] for name in get_close_matches(wanted, pool, n=4, cutoff=0.6)))


def is_untracked(repo: Repository, file: Path) -> bool:
    """Whether a file lies in the repository's working tree, but git does not track it. Raises SourceError."""
    named = repo.run("ls-files", "--others", "-z", "--", str(file.absolute()), ok=(0, 128))
    return bool(named.stdout)
