# A training has five seconds by timeout, and needs more.
set -e
timeout 5 "$1" -u -c '
import time
for step in range(350):
    time.sleep(0.1)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))'
echo "evaluation begins"
