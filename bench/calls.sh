#!/bin/bash
# Merging profiles: vigil calls against pstats.Stats.add, the same files in the same run; processor seconds.
#   calls.sh [FILES=64] [FUNCTIONS=5000] [ROUNDS=5]      VIGIL=path
# And what counting costs a program: calls.sh --cost [PYTHON=python3] [ROUNDS=5]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
vigil=${VIGIL:-$here/../build/src/cli/vigil}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export VIGIL_STATE_DIR=$folder/state OPENBLAS_NUM_THREADS=1 # a busy machine makes the threads wait in loops

# Processor seconds of a command, user and system.
cpu() {
	local TIMEFORMAT='%U %S'
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{printf "%.3f", $1 + $2}'
}

median() {
	sort -n | awk '{a[NR] = $1} END {print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2}'
}

merge() {
	/usr/bin/python3 "$here/src/makeprof.py" "$folder/profiles" "$1" "$2" 3
	for _ in $(seq "$3"); do
		cpu "$vigil" calls "$folder/profiles" --limit 10 >>"$folder/vigil"; echo >>"$folder/vigil"
	done
	cat >"$folder/add.py" <<-'END'
		import glob, pstats, sys
		files = sorted(glob.glob(sys.argv[1] + "/*.prof"))
		pstats.Stats(*files).sort_stats("tottime").print_stats(10)
	END
	cpu /usr/bin/python3 "$folder/add.py" "$folder/profiles" >"$folder/pstats"; echo >>"$folder/pstats"
	echo "{\"files\":$1,\"functions\":$2,\"vigil_cpu_s\":$(median <"$folder/vigil"),\"pstats_cpu_s\":$(median <"$folder/pstats")}"
}

cost() {
	local python=$1
	cat >"$folder/fib.py" <<-'END'
		def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
		fib(27)
	END
	cat >"$folder/matrix.py" <<-'END'
		import numpy
		a = numpy.random.rand(300, 300)
		def step(a): return numpy.tanh(a @ a / 300)
		for _ in range(150): a = step(a)
	END
	for program in fib matrix; do
		"$python" "$folder/$program.py" 2>/dev/null || { echo "{\"program\":\"$program\",\"not_measured\":\"$python cannot run it\"}"; continue; }
		rm -f "$folder"/{plain,run,cprofile,calls}
		for _ in $(seq "$2"); do
			cpu "$python" "$folder/$program.py" >>"$folder/plain"; echo >>"$folder/plain"
			cpu "$vigil" run --quiet -- "$python" "$folder/$program.py" >>"$folder/run"; echo >>"$folder/run"
			cpu "$python" -m cProfile -o "$folder/out" "$folder/$program.py" >>"$folder/cprofile"; echo >>"$folder/cprofile"
			cpu "$vigil" run --quiet --calls -- "$python" "$folder/$program.py" >>"$folder/calls"; echo >>"$folder/calls"
		done
		echo "{\"program\":\"$program\",\"plain_cpu_s\":$(median <"$folder/plain"),\"run_cpu_s\":$(median <"$folder/run"),\"cprofile_cpu_s\":$(median <"$folder/cprofile"),\"calls_cpu_s\":$(median <"$folder/calls")}"
	done
}

if [ "${1:-}" = --cost ]; then
	cost "${2:-python3}" "${3:-5}"
else
	merge "${1:-64}" "${2:-5000}" "${3:-5}"
fi
