# The trainer does not handle the SIGUSR1 with which the scheduler announces the end of the time.
py="${@: -1}"
"$py" -u -c '
import os, time
for step in range(500):
    if step == 50 and "CORPUS_ROLES" in os.environ:
        with open(os.environ["CORPUS_ROLES"], "a") as f:
            f.write("trainer %d\n" % os.getpid())
    if step % 5 == 0:
        print("step", step, "loss", 2 / (step + 1))
    time.sleep(0.1)'
code=$?
echo "train.py ended with $code"
exit $code
