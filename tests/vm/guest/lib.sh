# Sourced by what runs inside the throw-away machine. $BIN holds the helper programs (hog, race, …), $VIGIL the binary.
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

# --- for scenarios: what they learn goes to files in $OUT, judged outside by the tests -------------------------------------

fact() { printf '%s\n' "$2" > "$OUT/$1"; }

# ordinary COMMAND...: the scenario itself may not be killed (oom_score_adj -1000), what it starts may
ordinary() { (echo 0 > /proc/self/oom_score_adj && exec "$@"); }

# run_vigil ARG...: exit status, output and the report of the last incident
run_vigil()
{
	ordinary "$VIGIL" run "$@" > "$OUT/run.out" 2> "$OUT/run.err"
	fact run.status $?
	explain
}

explain()
{
	"$VIGIL" why last --json > "$OUT/why.json" 2> "$OUT/why.err"
	fact why.status $?
	"$VIGIL" why last > "$OUT/why.txt" 2>> "$OUT/why.err" || : # judged outside
}

# hog_pid PAGE: the process that the hog published there (bench/src/page.h: four 32-bit words, a 64-bit one, then pids)
hog_pid() { od -An -j24 -N4 -td4 "$1" 2>/dev/null | tr -d ' '; }
hog_ready() { [ "$(od -An -j4 -N4 -td4 "$1" 2>/dev/null | tr -d ' ')" = 1 ]; }
make_page() { truncate -s 0 "$1" && truncate -s 64K "$1"; }
