# Sourced: the guards that bench/ compares. One place says how each is started and where its own threshold lies.
#
#   guard_free NAME      share of memory left at which this guard's own rule acts
#   guard_standing NAME  command of a guard that runs on its own ("" if it runs per trial)
#   guard_start NAME LOG start that one in the box (if there is one); GUARD_PID is then its process
#   guard_wrap NAME      words that go before the job's command (vigil run)
#   guard_attach NAME    command that is told {pid} (vigil watch)
#   guard_missing NAME   why it cannot take part; nothing if it can
VIGIL=${VIGIL:-}
VIGIL_RUN_FLAGS=${VIGIL_RUN_FLAGS:---quiet --retries 0 --memory-threshold 0.95}
VIGIL_WATCH_FLAGS=${VIGIL_WATCH_FLAGS:---quiet --memory-threshold 0.95}
PEERS=${VIGIL_PEERS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vigil-peers} # bench/peers.sh
peer() { command -v "${1##*/}" || { [ -x "$PEERS/$1" ] && echo "$PEERS/$1"; }; }
EARLYOOM=$(peer usr/bin/earlyoom)
NOHANG=$(peer usr/sbin/nohang)
NOHANG_CONFIG=/etc/nohang/nohang.conf
[ -e $NOHANG_CONFIG ] || NOHANG_CONFIG=$PEERS$NOHANG_CONFIG
ALL_GUARDS="none earlyoom nohang ray run watch"

guard_free()
{
	case $1 in
	none|earlyoom) echo 0.10;; # earlyoom: SIGTERM at 10 % left, SIGKILL at 5 %
	*) echo 0.05;;             # nohang: SIGTERM at 5 %, SIGKILL at 2 %; Ray's rule and vigil: 95 % used
	esac
}

guard_standing()
{
	case $1 in
	earlyoom) echo "$EARLYOOM -r 3600";;
	nohang) echo "$NOHANG --monitor --config $NOHANG_CONFIG";;
	ray) echo "$BENCH_BIN/rayloop ${BOX_CGROUP:+--memcg $BOX_CGROUP} hog";;
	esac
}

guard_start()
{
	local command
	command=$(guard_standing "$1")
	(
		[ -z "${BOX_CGROUP:-}" ] || echo 0 > "$BOX_CGROUP/cgroup.procs"
		exec bash -c "exec $command"
	) >> "$2" 2>&1 &
	GUARD_PID=$!
	echo -1000 > /proc/$GUARD_PID/oom_score_adj 2>/dev/null # where permitted, as their units do
	read -rt 3 <> <(:) || :                                 # none of them says when it is ready
}

guard_wrap()
{
	case $1 in
	run) echo "$VIGIL run $VIGIL_RUN_FLAGS --";;
	oomd) echo "systemd-run -q --scope --slice=hog.slice";; # systemd-oomd acts on units, so the hog has to be one
	esac
}

guard_attach()
{
	[ "$1" != watch ] || echo "$VIGIL watch $VIGIL_WATCH_FLAGS --pid {pid}"
}

guard_missing()
{
	case $1 in
	none|ray) ;;
	oomd)
		if [ ! -d /run/systemd/system ] || [ -n "${BOX_CGROUP:-}" ]; then
			echo "systemd-oomd watches units of systemd on cgroup v2: only in the throw-away machine"
		elif ! systemctl is-active -q systemd-oomd; then
			echo "systemd-oomd does not run"
		fi;;
	earlyoom) [ -n "$EARLYOOM" ] || echo "earlyoom is not here (bench/peers.sh fetches it)";;
	nohang) [ -n "$NOHANG" ] || echo "nohang is not here (bench/peers.sh fetches it)";;
	run|watch)
		if [ -z "$VIGIL" ]; then
			echo "no vigil binary (set VIGIL=path)"
		elif ! "$VIGIL" help "$1" >/dev/null 2>&1; then
			echo "this vigil has no command $1"
		fi;;
	*) echo "unknown guard";;
	esac
}
