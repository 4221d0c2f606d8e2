# The shell allows 400 MiB of address space, the trainer keeps its losses' graphs.
py="${@: -1}"
ulimit -v 409600
exec "$py" -u -c '
import time
kept = []
for step in range(500):
    kept.append(bytearray(6 << 20))
    if step % 5 == 0:
        print("step", step)
    time.sleep(0.15)'
