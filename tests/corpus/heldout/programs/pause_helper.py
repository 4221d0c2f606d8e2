"""A helper is paused for 45 s on purpose, then goes on."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import signal
import subprocess
import time

LOOP = "import time,sys\nfor i in range(10**9):\n    sys.stdin.readline()\n    time.sleep(0.1)\n    print(i, flush=True)\n"


def run():
    comm = kit.Star()
    if kit.rank() == 1:
        p = subprocess.Popen([sys.executable, "-c", LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        kit.role("helper1", p.pid)
    for i in range(24):
        kit.work(0.2)
        if kit.rank() == 1:
            if i == 12:
                p.send_signal(signal.SIGSTOP)
                if os.fork() == 0:
                    time.sleep(58)
                    os.kill(p.pid, signal.SIGCONT)
                    os._exit(0)
            p.stdin.write("next\n")
            p.stdout.readline()
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)
    if kit.rank() == 1:
        p.kill()


kit.go(3, run)
