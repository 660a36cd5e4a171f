#!/bin/sh
# Renders as the program in the image does, unless it is told to have a fault. A path is called as it
# is: images of operators have no program that they start with.
fault=
if [ -f /assets/manifests/fault ]; then
	read -r fault </assets/manifests/fault
fi
case "$fault" in
exit)
	echo 'the renderer gives up: there is no such feature gate' >&2
	exit 7
	;;
hang)
	echo 'the renderer waits for somebody who never comes' >&2
	exec sleep 600
	;;
nothing)
	exit 0
	;;
nonsense)
	out=
	for flag in "$@"; do
		case "$flag" in --asset-output-dir=*) out=${flag#*=} ;; esac
	done
	/bootlace "$@"
	echo 'kind: [' >"$out/manifests/ingress-config.yaml"
	exit 0
	;;
esac
case "$1" in
/*) exec "$@" ;;
*) exec /bootlace "$@" ;;
esac
