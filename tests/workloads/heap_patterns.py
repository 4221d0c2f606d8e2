"""Known patterns of memory: keep(), churn() and a leak; then waits for a signal, or ends as it is told.

    heap_patterns.py KEEP_MIB CHURN LEAK_MIB LEAK_S [wait|kill|exit]
"""
import os
import signal
import sys
import time

keep_mib, churn_times, leak_mib = (int(a) for a in sys.argv[1:4])
leak_s, end = float(sys.argv[4]), sys.argv[5]
kept, leaked = [], []


def keep():
    for _ in range(keep_mib):
        kept.append(bytearray(1 << 20))  # KEEP


def churn():
    """How many of them lived for less than a second: on a busy machine any may take longer."""
    brief = 0
    for _ in range(churn_times):
        begun = time.monotonic()
        bytearray(3 << 20)  # CHURN
        brief += time.monotonic() - begun < 0.99
    return brief


def leak():
    for _ in range(leak_mib):
        leaked.append(bytearray(1 << 20))  # LEAK
        time.sleep(leak_s / max(leak_mib, 1))


keep()
n_brief = churn()
leak()
print("ready", os.getpid(), n_brief, flush=True)
if end == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
elif end == "wait":
    signal.pause()
