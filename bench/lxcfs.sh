# Sourced: lxcfs_start mounts an lxcfs of our own (LXCFS_DIR), lxcfs_stop takes it down again.
#
# -u (swap off): on a v1 group without a memory+swap limit lxcfs computes SwapFree below zero, and what it prints then
# makes earlyoom 1.7 abort. That is a case of its own (tests), not what a race should measure.
lxcfs_start()
{
	command -v lxcfs >/dev/null && [ -e /dev/fuse ] || return 1
	LXCFS_HOME=$(mktemp -d "${TMPDIR:-/tmp}/vigil-lxcfs.XXXXXX")
	LXCFS_DIR=$LXCFS_HOME/mnt
	mkdir "$LXCFS_DIR"
	lxcfs -f -u -p "$LXCFS_HOME/pid" "$LXCFS_DIR" > "$LXCFS_HOME/log" 2>&1 &
	LXCFS_PID=$!
	local try
	for try in $(seq 100); do
		[ -r "$LXCFS_DIR/proc/meminfo" ] && return 0
		kill -0 "$LXCFS_PID" 2>/dev/null || break
		read -rt 0.1 <> <(:)
	done
	cat "$LXCFS_HOME/log" >&2
	lxcfs_stop
	return 1
}

lxcfs_stop()
{
	kill "$LXCFS_PID" 2>/dev/null
	wait "$LXCFS_PID" 2>/dev/null
	mountpoint -q "$LXCFS_DIR" && umount -l "$LXCFS_DIR"
	rm -rf "$LXCFS_HOME"
}
