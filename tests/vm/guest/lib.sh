# Sourced by what runs inside the throw-away machine. $BIN holds the helper programs (hog, …).
BIN=${BIN:-/b}
export PATH=$BIN:$PATH

# wait_for SECONDS COMMAND...: true as soon as the command is, false when the time is up
wait_for()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		read -rt 0.1 <> <(:) || : # a tenth of a second without starting a process
	done
}

is_inactive() { ! systemctl is-active -q "$1"; }
gone() { ! kill -0 "$1" 2>/dev/null; }

# oomd_conf LINES: start systemd-oomd afresh with these settings
oomd_conf()
{
	mkdir -p /run/systemd/oomd.conf.d
	printf '[OOM]\n%b\n' "$1" > /run/systemd/oomd.conf.d/test.conf
	systemctl restart systemd-oomd
}

oom_kill_counter() { sed -n 's/^oom_kill //p' /proc/vmstat; }
