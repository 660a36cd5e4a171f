#!/usr/bin/env bash
# render-cvo.sh: Render the version operator.
#
# A release is a set of manifests and images that belong together, and something must hold the
# cluster to that set, today and at the next update: the version operator. Its own manifests are
# rendered here, with the pod that runs it during the bootstrap; those of all other components
# stay in the release and are applied by the operator once the API answers, although descriptions
# of bootkube.sh often say that they are rendered in this stage, so here they are only checked and
# listed, by run level, in `payload.txt`. In OpenShift the release image is the version operator,
# so no other image is asked; in plain Kubernetes `bootlace version-operator` takes its place and
# does the same with our manifests. It is also told which objects to leave alone for now, because
# you brought manifests of your own for them, and `restore-overrides` ends that later; a
# ClusterVersion among your manifests is kept, and what the bootstrap needs is added to it. The
# deployment waits in the output folder until then, speaks to the API at this machine's address,
# since the service network comes only with the release, and tolerates nodes that are not ready,
# because it is what makes them ready. bootkube.sh hides a second act in this stage, it installs
# the loopback kubeconfig for the machine; ours does that in `start-control-plane`, where it
# belongs.
#
# It needs prepare-assets, copy-manifests, release-info, render-api. `bootlace run cluster --to
# render-api` makes them, and so does render-all.sh.
#
# usage: scripts/render-cvo.sh [FLAG…] [-- FLAG…]
#   FLAG…      flags that every command of bootlace has: --root DIR, --config FILE, …
#   -- FLAG…   flags of `bootlace run` alone, such as --pause
# BOOTLACE names the program; else it is that of PATH, else target/release/bootlace.
# Data goes to stdout, progress to stderr. The exit code is that of the command that failed.
#
# Written by `cargo run -p xtask -- scripts`; changes made here are lost.
set -euo pipefail

steps=(render-version-operator)
last_need=render-api

here=$(cd "$(dirname "$0")" && pwd)

say() {
  printf '\n==> %s\n' "$1" >&2
}

everywhere=()
verbose=(-v)
while (($# > 0)) && [[ $1 != -- ]]; do
  case $1 in
    -h | --help)
      sed -n '1d; /^set /q; s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -v | --verbose | -q | --quiet) verbose=() ;;
  esac
  everywhere+=("$1")
  shift
done
for_run=("${@:2}")

bootlace=${BOOTLACE:-$(command -v bootlace || echo "$here/../target/release/bootlace")}
if ! command -v "$bootlace" >/dev/null; then
  say "there is no program $bootlace: \`make release\` builds one, BOOTLACE names another"
  exit 4
fi

# Says what could be missing, and keeps the code.
ended() {
  if (($1 == 4)) && [[ -n $last_need ]]; then
    flags=''
    for flag in "${everywhere[@]}"; do
      flags+=$(printf ' %q' "$flag")
    done
    say "if an earlier step is missing, type: $bootlace run cluster --to $last_need$flags"
    printf '    or, for all that can be rendered: %s/render-all.sh%s\n' "$here" "$flags" >&2
  fi
  exit "$1"
}

# Explains one step, shows its commands, runs it alone, validates it and shows its journal.
stage() {
  say "$1: why it exists, and what will be checked"
  "$bootlace" explain cluster --only "$1" "${everywhere[@]}"
  say "$1: what it does here, line by line"
  "$bootlace" plan cluster --only "$1" "${verbose[@]}" "${everywhere[@]}"
  say "$1: run it, and nothing else"
  "$bootlace" run cluster --only "$1" "${everywhere[@]}" "${for_run[@]}" || ended $?
  say "$1: validate what it left"
  "$bootlace" verify cluster --only "$1" "${everywhere[@]}"
  say "$1: what the journal says of it"
  "$bootlace" log cluster --only "$1" "${everywhere[@]}"
}

for step in "${steps[@]}"; do
  stage "$step"
done
say "done: ${steps[*]}"
