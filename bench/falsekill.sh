#!/bin/bash
# Does a guard leave jobs alone that only fill the page cache? In a box of --mem MiB one after another: a reader that
# goes through a file of three times the memory, a writer whose pages wait for the disk, a map of twice the memory of
# which every page is touched. Each lasts --secs; any death is a false kill. Guards as in race.sh.
#   falsekill.sh [--mem 512] [--secs 10] [--rounds 1] [--guards "earlyoom nohang ray run watch"] [--dir DIR] [--here]
# DIR (default: /var/tmp) must be on a disk: a file in a tmpfs is memory, not cache. Exit status 1 if vigil killed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export BENCH_BIN=${BENCH_BIN:-$here/../build/bench}
mem=512 secs=10 rounds=1 guards="earlyoom nohang ray run watch" dir=/var/tmp inside=0
args=("$@")
while [ $# -gt 0 ]; do
	case $1 in
	--mem) mem=$2; shift 2;;
	--secs) secs=$2; shift 2;;
	--rounds) rounds=$2; shift 2;;
	--guards) guards=$2; shift 2;;
	--dir) dir=$2; shift 2;;
	--here) [ -n "${VM_OUT:-}" ] || { echo "falsekill: --here is for a throw-away machine only" >&2; exit 2; }; inside=1; shift;;
	--inside) inside=1; shift;;
	-h|--help) sed -n '2,7p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	*) echo "falsekill: unknown option $1" >&2; exit 2;;
	esac
done
[ "$(stat -f -c %T "$dir")" != tmpfs ] || { echo "falsekill: $dir is a tmpfs; name a directory on a disk with --dir" >&2; exit 2; }
[ $inside = 1 ] || exec "$here/box.sh" --mem "$mem" -- "$0" --inside ${args[@]+"${args[@]}"}
. "$here/guards.sh"

work=$(mktemp -d)
export VIGIL_STATE_DIR=$work/state
standing=
stop_standing()
{
	[ -n "$standing" ] || return 0
	kill "$standing" 2>/dev/null
	wait "$standing" 2>/dev/null
	standing=
}
trap 'stop_standing; rm -rf "$work"' EXIT
trap : TERM # see race.sh
total=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
bad=0

job() # WAY
{
	case $1 in
	read) echo "--way read --max $((total * 3))M";;
	mmap) echo "--way mmap --max $((total * 2))M";;
	dirty) echo "--way dirty --max $((total * 2))M";;
	esac
}

for guard in $guards; do
	why=$(guard_missing "$guard")
	if [ -n "$why" ]; then
		echo "{\"guard\":\"$guard\",\"not_measured\":\"$why\"}"
		continue
	fi
	if [ -n "$(guard_standing "$guard")" ]; then
		guard_start "$guard" "$work/$guard.log"
		standing=$GUARD_PID
	fi
	for way in read mmap dirty; do
		killed=0 kernel=0 unmeasured=0
		for ((i = 1; i <= rounds; i++)); do
			attach=$(guard_attach "$guard")
			line=$("$BENCH_BIN/race" --free "$(guard_free "$guard")" ${BOX_CGROUP:+--memcg "$BOX_CGROUP"} \
				--timeout "$((secs + 120))s" ${attach:+--guard "$attach"} -- $(guard_wrap "$guard") \
				"$BENCH_BIN/hog" --dir "$dir" --seconds "${secs}s" $(job $way) 2>> "$work/trial.log")
			case $line in
			*'"kernel_kills":0'*'"finished":true'*) ;;
			*'"kernel_kills":0'*) killed=$((killed + 1));;
			*kernel_kills*) kernel=$((kernel + 1));;
			*) unmeasured=$((unmeasured + 1)); tail -n 2 "$work/trial.log" >&2;;
			esac
		done
		echo "{\"guard\":\"$guard\",\"way\":\"$way\",\"rounds\":$rounds,\"false_kills\":$killed,\"kernel_kills\":$kernel,\"not_measured_rounds\":$unmeasured}"
		case $guard in
		run|watch) [ $((killed + unmeasured)) = 0 ] || bad=1;;
		esac
	done
	stop_standing
done
exit $bad
