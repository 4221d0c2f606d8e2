"""A signal reaches vigil at some moment of a look into a program; the program must live on."""
import dataclasses
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

# It counts what it has done on a page that whoever asks can read, so that "it runs on" needs no processor's account.
TARGET = """
import mmap, os, sys, threading, time
page = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 8)
def churn():
    kept = []
    while True:
        kept = (kept + [bytearray(20000)])[-200:]
        time.sleep(0)
threading.Thread(target=churn, daemon=True).start()
print("ready", flush=True)
n = 0
kept = []
while True:
    n += 1
    page[:8] = n.to_bytes(8, "little")
    kept = (kept + [bytearray(4000)])[-100:]
    time.sleep(0.0005)
"""
MANNERS = ("attach", "detach", "stack", "flame")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Target:
    def __init__(self, folder):
        self.count = pathlib.Path(folder) / "count"
        self.count.write_bytes(bytes(8))
        self.process = subprocess.Popen([sys.executable, "-S", "-c", TARGET, self.count], stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n"
        self.pid = self.process.pid

    def counted(self):
        return int.from_bytes(self.count.read_bytes(), "little")

    def runs_on(self, seconds=20):
        before, until = self.counted(), time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < until:
            if self.counted() > before + 3:
                return True
            time.sleep(0.002)
        return False

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def command(vigil, manner, pid):
    return [str(vigil), *{"attach": ["heap", str(pid), "--attach"], "detach": ["heap", str(pid), "--detach"],
                          "stack": ["stack", "--native", str(pid)],
                          "flame": ["flame", "--native", "--duration", "0.2", "-o", os.devnull, str(pid)]}[manner]]


@dataclasses.dataclass
class Tally:
    trials: int = 0
    reached: int = 0  # vigil was still there
    died: int = 0
    stood: int = 0


class Attack:
    """Trials of one manner; the moments are spread over the time that vigil takes, first when nobody disturbs it."""

    def __init__(self, vigil, manner, folder, state, seed=1):
        self.vigil, self.manner, self.folder, self.random = vigil, manner, folder, random.Random(seed)
        self.env = {**os.environ, "VIGIL_STATE_DIR": str(state)}
        self.target = None
        self.takes_s = max(self.undisturbed() for _ in range(2))

    def call(self, manner):
        return subprocess.Popen(command(self.vigil, manner, self.target.pid), env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def prepare(self):
        """attach wants a program without the library; the others find one as it is."""
        if self.target and (self.manner == "attach" or self.target.process.poll() is not None):
            self.close()
        if not self.target:
            self.target = Target(self.folder)
        if self.manner == "detach":
            self.call("attach").wait(60)

    def undisturbed(self):
        self.prepare()
        begun = time.monotonic()
        status = self.call(self.manner).wait(60)
        assert status == 0, f"{command(self.vigil, self.manner, self.target.pid)}: status {status}"
        return time.monotonic() - begun

    def trial(self, number, tally):
        self.prepare()
        looker = self.call(self.manner)
        time.sleep(self.random.uniform(0, self.takes_s * 1.1))
        tally.trials += 1
        there = looker.poll() is None
        tally.reached += there
        self.takes_s *= 1.15 if there else 0.8  # the machine is not always as busy as it was at first
        looker.send_signal(number)
        looker.wait(60)
        if not self.target.runs_on():
            dead = self.target.process.poll() is not None
            tally.died += dead
            tally.stood += not dead
            self.close()

    def close(self):
        if self.target:
            self.target.end()
        self.target = None
