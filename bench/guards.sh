# Sourced: the guards that bench/ compares. One place says how each is started and where its own threshold lies.
#
#   guard_free NAME      share of memory left at which this guard's own rule acts
#   guard_standing NAME  command of a guard that runs on its own ("" if it runs per trial)
#   guard_wrap NAME      words that go before the job's command (vigil run)
#   guard_attach NAME    command that is told {pid} (vigil watch)
#   guard_missing NAME   why it cannot take part; nothing if it can
VIGIL=${VIGIL:-}
VIGIL_RUN_FLAGS=${VIGIL_RUN_FLAGS:---quiet --retries 0 --memory-threshold 0.95}
VIGIL_WATCH_FLAGS=${VIGIL_WATCH_FLAGS:---quiet --memory-threshold 0.95}
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
	earlyoom) echo "earlyoom -r 3600";;
	nohang) echo "nohang --monitor --config /etc/nohang/nohang.conf";;
	ray) echo "$BENCH_BIN/rayloop ${BOX_CGROUP:+--memcg $BOX_CGROUP} hog";;
	esac
}

guard_wrap()
{
	[ "$1" != run ] || echo "$VIGIL run $VIGIL_RUN_FLAGS --"
}

guard_attach()
{
	[ "$1" != watch ] || echo "$VIGIL watch $VIGIL_WATCH_FLAGS --pid {pid}"
}

guard_missing()
{
	case $1 in
	none|ray) ;;
	earlyoom|nohang) command -v "$1" >/dev/null || echo "$1 is not installed";;
	run|watch)
		if [ -z "$VIGIL" ]; then
			echo "no vigil binary (set VIGIL=path)"
		elif ! "$VIGIL" help "$1" >/dev/null 2>&1; then
			echo "this vigil has no command $1"
		fi;;
	*) echo "unknown guard";;
	esac
}
