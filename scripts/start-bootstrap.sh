#!/usr/bin/env bash
# start-bootstrap.sh: Start the first control plane as static pods.
#
# So far there are only files; now the kubelet is given the four static pods, and from them come
# etcd, the API server, the controller manager and the scheduler, without any cluster that could
# have scheduled them. etcd and the API server go first and have the machine to themselves; when
# the API server has made the roles of the other two, these and the version operator follow.
# Secrets go before the pods, each written under a name that begins with a dot and then renamed,
# because the kubelet runs every other file that it sees in that folder, half-written ones and
# backup copies included. cluster-bootstrap does the same with two habits that hurt: it insists
# that the files are absent, so that a start that was killed can never be started again, and on
# any failure it tears the control plane down before anybody has looked at it; ours knows its own
# files again, and leaves the evidence alone until `undo`. It also takes any answer of the API,
# even an error, for a sign of life, while we wait until `/readyz` says 200 to a client that
# checks the certificate. Images that are not pinned by digest are refused here, unless you insist
# or there are none: with `--placement process` a small supervisor takes the kubelet's place and
# runs the commands of the same pods as plain processes, all their paths below the root.
#
# It needs prepare-assets, copy-manifests, release-info, render-api, render-auth, render-config,
# render-version-operator, render-etcd, render-kube-apiserver, render-kube-controller-manager,
# render-kube-scheduler, render-ingress, render-machine-config. `bootlace run cluster --to
# render-machine-config` makes them, and so does render-all.sh.
#
# usage: scripts/start-bootstrap.sh [FLAG…] [-- FLAG…]
#   FLAG…      flags that every command of bootlace has: --root DIR, --config FILE, …
#   -- FLAG…   flags of `bootlace run` alone, such as --pause
# BOOTLACE names the program; else it is that of PATH, else target/release/bootlace.
# Data goes to stdout, progress to stderr. The exit code is that of the command that failed.
#
# Written by `cargo run -p xtask -- scripts`; changes made here are lost.
set -euo pipefail

steps=(start-control-plane)
last_need=render-machine-config

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
