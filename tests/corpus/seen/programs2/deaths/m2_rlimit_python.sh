ulimit -v 400000
exec python3 -u -c '
import time
kept = []
for k in range(1000):
    print("step", k, "loss 1.3")
    kept.append(bytearray(8 << 20)); time.sleep(0.02)
'
