"""Ignores SIGTERM and SIGINT, counts them, ends by itself after SECONDS (60) with the count as its status."""
import signal
import sys
import time

count = 0


def counted(number, frame):
    global count
    count += 1
    print("ignored", number, flush=True)


signal.signal(signal.SIGTERM, counted)
signal.signal(signal.SIGINT, counted)
print("ready", flush=True)
end = time.monotonic() + (float(sys.argv[1]) if len(sys.argv) > 1 else 60)
while time.monotonic() < end:
    time.sleep(0.05)
sys.exit(count)
