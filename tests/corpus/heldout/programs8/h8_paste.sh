# A splitter writes sources and targets into two FIFOs, the one wholly before the other; paste reads both in turn.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >>"$CORPUS_ROLES"; }
note main $$
mkfifo source target
for shard in $(seq 0 99); do
	lines=$((shard < 10 ? 200 : 20000))
	paste source target >pairs.tsv &
	note paste $!
	"$1" -c '
import os, sys
open(os.environ.get("CORPUS_ROLES", "/dev/null"), "a").write("splitter %d\n" % os.getpid())
rows = [("source %d" % n, "target %d" % n) for n in range(int(sys.argv[1]))]
with open("source", "w") as f:
    f.writelines(a + "\n" for a, _ in rows)
    f.flush()
    with open("target", "w") as g:
        g.writelines(b + "\n" for _, b in rows)
' $lines
	wait
	echo "shard $shard: $(wc -l <pairs.tsv) pairs"
	sleep 0.3
done
