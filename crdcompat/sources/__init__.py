"""Sources of CRDs and objects: git refs, the index, the working tree, directories, files, recordings, clusters."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crdcompat.errors import RefNotFoundError, SourceError
from crdcompat.sources.kinds import Kind, Source, named_source, unknown_prefix
from crdcompat.sources.source_options import limit_requests as limit_requests
from crdcompat.sources.urls import is_http, public_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdcompat.sources.catalog import Package
    from crdcompat.sources.cluster import ClusterTree
    from crdcompat.sources.tree import Tree


def open_source(text: str, *, repo: str | None = None) -> Tree:
    """Open the source of a set of CRDs.

    ``text`` is a prefix of `Kind` and a name (``git:REF``, ``helm:CHART``, …), a URL, or a bare word. A bare word is a
    ref if ``repo`` (else the current directory's repository) has it, else a path; if both exist, it is the ref, and the
    tree has a note. The content of a path or a URL without a prefix decides its kind. Raises UsageError,
    RefNotFoundError, SourceError.
    """
    source = named_source(text)
    return _with_redirect(source, _OPENERS[source.kind](source, repo))


def open_objects(text: str, *, repo: str | None = None) -> Tree:
    """Open the source of recorded objects: a path, a URL, ``-``, or any form of `open_source` with its prefix.

    Raises UsageError, RefNotFoundError, SourceError.
    """
    source = named_source(text)
    if source.kind is Kind.CLUSTER:
        return _cluster(source.name, source.rest)
    if source.kind in (Kind.ANY, Kind.PATH, Kind.RECORDING, Kind.ARCHIVE):
        return _with_redirect(source, _all_files(source))
    return open_source(text, repo=repo)


def _with_redirect(source: Source, tree: Tree) -> Tree:
    """The tree of a source, with a note if its URL is redirected to another host."""
    if source.is_remote and is_http(source.rest):
        from crdcompat.sources.remote import came_from

        if address := came_from(source.path):
            note = f"{source.name}: the server sent the reader to {public_name(address)}, which got no credentials"
            tree.notes = (*tree.notes, note)
    return tree


def _any(source: Source, repo: str | None) -> Tree:
    return _of_content(source) if source.is_remote else _bare_word(source, repo)


def _bare_word(source: Source, repo: str | None) -> Tree:
    text = source.rest
    if not source.can_be_ref:
        return _of_content(source)
    is_path = _exists(text) or ("#" in text and _exists(source.path))
    try:
        tree = _git_tree(source, repo)
    except RefNotFoundError as error:
        if is_path:
            return _of_content(source)
        problem = f"{error.problem}\nand there is no such path either{unknown_prefix(text)}"
        raise RefNotFoundError(error.ref, problem, error.near, error.advice) from None
    except SourceError as error:
        if is_path and repo is None:
            return _of_content(source)
        if is_path:
            raise
        raise SourceError(f"{text} is no path{unknown_prefix(text)}; as a git ref: {error}") from None
    if is_path:
        tree.notes = (
            *tree.notes,
            f"{text} is a git ref and a path: read as the ref (path:{text} is the path)",
        )
    return tree


def _git_tree(source: Source, repo: str | None) -> Tree:
    from crdcompat.sources.git import GitTree
    from crdcompat.sources.refs import resolve
    from crdcompat.sources.repository import Repository

    repository = Repository(repo)
    resolved = resolve(repository, source.rest)
    return GitTree(repository, source.name, resolved.commit, resolved.notes)


def _from_repository(source: Source, repo: str | None) -> Tree:
    from crdcompat.sources.git import IndexTree, WorktreeTree
    from crdcompat.sources.repository import Repository

    kind = IndexTree if source.kind is Kind.INDEX else WorktreeTree
    tree: IndexTree | WorktreeTree = kind(Repository(repo), source.name)
    tree.entries()  # raises at once if there is no repository
    return tree


def _empty(source: Source, _: str | None) -> Tree:
    from crdcompat.sources.tree import EmptyTree

    return EmptyTree(source.name)


def _cluster_crds(source: Source, _: str | None) -> Tree:
    return _crds_of_cluster(_cluster(source.name, source.rest))


def _of_content(source: Source) -> Tree:
    """Open a path or a URL as a source of the kind that its content shows."""
    from crdcompat.sources.detect import kind_of

    return _OPENERS[kind_of(source)](source, None)


def _chart(source: Source, _: str | None) -> Tree:
    from crdcompat.sources.helm import chart_tree

    return chart_tree(source.name, source.rest, _all_files(source))


def _kustomization(source: Source, _: str | None) -> Tree:
    from crdcompat.sources.kustomize import kustomize_tree

    return kustomize_tree(source.name, source.rest)


def _bundle(source: Source, _: str | None) -> Tree:
    from crdcompat.sources.bundle import bundle_tree

    return bundle_tree(source.name, _all_files(source))


def _catalog(source: Source, _: str | None) -> Tree:
    from crdcompat.sources.catalog import catalog_tree

    package, _, version = source.part.partition("@")
    return catalog_tree(source.name, _all_files(source), package, version)


def _image(source: Source, _: str | None) -> Tree:
    from crdcompat.sources.oci import image_tree

    return image_tree(source.name, source.path, source.part)


def _files(source: Source, _: str | None) -> Tree:
    tree = _all_files(source)
    return _crds_of(tree) if _is_archive(tree) else tree


def _recording(source: Source, _: str | None) -> Tree:
    return _crds_of(_all_files(source))


def _is_archive(tree: Tree) -> bool:
    from crdcompat.sources.archive import ArchiveTree

    return isinstance(tree, ArchiveTree)


def _all_files(source: Source) -> Tree:
    """Open a path or a URL with all its files: an archive, a directory, a file, or standard input."""
    from crdcompat.sources.archive import NAMED, ArchiveTree, is_archive, starts_archive
    from crdcompat.sources.files import PathTree
    from crdcompat.sources.unpack import peekable

    path = source.path if source.kind is Kind.CATALOG or not _exists(source.rest) else source.rest
    if path == "-":
        file = peekable(sys.stdin.buffer)
        is_packed = starts_archive(io.BytesIO(file.peek()))
        return ArchiveTree(source.name, path, file=file) if is_packed else PathTree(source.name, path, file=file)
    tree: Tree
    if source.is_remote:
        from crdcompat.sources.remote_tree import RemoteTree, is_remote_archive

        is_packed, tree = is_remote_archive(path), RemoteTree(source.name, path)
    else:
        is_packed, tree = is_archive(path), PathTree(source.name, path)
    if is_packed:
        return ArchiveTree(source.name, path)
    if source.kind is Kind.ARCHIVE:
        raise SourceError(f"{source.name}: no archive: {NAMED} is expected")
    tree.entries()
    return tree


def _crds_of(recording: Tree) -> Tree:
    from crdcompat.sources.recording import CrdTree, may_hold_crds

    return CrdTree(recording, may_hold_crds)


def _crds_of_cluster(cluster: ClusterTree) -> Tree:
    from crdcompat.sources.recording import CrdTree, holds_crds

    return CrdTree(cluster, holds_crds, cluster.server_version())


def open_package(text: str) -> tuple[Package, str] | None:
    """The package of ``catalog.yaml#PACKAGE`` or ``#PACKAGE/CHANNEL``, and the channel; None for other sources.

    Raises SourceError and UsageError for a catalog that cannot be read, or has no such package.
    """
    source = named_source(text)
    is_local = not _exists(source.rest) and _exists(source.path)  # the name of a folder may hold "#", too
    may_be = source.kind is Kind.CATALOG or (source.kind is Kind.ANY and (source.is_remote or is_local))
    if not may_be or not source.part or "@" in source.part:
        return None
    from crdcompat.sources.catalog import read_package
    from crdcompat.sources.memory import held_files

    tree = _all_files(source)
    package, _, channel = source.part.partition("/")
    return read_package(source.name, held_files(tree, lambda _: True), package, tree.problems), channel


def open_cluster(context: str) -> ClusterTree:
    """Open the cluster of a kubeconfig context, to read its CRDs and its objects. Raises UsageError, SourceError."""
    return _cluster(f"cluster:{context}", context)


def _cluster(name: str, context: str) -> ClusterTree:
    from crdcompat.sources.cluster import ClusterTree
    from crdcompat.sources.cluster_client import Timeouts
    from crdcompat.sources.source_options import current_options

    asked = current_options()
    return ClusterTree(name, context, Timeouts(asked.connect_timeout, asked.read_timeout))


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


#: Opens a source of a kind; the repository has the refs (None: the current directory's).
_OPENERS: dict[Kind, Callable[[Source, str | None], Tree]] = {
    Kind.ANY: _any,
    Kind.GIT: _git_tree,
    Kind.INDEX: _from_repository,
    Kind.WORKTREE: _from_repository,
    Kind.EMPTY: _empty,
    Kind.PATH: _files,
    Kind.RECORDING: _recording,
    Kind.CLUSTER: _cluster_crds,
    Kind.ARCHIVE: _recording,
    Kind.HELM: _chart,
    Kind.KUSTOMIZE: _kustomization,
    Kind.BUNDLE: _bundle,
    Kind.CATALOG: _catalog,
    Kind.OCI: _image,
}
