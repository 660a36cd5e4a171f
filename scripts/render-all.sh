#!/usr/bin/env bash
# render-all.sh: Render everything that a cluster is made of, one stage after the other.
#
#   prepare-assets                  Make keys, certificates and kubeconfigs
#   copy-manifests                  Check your own manifests and copy them into the assets
#   release-info                    Find out which images the cluster is made of
#   render-api                      Render the definitions of our kinds, and the API server that begins
#   render-auth                     Render who may ask the new API for what
#   render-config                   Render the configuration of the cluster as a whole
#   render-version-operator         Render the version operator
#   render-etcd                     Render the first member of etcd
#   render-kube-apiserver           Render the first API server
#   render-kube-controller-manager  Render the first controller manager
#   render-kube-scheduler           Render the first scheduler
#   render-ingress                  Render what ingress needs
#   render-machine-config           Render what further machines are told at their first boot
#
# usage: scripts/render-all.sh [FLAG…] [-- FLAG…]
#   FLAG…      flags that every command of bootlace has: --root DIR, --config FILE, …
#   -- FLAG…   flags of `bootlace run` alone, such as --pause
# BOOTLACE names the program; else it is that of PATH, else target/release/bootlace.
# Data goes to stdout, progress to stderr. The exit code is that of the command that failed.
#
# Written by `cargo run -p xtask -- scripts`; changes made here are lost.
set -euo pipefail

steps=(
  prepare-assets
  copy-manifests
  release-info
  render-api
  render-auth
  render-config
  render-version-operator
  render-etcd
  render-kube-apiserver
  render-kube-controller-manager
  render-kube-scheduler
  render-ingress
  render-machine-config
)
last_need=

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
