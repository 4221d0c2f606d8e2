#!/bin/bash
# For unit.sh --here, as root: systemd as the first process of namespaces of this machine, with the root image of tests/vm and
# the controllers of version 1, instead of an emulated machine. Limits, filters and mounts of the unit are real; the
# kernel and its processors are this machine's.
#   unit_here.sh WORK COMMAND...     WORK: the folder that the emulated machine would have as /w; COMMAND runs inside
set -eu
work=$1
shift
image=${VIGIL_VM_DIR:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vigil-vm}
root=$work/root box=vigil-unit-$$
controllers="memory pids cpu cpuacct freezer systemd"
[ "$(id -u)" = 0 ] || { echo "unit_here: this needs root" >&2; exit 2; }
[ -f "$image/root.ext4" ] || "$(dirname "$0")/../tests/vm/build-image.sh" --out "$image" >&2
mkdir -p "$root"
cp --sparse=always "$image/root.ext4" "$work/root.ext4"
mount -o loop "$work/root.ext4" "$root"

clean()
{
	[ -n "${init:-}" ] && kill -KILL "$init" 2> /dev/null
	wait 2> /dev/null
	umount "$root"
	for c in $controllers; do
		find "/sys/fs/cgroup/$c/$box" -depth -type d -exec rmdir {} \; 2> /dev/null || :
	done
}
trap clean EXIT

begin()
{
	for c in $controllers; do
		mkdir -p "/sys/fs/cgroup/$c/$box"
		echo "$BASHPID" > "/sys/fs/cgroup/$c/$box/cgroup.procs"
	done
	exec unshare --mount --pid --fork --kill-child --cgroup --uts --ipc --net bash -euc '
	root=$1 work=$2
	hostname unit
	mount --make-rprivate /
	mount -t proc proc "$root/proc"
	mount -t sysfs sysfs "$root/sys"
	for d in sys/fs/cgroup dev run tmp; do mount -t tmpfs -o mode=755 tmpfs "$root/$d"; done
	for c in memory pids cpu cpuacct freezer; do
		mkdir "$root/sys/fs/cgroup/$c"
		mount -t cgroup -o "$c" cgroup "$root/sys/fs/cgroup/$c"
	done
	mkdir "$root/sys/fs/cgroup/systemd"
	mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
	for d in null zero full random urandom tty kmsg; do
		touch "$root/dev/$d"
		mount --bind "/dev/$d" "$root/dev/$d"
	done
	mkdir -p "$root/dev/pts" "$root/dev/shm" "$root/w"
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
	mount -t tmpfs tmpfs "$root/dev/shm"
	ln -s pts/ptmx "$root/dev/ptmx"
	ln -s /proc/self/fd "$root/dev/fd"
	mount --bind "$work" "$root/w"
	ip link set lo up || :
	cd "$root"
	mkdir -p vm/old
	pivot_root . vm/old
	umount -l /vm/old
	exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --show-status=no < /dev/null > /dev/null 2>&1
	' unit "$root" "$work"
}

begin 2> /dev/null &
starter=$!
init=""
for _ in $(seq 200); do
	init=$(pgrep -P "$starter" -f '^/lib/systemd/systemd --system' || :)
	[ -n "$init" ] && nsenter -t "$init" -a systemctl is-system-running 2> /dev/null | grep -qE 'running|degraded' && break
	sleep 0.1
done
[ -n "$init" ] || { echo "unit_here: systemd has not started" >&2; exit 1; }
nsenter -t "$init" -a "$@"
