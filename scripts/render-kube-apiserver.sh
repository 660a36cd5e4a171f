#!/usr/bin/env bash
# render-kube-apiserver.sh: Render the first API server.
#
# The API server is the only component that talks to etcd and the one that all others talk to, so
# most of a bootstrap is about bringing the first one up. It needs to know where etcd is and which
# authority vouches for it, hence this render comes after that of etcd; OpenShift makes those
# certificates only there, kubeadm and ours make them beforehand. Its flags must agree with the
# certificates: the names that clients call it by, the range from which services get addresses,
# and the key that signs the tokens of pods are all decided in `prepare-assets` and only pointed
# at here. In plain Kubernetes its files are mounted from the places where they stay, so that it
# need not be replaced at the hand-over, and its flags are those of kubeadm but for one: a file,
# not a switch, says what strangers may see. OpenShift's operator makes one more signing key while
# it renders, in the input folder, if there is none; a render that changes its input cannot be
# repeated with the same result, so our record lists that file too. If the operator answers
# `unknown flag`, script and image are of different releases.
#
# It needs prepare-assets, release-info, render-api, render-etcd. `bootlace run cluster --to
# render-etcd` makes them, and so does render-all.sh.
#
# usage: scripts/render-kube-apiserver.sh [FLAG…] [-- FLAG…]
#   FLAG…      flags that every command of bootlace has: --root DIR, --config FILE, …
#   -- FLAG…   flags of `bootlace run` alone, such as --pause
# BOOTLACE names the program; else it is that of PATH, else target/release/bootlace.
# Data goes to stdout, progress to stderr. The exit code is that of the command that failed.
#
# Written by `cargo run -p xtask -- scripts`; changes made here are lost.
set -euo pipefail

steps=(render-kube-apiserver)
last_need=render-etcd

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
