echo "time box of 4 s"
exec timeout 4 "$1" -u -c '
import time
for step in range(1000):
    print("step", step, flush=True)
    time.sleep(0.3)
'
