#!/usr/bin/env bash
# render-etcd.sh: Render the first member of etcd.
#
# Everything that a cluster knows is in etcd, and the API server does not start without it, so a
# first member must run before there is an API that could start it: as a static pod, a file that
# the kubelet runs without asking anybody. bootkube.sh copies that file straight into the
# kubelet's folder, so that etcd starts in the middle of the rendering and keeps running when a
# later render fails; here nothing starts before `start-control-plane`. OpenShift's operator looks
# at the machine while it renders, at its name and at its address inside the machine network, and
# makes etcd's certificates on the way, so that its output differs from run to run: rendered again
# beside an etcd that already runs, it makes an authority that the running one does not know. The
# built-in renderer is pure: certificates come from `prepare-assets`, names from the config, and
# the same input gives the same bytes. How many members there shall be in the end stands in a
# small object beside it, and whoever adds members reads it there. OpenShift's operator also needs
# flags that only its own version knows, which is why script and image must come from one release.
#
# It needs prepare-assets, release-info, render-api. `bootlace run cluster --to render-api` makes
# them, and so does render-all.sh.
#
# usage: scripts/render-etcd.sh [FLAG…] [-- FLAG…]
#   FLAG…      flags that every command of bootlace has: --root DIR, --config FILE, …
#   -- FLAG…   flags of `bootlace run` alone, such as --pause
# BOOTLACE names the program; else it is that of PATH, else target/release/bootlace.
# Data goes to stdout, progress to stderr. The exit code is that of the command that failed.
#
# Written by `cargo run -p xtask -- scripts`; changes made here are lost.
set -euo pipefail

steps=(render-etcd)
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
