#!/bin/bash
# Run a command in a small machine at native speed: a memory group (cgroup v1 or v2) with a hard limit, its own process
# namespace, and through lxcfs a /proc/meminfo (swaps, stat, uptime) that shows the limit. A guard that reads
# /proc/meminfo sees a machine of --mem MiB without swap; the group's killer plays the kernel's. No process outside is
# visible inside, so a wrong kill cannot leave the box.
#
#   box.sh [--mem MIB=1024 | --whole] [--lxcfs DIR] -- COMMAND...
#
# --whole: no limit and the real meminfo, only the process namespace (to measure what idling costs on this machine).
# --lxcfs: an lxcfs that runs already; without it one is started for this box. Needs root, FUSE and lxcfs.
# Inside, BOX_CGROUP names the group. COMMAND itself stays outside the limit; what is to live under it joins the group
# (echo 0 > $BOX_CGROUP/cgroup.procs). BENCH_BIN: where boxinit is (default: build/bench).
set -u
mem=1024 lxcfs="" whole=0 jobs=""

die()
{
	echo "box: $*" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--mem) mem=$2; shift 2;;
	--lxcfs) lxcfs=$2; shift 2;;
	--whole) whole=1; shift;;
	--) shift; break;;
	-h|--help) sed -n '2,13p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	*) die "unknown option $1";;
	esac
done
[ $# -gt 0 ] || die "no command"
[ "$(id -u)" = 0 ] || die "must run as root: it makes control groups and namespaces"
here=$(cd "$(dirname "$0")" && pwd)

if [ $whole = 1 ]; then
	exec unshare -m -p -f --kill-child --mount-proc "$@"
fi

own_lxcfs=
if [ -z "$lxcfs" ]; then
	. "$here/lxcfs.sh"
	lxcfs_start || die "lxcfs does not start; is it installed, and is /dev/fuse there?"
	own_lxcfs=1
	lxcfs=$LXCFS_DIR
fi
[ -r "$lxcfs/proc/meminfo" ] || die "no lxcfs at $lxcfs"

if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	echo +memory > /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
	group=/sys/fs/cgroup/vigil-box.$$
	mkdir "$group" && echo "${mem}M" > "$group/memory.max" || die "cannot make a group with a limit at $group"
	echo 0 > "$group/memory.swap.max" 2>/dev/null
else
	group=/sys/fs/cgroup/memory/vigil-box.$$
	mkdir "$group" && echo "${mem}M" > "$group/memory.limit_in_bytes" || die "cannot make a group with a limit at $group"
	# What is to live under the limit has a group below, which is full 2 MiB earlier: its killer then never meets the
	# box's own first process, whose death would end the box. Version 2 allows no process in a group with children.
	echo 1 > "$group/memory.use_hierarchy" 2>/dev/null
	mkdir "$group/jobs" && echo "$((mem * 1024 - 2048))K" > "$group/jobs/memory.limit_in_bytes" || die "cannot make $group/jobs"
	jobs=$group/jobs
fi

remove_group()
{
	local try
	for try in 1 2 3 4 5 6 7 8 9 10; do # the last process is charged to its group until it has been waited for
		find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
		[ -d "$group" ] || break
		read -rt 0.2 <> <(:)
	done
	[ -z "$own_lxcfs" ] || lxcfs_stop
}
trap remove_group EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

export BOX_CGROUP=${jobs:-$group}
outside=$(dirname "$group")/cgroup.procs
[ -e /sys/fs/cgroup/cgroup.controllers ] || outside=$(dirname "$group")$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)/cgroup.procs
[ -w "$outside" ] || outside=$(dirname "$group")/cgroup.procs
(
	echo 0 > "$group/cgroup.procs"
	exec unshare -m -p -f --kill-child --mount-proc bash -c '
		lxcfs=$1 boxinit=$2 outside=$3
		shift 3
		for f in meminfo swaps stat uptime; do
			mount --bind "$lxcfs/proc/$f" "/proc/$f" || { [ $f != meminfo ] || exit 2; }
		done
		exec "$boxinit" "$outside" "$@"' box "$lxcfs" "${BENCH_BIN:-$here/../build/bench}/boxinit" "$outside" "$@"
)
