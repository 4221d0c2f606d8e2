#!/bin/bash
# What does watching cost while nothing happens? CPU time, memory and context switches of each guard beside N sleeping
# processes. All guards run side by side in a process namespace of their own with this machine's real meminfo
# (box.sh --whole): they see real numbers, and no process that is not the benchmark's.
#
#   watchcost.sh [--secs 60] [--idlers "20 500 3000"] [--settle 5] [--guards "earlyoom nohang run watch"] [--here]
#
# --here: measure in this namespace, for the throw-away machine, where systemd-oomd can be measured too (add "oomd").
# For vigil run the job is `sleep`, which is not counted; every process of the guard itself is. VIGIL=path.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export BENCH_BIN=${BENCH_BIN:-$here/../build/bench}
secs=60 sizes="20 500 3000" settle=5 guards="earlyoom nohang run watch" inside=0
args=("$@")
while [ $# -gt 0 ]; do
	case $1 in
	--secs) secs=$2; shift 2;;
	--idlers) sizes=$2; shift 2;;
	--settle) settle=$2; shift 2;;
	--guards) guards=$2; shift 2;;
	--here) [ -n "${VM_OUT:-}" ] || { echo "watchcost: --here is for a throw-away machine only" >&2; exit 2; }; inside=1; shift;;
	--inside) inside=1; shift;;
	-h|--help) sed -n '2,10p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	*) echo "watchcost: unknown option $1" >&2; exit 2;;
	esac
done
[ $inside = 1 ] || exec "$here/box.sh" --whole -- "$0" --inside ${args[@]+"${args[@]}"}
. "$here/guards.sh"

pause() { read -rt "$1" <> <(:) || :; }
work=$(mktemp -d)
export VIGIL_STATE_DIR=$work/state
declare -A root=()
idlers= bystander=
stop_all()
{
	local p
	for p in ${root[@]+"${root[@]}"} $bystander; do
		kill "$p" 2>/dev/null
	done
	[ -z "$idlers" ] || exec 7>&-
	wait 2>/dev/null
	root=() idlers= bystander=
	rm -f "$work/in" "$work/out"
}
trap 'stop_all; rm -rf "$work"' EXIT

# The guard's own processes: its root and whatever below it runs the same program (not its job).
own_processes() # ROOT_PID
{
	local all=" $1" grown=1 p exe c
	exe=$(readlink "/proc/$1/exe")
	while [ $grown = 1 ]; do
		grown=0
		for p in $all; do
			for c in $(cat /proc/"$p"/task/*/children 2>/dev/null); do
				[ "$(readlink "/proc/$c/exe")" = "$exe" ] || continue
				[[ "$all " == *" $c "* ]] || { all+=" $c"; grown=1; }
			done
		done
	done
	echo "$all"
}

# CPU microseconds, context switches, resident KiB, anonymous KiB of those processes, all threads. A kernel without
# schedstat (the throw-away machine's) counts in ticks.
reading() # PIDS
{
	local p t cpu=0 switches=0 rss=0 anon=0 ns words
	for p in $1; do
		for t in /proc/"$p"/task/*; do
			if read -r ns _ 2>/dev/null < "$t/schedstat"; then
				cpu=$((cpu + ns / 1000))
			elif words=$(sed 's/^.*) //' "$t/stat" 2>/dev/null); then
				set -- "$1" $words
				cpu=$((cpu + (${13} + ${14}) * 1000000 / $(getconf CLK_TCK)))
			fi
			switches=$((switches + $(awk '/ctxt_switches/ { s += $2 } END { print s + 0 }' "$t/status" 2>/dev/null || echo 0)))
		done
		rss=$((rss + $(awk '/^VmRSS/ { print $2 }' "/proc/$p/status" 2>/dev/null || echo 0)))
		anon=$((anon + $(awk '/^RssAnon/ { print $2 }' "/proc/$p/status" 2>/dev/null || echo 0)))
	done
	echo "$cpu $switches $rss $anon"
}

start_guard() # NAME
{
	case $1 in
	oomd)
		root[oomd]=$(systemctl show -P MainPID systemd-oomd)
		return;;
	run) $(guard_wrap run) sleep $((secs * 10)) > "$work/run.log" 2>&1 &;;
	watch)
		sleep $((secs * 10)) &
		bystander=$!
		local command
		command=$(guard_attach watch)
		bash -c "exec ${command/\{pid\}/$bystander}" > "$work/watch.log" 2>&1 &;;
	*) bash -c "exec $(guard_standing "$1")" > "$work/$1.log" 2>&1 &;;
	esac
	root[$1]=$!
}

for n in $sizes; do
	mkfifo "$work/in"
	"$BENCH_BIN/idlers" "$n" < "$work/in" > "$work/out" &
	idlers=$!
	exec 7> "$work/in"
	until grep -q READY "$work/out"; do
		kill -0 $idlers 2>/dev/null || { echo "watchcost: $n idlers could not be started" >&2; exit 1; }
		pause 0.1
	done
	for g in $guards; do
		case $g in
		none|ray) continue;; # nothing to measure, and a stand-in whose cost says nothing about Ray
		esac
		why=$(guard_missing "$g")
		if [ -n "$why" ]; then
			echo "{\"guard\":\"$g\",\"idlers\":$n,\"not_measured\":\"$why\"}"
		else
			start_guard "$g"
		fi
	done
	pause "$settle"
	declare -A before=() pids=()
	for g in "${!root[@]}"; do
		pids[$g]=$(own_processes "${root[$g]}")
		before[$g]=$(reading "${pids[$g]}")
	done
	pause "$secs"
	for g in "${!root[@]}"; do
		if ! kill -0 "${root[$g]}" 2>/dev/null; then
			echo "{\"guard\":\"$g\",\"idlers\":$n,\"not_measured\":\"it ended: $(tail -n 1 "$work/$g.log" 2>/dev/null | tr -d '\"\\')\"}"
			continue
		fi
		echo "$g $n $secs $(echo ${pids[$g]} | wc -w) ${before[$g]} $(reading "${pids[$g]}")" | awk '{
			printf "{\"guard\":\"%s\",\"idlers\":%d,\"seconds\":%d,\"processes\":%d,\"cpu_ms_per_minute\":%.2f,", $1, $2, $3, $4, ($9 - $5) / 1000 * 60 / $3
			printf "\"switches_per_minute\":%.0f,\"rss_kib\":%d,\"anon_kib\":%d}\n", ($10 - $6) * 60 / $3, $11, $12 }'
	done
	stop_all
done
