#!/usr/bin/env bash
# helm crdcompat upgrade-check RELEASE CHART [options of helm template] [-- options of crdcompat diff]
#
# OLD is what the release has in the cluster: the manifests that Helm rendered, and the CRDs that the chart has in crds/.
# A stored release lacks those of subcharts, and Helm never replaces them: the cluster's own count. NEW is the chart,
# rendered with the values of the release.
set -o errexit -o nounset -o pipefail

usage="Usage: helm crdcompat upgrade-check RELEASE CHART [options of helm template] [-- options of crdcompat diff]"
if [ "${1:-}" != upgrade-check ] || [ $# -lt 3 ]; then
  echo "$usage" >&2
  exit 2
fi
release=$2 chart=$3
shift 3
options=() source=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  options+=("$1")
  case $1 in # where the chart comes from: the options that helm show knows, too
    --version | --repo | --username | --password | --ca-file | --cert-file | --key-file | --keyring)
      source+=("$1" "${2:-}") options+=("${2:-}") && shift
      ;;
    --version=* | --repo=* | --username=* | --password=* | --ca-file=* | --cert-file=* | --key-file=* | --keyring=* | \
      --devel | --verify | --plain-http | --insecure-skip-tls-verify | --pass-credentials) source+=("$1") ;;
  esac
  shift
done
[ $# -eq 0 ] || shift

helm=${HELM_BIN:-helm}
kubectl=(kubectl)
[ -z "${HELM_KUBECONTEXT:-}" ] || kubectl+=(--context "$HELM_KUBECONTEXT")
for program in kubectl "${CRDCOMPAT:=crdcompat}"; do
  command -v "$program" >/dev/null || { echo "helm crdcompat needs $program in PATH" >&2; exit 2; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{installed,upgraded}/{templates,crds}
what() { # what PROGRAM ARGUMENTS...: a failure of helm or kubectl is no verdict
  "$@" || exit 2
}
what "$helm" get all "$release" \
  --template $'name: {{.Release.Chart.Metadata.Name}}\nversion: "{{.Release.Chart.Metadata.Version}}"\n' \
  >"$work/installed/Chart.yaml"
what "$helm" get manifest "$release" >"$work/installed/templates/manifest.yaml"
what "$helm" get values "$release" --output yaml >"$work/values.yaml"
what "$helm" show chart "$chart" ${source[@]+"${source[@]}"} >"$work/chart"
grep -E '^(name|version):' "$work/chart" >"$work/upgraded/Chart.yaml"
what "$helm" template "$release" "$chart" --is-upgrade --include-crds --values "$work/values.yaml" \
  ${options[@]+"${options[@]}"} >"$work/rendered"
# By the comment that Helm writes before each document. `helm show crds` of Helm 3 puts nothing between two of them.
awk -v templates="$work/upgraded/templates/manifest.yaml" -v crds="$work/upgraded/crds/crds.yaml" '
  /^# Source: / { to = /\/crds\// && !/\/templates\// ? crds : templates; print "---" >to }
  to { print >to }
' "$work/rendered"
if [ -s "$work/upgraded/crds/crds.yaml" ]; then
  what "${kubectl[@]}" get --filename "$work/upgraded/crds/crds.yaml" --ignore-not-found --output name >"$work/names"
  while read -r name; do
    what "${kubectl[@]}" get "$name" --output yaml </dev/null >"$work/one"
    # Without its uid: CRDs with one are those of a cluster, which has the CRDs of many charts.
    { echo ---; grep -v '^  uid: ' "$work/one"; } >>"$work/installed/crds/crds.yaml"
  done <"$work/names"
fi

cd "$work"
"$CRDCOMPAT" diff installed upgraded "$@"
