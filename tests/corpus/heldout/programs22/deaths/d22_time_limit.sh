# A script that gives its training three seconds.
python=${!#}
timeout 3 "$python" -u -c '
import time
for step in range(1000):
    time.sleep(0.1)
    if step % 5 == 0:
        print("step", step, "loss", 2 / (1 + step))
'
status=$?
echo "training ended with status $status" >&2
exit $status
