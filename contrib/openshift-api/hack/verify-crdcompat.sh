#!/usr/bin/env bash

# Compare the CRDs of this change with their merge base, and with the releases that a rollback may go to.
# .crdcompat.yaml names these releases.

set -o errexit
set -o nounset
set -o pipefail

SCRIPT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CRDCOMPAT=${CRDCOMPAT:-crdcompat}
CRDCOMPAT_URL=${CRDCOMPAT_URL:-https://github.com/openshift/api}
CRDCOMPAT_BRANCH=${CRDCOMPAT_BRANCH:-master}

if ! command -v "${CRDCOMPAT}" > /dev/null; then
  echo "There is no ${CRDCOMPAT} command. Install it with pipx from a checkout of crdcompat, or name it in CRDCOMPAT." >&2
  exit 2
fi

cd "${SCRIPT_ROOT}"

# By address: a clone calls this repository origin, a clone of a fork upstream, and a clone of CI has no remote.
git fetch --quiet "${CRDCOMPAT_URL}" \
  "+refs/heads/${CRDCOMPAT_BRANCH}:refs/remotes/upstream/${CRDCOMPAT_BRANCH}" \
  "+refs/heads/release-*:refs/remotes/upstream/release-*" || exit 2

# In CI, crdcompat takes the base from PULL_BASE_SHA.
args=()
if [ -n "${COMPARISON_BASE:-}" ]; then
  args+=(--base "${COMPARISON_BASE}")
elif [ -z "${PULL_BASE_SHA:-}" ]; then
  args+=(--base "upstream/${CRDCOMPAT_BRANCH}")
fi
if [ -n "${ARTIFACT_DIR:-}" ]; then
  args+=(--format text --format "junit=${ARTIFACT_DIR}/junit_crdcompat.xml")
fi

exec "${CRDCOMPAT}" check ${args[@]+"${args[@]}"}
