#!/bin/sh
# Takes the flags that the operator of the scheduler takes, all of them, and no others.
if [ "$1" != render ]; then
	echo "Error: unknown command: $1" >&2
	exit 1
fi
shift
image= input= output= config=
for flag in "$@"; do
	case "$flag" in
	--manifest-image=*) image=${flag#*=} ;;
	--asset-input-dir=*) input=${flag#*=} ;;
	--asset-output-dir=*) output=${flag#*=} ;;
	--config-output-file=*) config=${flag#*=} ;;
	*)
		echo "Error: unknown flag: $flag" >&2
		exit 1
		;;
	esac
done
for name in image input output config; do
	eval "value=\$$name"
	if [ -z "$value" ]; then
		echo "Error: a flag is missing: $name" >&2
		exit 1
	fi
done
/bootlace render kube-scheduler "--asset-input-dir=$input" "--asset-output-dir=$output" \
	"--manifest-image=$image" || exit
echo 'kind: KubeSchedulerConfiguration' >"$config"
