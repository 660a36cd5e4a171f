#!/usr/bin/env bash
# render-mco.sh: Render what further machines are told at their first boot.
#
# Further machines know almost nothing at their first boot: an address, and the authority to trust
# there. They ask that address for everything else, files, units, the kubelet's settings, and this
# step renders the answers: for each role one machine config, merged with those that you brought,
# sorted by name, so that a later one wins, and a pool that names the result. The answer must be
# equal to what the cluster computes for itself later: if one of your manifests reaches only one
# of the two, each machine is found to be degraded the moment it joins, with the message that its
# rendered config was not found. In OpenShift the machine-config operator takes single files by
# name, not a folder, and bootkube.sh then copies the whole manifests folder beside them for the
# server's own computation, and starts the server as a pod; ours is `bootlace serve`, which reads
# the same layout and adds a machine's first credentials only when it hands a config out. The
# server's certificate comes from an authority of its own, and only that authority's certificate
# is given to machines, never its key; machines that were prepared with another set of assets
# refuse the server, and rightly so.
#
# It needs prepare-assets, copy-manifests, release-info, render-config. `bootlace run cluster --to
# render-config` makes them, and so does render-all.sh.
#
# usage: scripts/render-mco.sh [FLAG…] [-- FLAG…]
#   FLAG…      flags that every command of bootlace has: --root DIR, --config FILE, …
#   -- FLAG…   flags of `bootlace run` alone, such as --pause
# BOOTLACE names the program; else it is that of PATH, else target/release/bootlace.
# Data goes to stdout, progress to stderr. The exit code is that of the command that failed.
#
# Written by `cargo run -p xtask -- scripts`; changes made here are lost.
set -euo pipefail

steps=(render-machine-config)
last_need=render-config

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
