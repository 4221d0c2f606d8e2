# A script goes to a folder that its trainer has named otherwise.
set -e
"$1" -u -c '
import os
import time
for step in range(30):
    time.sleep(0.1)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))
os.makedirs("runs/epoch_03")'
cd runs/epoch-03
echo "evaluation begins"
