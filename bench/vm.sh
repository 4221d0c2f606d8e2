#!/bin/bash
# The race and the cost of watching on a real machine: the throw-away one of tests/vm, with the kernel's own global
# killer, and systemd-oomd among the guards. Emulated CPUs are slow and so is the hog (about 200 MiB/s), which helps
# guards that poll; numbers compare within one run only.
#   vm.sh [-n TRIALS=3] [--guards "none earlyoom nohang ray run watch oomd"] [--modes "fast1 fast2 slow"] [--secs 30] [--mem 1024]
# VIGIL=path
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=${BENCH_BIN:-$here/../build/bench}
n=3 guards="none earlyoom nohang ray run watch oomd" modes="fast1 fast2 slow" secs=30 mem=1024 vigil=${VIGIL:-}
while [ $# -gt 0 ]; do
	case $1 in
	-n) n=$2; shift 2;;
	--guards) guards=$2; shift 2;;
	--modes) modes=$2; shift 2;;
	--secs) secs=$2; shift 2;;
	--mem) mem=$2; shift 2;;
	-h|--help) sed -n '2,7p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	*) echo "vm: unknown option $1" >&2; exit 2;;
	esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$bin"/{hog,race,rayloop,idlers} "$work/" || exit 2
[ -z "$vigil" ] || cp "$vigil" "$work/vigil" || exit 2
cat > "$work/job" <<J
export BENCH_BIN=/b VIGIL=${vigil:+/b/vigil}
for guard in $guards; do
	if [ \$guard = oomd ]; then
		systemctl set-property --runtime hog.slice ManagedOOMMemoryPressure=kill ManagedOOMSwap=kill
		systemctl start systemd-oomd
	fi
	/bench/race.sh --here -n $n --guards \$guard --modes "$modes" --gap 1
done
[ $secs = 0 ] || /bench/watchcost.sh --here --secs $secs --idlers 100 --guards "$guards"
J
"$here/../tests/vm/run-in-vm.sh" --mem "$mem" --timeout 3600 --share "$work:/b:ro" --share "$here:/bench:ro" --script "$work/job" \
	> "$work/out"
status=$?
cat "$work/out"
grep -h '"mode"' "$work/out" > "$work/race.jsonl"
grep -h -e '"idlers"' "$work/out" > "$work/cost.jsonl"
"$here/summary.py" race "$work/race.jsonl"
[ ! -s "$work/cost.jsonl" ] || "$here/summary.py" watchcost "$work/cost.jsonl"
exit $status
