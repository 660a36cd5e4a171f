# Prints all of a machine that must be as it was once a run is taken back: one line a thing, the kind first.
# Journals stay for whoever asks later, containerd's store is compared by what it lists, and systemd keeps
# its clocks and seeds.
export LC_ALL=C
cd /

trees() {
    find /etc /opt /var/lib -xdev \
        \( -path /var/lib/bootlace -o -path /var/lib/containerd -o -path /var/lib/systemd \) -prune -o "$@"
}
trees -printf 'file %p is %y %m %U:%G %l\n'
trees -type f -exec sha256sum {} + | awk '{ print "content of", $2, "is", $1 }'
# Logs may differ, but a folder that was not there is more than a log.
find /var/log /run -mindepth 1 -maxdepth 1 -type d ! -empty -printf 'folder %p\n'

systemctl list-unit-files --no-legend --no-pager | awk '{ print "unit file", $1, "is", $2 }'
# Targets are left out: they only order others, and one that was reached once stays reached.
systemctl list-units --all --plain --no-legend --no-pager --type=service,socket |
    awk '{ print "unit", $1, "is", $2, $3 }'

ctr --namespace k8s.io images list --quiet | sed 's/^/image /'
ctr --namespace k8s.io containers list --quiet | sed 's/^/container /'

awk '{ print "mount", $5 }' /proc/self/mountinfo
ss -Hlntu | awk '{ print "port", $1, $5 }'
nft list tables 2>/dev/null
ip -o link | awk -F ': ' '{ print "interface", $2 }'
ip -o -4 route show table all | sed 's/^/route /'
find /sys/fs/cgroup -type d -name 'kubepods*' -printf 'cgroup %p\n' 2>/dev/null
for process in /proc/[0-9]*; do
    name=$(cat "$process/comm" 2>/dev/null) || continue
    case $name in sh | awk | sed | cat | find | sort) ;; *) echo "process $name" ;; esac
done
