# A script takes commands for its trainer by a FIFO, which is its standard input. After each epoch it counts the rows of
# that epoch's parts. The third epoch has written none: wc is called without a file, and reads the FIFO, which the script
# itself keeps open for writing. The script waits for wc.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
role_and='[ -z "$CORPUS_ROLES" ] || echo "$0 $$" >> "$CORPUS_ROLES"; exec "$@"'
mkfifo commands
exec 0<> commands
for epoch in 0 1 2; do
    "$1" -u - "$epoch" <<'PROGRAM'
import sys
import time
epoch = int(sys.argv[1])
for step in range(20 * epoch, 20 * epoch + 20):
    time.sleep(0.2)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))
if epoch < 2:
    with open("part-%d-0.txt" % epoch, "w") as f:
        f.write("row\n" * 1000)
PROGRAM
    parts=$(ls part-$epoch-*.txt 2> errors.txt)
    rows=$(bash -c "$role_and" wc wc -l $parts)
    echo "epoch $epoch: $rows rows"
done
