set -eo pipefail
for n in 1 2 3 4; do echo "stage 1 part $n"; sleep 0.3; done
printf '1 2\n3 x\n' > table.txt
echo "stage 2"
"$1" -c '
import sys
for row in open("table.txt"):
    print(sum(map(float, row.split())), flush=True)' 2> stage2.err | sort > sums.txt || { code=$?; echo "stage 2 failed:" >&2; tail -n 1 stage2.err >&2; exit $code; }
echo "stage 3"
