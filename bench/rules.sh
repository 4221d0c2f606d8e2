#!/bin/sh
# How fast logs are searched for all causes at once, beside grep with the same words; a healthy log must give nothing.
#   bench/rules.sh [VIGIL] [MIB]
# Prints MB and CPU seconds (user + system) of each; wall time is left out because machines are shared.
set -eu
vigil=${1:-build/src/cli/vigil}
mib=${2:-1024}
here=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$(command -v python3)" - "$dir" "$mib" <<'PY'
import random, sys
folder, mib = sys.argv[1], int(sys.argv[2])
r = random.Random(1)
def line(i):
    k = r.choice((3, 8)) if i < 2400 else r.choice((0, 1, 2, 4, 5, 6, 7, 9))  # a start every 120000 lines
    rank = r.randrange(8)
    if k < 3:
        return f"[rank{rank}]: step {i} loss={r.random():.4f} lr=1.0e-04 grad_norm={r.random():.3f} tokens/s={r.randrange(99999)}"
    if k == 3:
        return f"n{rank}:{r.randrange(9999)}:{r.randrange(9999)} [{rank}] NCCL INFO Channel {r.randrange(16):02d}/0 : {rank}[{rank}] -> {r.randrange(8)}[{r.randrange(8)}] [send] via NET/IB/0/GDRDMA"
    if k == 4:
        return f"train: {i % 100}%|####      | {i}/190900 [00:46<07:57, {r.random() * 9:.2f}it/s, loss={r.random():.3f}]\r"
    if k == 5:
        return f"2026-11-20 10:{i % 60:02d}:{rank:02d},123 - INFO - trainer.py:{r.randrange(900)} - saved checkpoint to /data/run/step-{i}"
    if k == 6:
        return f" iteration {i:8d}/ 500000 | consumed samples: {i * 256} | elapsed time per iteration (ms): {r.random() * 900:.1f} | lm loss: {r.random():.6E} |"
    if k == 7:
        return f"{{'loss': {r.random():.4f}, 'grad_norm': {r.random():.3f}, 'learning_rate': 5e-05, 'epoch': {i / 999:.2f}}}"
    if k == 8:
        return f"n{rank}:1:2 [{rank}] NCCL INFO comm 0x{i:x} rank {rank} nranks 8 cudaDev {rank} nvmlDev {rank} busId 5f000 commId 0x9 - Init COMPLETE"
    return f"WARNING: the data loader of rank {rank} waits; worker took {r.random():.3f} s for batch {i}, connection reused"
block = "\n".join(line(i) for i in range(120000)).encode() + b"\n"
with open(folder + "/healthy.log", "wb") as f:
    left = mib << 20
    while left > 0:
        f.write(block[:left])
        left -= len(block)
PY
sed -n 's/^[[:space:]]*\(all\|any\): //p' "$here"/rules/nccl.rules "$here"/rules/torch.rules "$here"/rules/data.rules |
	sed 's/(?i)//; s/\\d/[0-9]/g; s/\\s/[[:space:]]/g' | grep -v '^\^' >"$dir/patterns"
grep -oE '[A-Za-z/][A-Za-z0-9/_ ]{5,}' "$dir/patterns" | awk '!s[$0]++' >"$dir/words"
cat "$dir/healthy.log" >/dev/null # into the page cache
measure() {
	name=$1
	shift
	bash -c 'TIMEFORMAT="%U %S"; time "$@" >"$0" 2>&1 || true' "$dir/out" "$@" 2>"$dir/time" || true
	awk -v n="$name" -v mib="$mib" '{ s = $1 + $2; printf "%-28s %7.0f MB  %7.2f CPU s  %7.0f MB/s\n", n, mib * 1.048576, s, mib * 1.048576 / s }' "$dir/time"
}
for engine in hyperscan own; do
	measure "vigil --engine $engine" "$vigil" rules test --engine $engine "$dir/healthy.log"
	sed 's/^/    /' "$dir/out" | head -3
done
measure "grep -cF ($(wc -l <"$dir/words") words)" env LC_ALL=C grep -cF -f "$dir/words" "$dir/healthy.log"
measure "grep -cE ($(wc -l <"$dir/patterns") patterns)" env LC_ALL=C grep -cE -f "$dir/patterns" "$dir/healthy.log"
