#!/bin/bash
# Who ends a growing process first, the guard or the kernel's killer, and how long after its own threshold?
#
#   race.sh [-n TRIALS=20] [--guards "none earlyoom nohang ray run watch"] [--limits "1024"] [--huge "off"]
#           [--modes "fast1 fast2 slow term shm tmpfs fork"] [--gap SECONDS=0.5] [--out FILE] [--here]
#
# Every limit (MiB) is a box of its own (box.sh). --here: no box, this machine's memory and its counter of kernel kills;
# refused unless run in a throw-away machine (VM_OUT is set). Modes: fast1, fast2: one, two threads at full speed; slow:
# 100 MiB/s from 70 % full; term: ignores SIGTERM; shm: shared memory; tmpfs: a file in /dev/shm; fork: eaters of 8 MiB
# one after another. A trial is won when the kernel killed nothing and the memory stopped growing.
# Prints one JSON object a trial (also appended to --out) and the table of summary.py. VIGIL=path of the vigil binary.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export BENCH_BIN=${BENCH_BIN:-$here/../build/bench}
n=20 guards="" limits=1024 huges=off modes="fast1 fast2 slow term shm tmpfs fork" gap=0.5 out="" inside=0 measured=""

die()
{
	echo "race: $*" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	-n) n=$2; shift 2;;
	--guards) guards=$2; shift 2;;
	--limits) limits=$2; shift 2;;
	--huge) huges=$2; shift 2;;
	--modes) modes=$2; shift 2;;
	--gap) gap=$2; shift 2;;
	--out) out=$2; shift 2;;
	--here) inside=1; [ -n "${VM_OUT:-}" ] || die "--here is for a throw-away machine only"; shift;;
	--inside) inside=1; shift;; # called by itself, in the box, with the file of what was measured so far
	--measured) measured=$2; shift 2;;
	-h|--help) sed -n '2,14p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	*) die "unknown option $1";;
	esac
done
. "$here/guards.sh"
guards=${guards:-$ALL_GUARDS}
[ -x "$BENCH_BIN/race" ] || die "no $BENCH_BIN/race; build first or set BENCH_BIN"

pause() { read -rt "$1" <> <(:) || :; }

if [ $inside = 0 ]; then
	. "$here/lxcfs.sh"
	lxcfs_start || die "lxcfs does not start; is it installed, and is /dev/fuse there?"
	results=${out:-$(mktemp)}
	trap 'lxcfs_stop; [ -n "$out" ] || rm -f "$results"' EXIT
	# Each guard has boxes of its own, so that one that kills the box's processes costs no other its trials. A box that
	# ends early is replaced, and the next one goes on behind the last trial that was measured.
	for limit in $limits; do
		for guard in $guards; do
			for box in 1 2 3; do
				"$here/box.sh" --mem "$limit" --lxcfs "$LXCFS_DIR" -- "$here/race.sh" --inside -n "$n" \
					--guards "$guard" --huge "$huges" --modes "$modes" --gap "$gap" --limits "$limit" \
					--measured "$results" | tee -a "$results"
				[ "${PIPESTATUS[0]}" != 0 ] || break
				echo "race: box $box of $limit MiB for $guard ended before its last trial" >&2
			done
		done
	done
	/usr/bin/python3 "$here/summary.py" race "$results"
	exit
fi

total=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
work=$(mktemp -d)
standing=
stop_standing()
{
	[ -n "$standing" ] || return 0
	kill "$standing" 2>/dev/null
	wait "$standing" 2>/dev/null
	standing=
}
trap 'stop_standing; rm -rf "$work"' EXIT
trap : TERM # a guard that kills once too often may pick this shell; its children start with the default again
export VIGIL_STATE_DIR=$work/state

# A guard that died (some abort on numbers they do not expect) is started again and the trial says so.
start_standing()
{
	[ -n "$(guard_standing "$1")" ] || return 0
	[ -n "$standing" ] && kill -0 "$standing" 2>/dev/null && return 0
	[ -z "$standing" ] || restarts=$((restarts + 1))
	guard_start "$1" "$work/$1.log"
	standing=$GUARD_PID
}

hog_arguments()
{
	case $1 in
	fast1) ;;
	fast2) echo "--threads 2";;
	slow) echo "--rate 100M --prefill $((total * 7 / 10))M";;
	term) echo "--trap-term";;
	shm) echo "--way shm";;
	tmpfs) echo "--way tmpfs";;
	fork) echo "--way fork --max $((total * 3))M";;
	*) die "unknown mode $1";;
	esac
}

was_measured() # GUARD MODE HUGE NUMBER
{
	[ -n "$measured" ] && grep -qF "\"guard\":\"$1\",\"mode\":\"$2\",\"limit_mib\":$total,\"huge\":\"$3\",\"trial\":$4," "$measured"
}

trial() # GUARD MODE HUGE NUMBER
{
	local attach args warm=200ms
	attach=$(guard_attach "$1")
	args=(--free "$(guard_free "$1")" --timeout 60s)
	[ -z "${BOX_CGROUP:-}" ] || args+=(--memcg "$BOX_CGROUP")
	if [ -n "$attach" ] || [ -n "$(guard_wrap "$1")" ]; then
		warm=1s # starts with the trial: let it look around first, as the standing ones have
	fi
	[ -z "$attach" ] || args+=(--guard "$attach")
	"$BENCH_BIN/race" "${args[@]}" --warm $warm \
		--label "\"guard\":\"$1\",\"mode\":\"$2\",\"limit_mib\":$total,\"huge\":\"$3\",\"trial\":$4,\"guard_restarts\":$restarts" \
		-- $(guard_wrap "$1") "$BENCH_BIN/hog" --huge "$3" $(hog_arguments "$2") 2>> "$work/trial.log" ||
		{ echo "race: a trial of $1, $2 was not measured:" >&2; tail -n 3 "$work/trial.log" >&2; }
}

for guard in $guards; do
	why=$(guard_missing "$guard")
	if [ -n "$why" ]; then
		echo "{\"guard\":\"$guard\",\"limit_mib\":$total,\"not_measured\":\"$why\"}"
		continue
	fi
	restarts=0
	for huge in $huges; do
		for mode in $modes; do
			for ((i = 1; i <= n; i++)); do
				was_measured "$guard" "$mode" "$huge" "$i" && continue
				start_standing "$guard"
				trial "$guard" "$mode" "$huge" "$i"
				pause "$gap"
			done
		done
	done
	stop_standing
done
