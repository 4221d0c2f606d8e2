#!/bin/bash
# The node service for half an hour with as many jobs as it takes, inside its own limits: is it restarted, how much memory
# does it take after five minutes and at the end, how many tasks? In the throw-away machine of tests/vm, with the unit as it is
# installed. One of the jobs is a program of 16 KiB on disk whose table of frames is a hole of 1 GiB, and hangs.
#   unit.sh [--jobs 64] [--processes 8] [--minutes 30] [--mem 3072] [--work-ms 5] [--limit SECONDS] [--report FILE] [--here]
# Prints one JSON line a minute, and one at the end. Every process works --work-ms in each second and prints a step.
# --limit: it is cut off then, with all that takes, the machine's start included (--minutes and half an hour more).
# --report: the lines are added to this file as they come, so what was measured before a cut is not lost; a further call
# goes on in the same file with a machine of its own. What all of them saw is printed at the end (`unit.sh --sum FILE`).
# --here: not in an emulated machine, but under systemd in namespaces of this one (unit_here.sh; root).
set -u
here=$(cd "$(dirname "$0")" && pwd)
jobs=64 processes=8 minutes=30 mem=3072 work_ms=5 limit="" report="" sum="" native=0
while [ $# -gt 0 ]; do
	case $1 in
	--jobs) jobs=$2; shift 2;;
	--processes) processes=$2; shift 2;;
	--minutes) minutes=$2; shift 2;;
	--mem) mem=$2; shift 2;;
	--work-ms) work_ms=$2; shift 2;;
	--limit) limit=$2; shift 2;;
	--report) report=$2; shift 2;;
	--sum) sum=$2; shift 2;;
	--here) native=1; shift;;
	-h|--help) sed -n '2,11p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	*) echo "unit: unknown option $1" >&2; exit 2;;
	esac
done
[ -n "$sum" ] && exec python3 "$here/unitload.py" sum "$sum"
work=$(mktemp -d)
report=${report:-$work/report}
trap 'rm -rf "$work"' EXIT
DESTDIR=$work/installed meson install -C "$here/../build" --no-rebuild --quiet > "$work/install.log" || { cat "$work/install.log"; exit 2; }
unit=$(find "$work/installed" -name vigil-agent.service)
bin=$(sed -n 's/^ExecStart=\(.*\)\/vigil agent$/\1/p' "$unit")
echo '#include <unistd.h>
int main(void) { for (;;) pause(); }' | cc -o "$work/hostile" -x c - || exit 2
cp "$here/unitload.py" "$work/"
cat > "$work/job" <<J
mount --bind /w/installed$bin $bin
for d in lib share; do
	mkdir -p ${bin%/bin}/\$d/vigil
	mount --bind /w/installed${bin%/bin}/\$d/vigil ${bin%/bin}/\$d/vigil
done
mkdir -p /run/systemd/system /etc/vigil
cp $(printf '/w/%s ' $(cd "$work" && find installed -name 'vigil*.service' -o -name 'vigil*.socket' -o -name 'vigil.slice')) /run/systemd/system/
echo "vigil:x:4710:" >> /etc/group
printf 'agent:\n  command: [unitload.py]\n  hang-after: 1m\n' > /etc/vigil/vigil.yaml
systemctl daemon-reload
systemctl start vigil-agent || exit 1
exec python3 - watch $jobs $processes $minutes $work_ms < /w/unitload.py
J
echo "{\"begun\": \"$(date -u +%FT%TZ)\", \"jobs\": $jobs, \"processes\": $processes}" >> "$report"
limit=${limit:-$((minutes * 60 + 1800))}
if [ $native = 1 ]; then
	timeout "$limit" "$here/unit_here.sh" "$work" bash /w/job | tee -a "$report"
	status=${PIPESTATUS[0]}
else
	"$here/../tests/vm/run-in-vm.sh" --mem "$mem" --timeout "$limit" --share "$work:/w:ro" --script "$work/job" | tee -a "$report"
	status=${PIPESTATUS[0]}
fi
python3 "$here/unitload.py" sum "$report"
exit "$status"
