# A script trains in the background, into a log, and shows it until the third epoch is done: tail hands the log to sed,
# and grep leaves at the line it wants. sed would learn of that only by the next line, and the trainer has written its
# last one: tail waits for more of the log, the script for the pipe's three programs.
here=$(dirname "$0")
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
: > train.log
"$1" -u -c '
import time
for step in range(45):
    time.sleep(0.2)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))
print("epoch 3 done")' > train.log &
role trainer $!
role_and='[ -z "$CORPUS_ROLES" ] || echo "$0 $$" >> "$CORPUS_ROLES"; exec "$@"'
bash -c "$role_and" tail tail -n +1 -f train.log | bash -c "$role_and" sed sed -u 's/^/[train] /' |
    tee /dev/stderr | grep -q -m 1 'epoch 3 done'
echo "training is done, evaluation begins"
