exec timeout 4 bash -c '"$0" -u - <<"P"
import signal, sys, time
def stop(*_):
    print("signal 15: writing state.pt", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
for n in range(100):
    print("update", n, flush=True)
    time.sleep(0.3)
P' "$1"
