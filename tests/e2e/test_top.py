"""vigil top: the table once, and the screen in a terminal of its own."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pyte
from conftest import wait_for

HOLD = "import time; kept = bytearray(60 << 20); print('ready', flush=True); time.sleep(600)"


class Screen:
    """A terminal with `vigil top` in it."""

    def __init__(self, vigil, *args, columns=100, rows=30):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.process = subprocess.Popen([vigil.binary, "top", *args], stdin=slave, stdout=slave, stderr=slave,
                                        env=vigil.environment({"TERM": "linux", "LC_ALL": "C.UTF-8"}),
                                        start_new_session=True)
        os.close(slave)

    def read(self, pattern, seconds=30):
        """Until the screen has the pattern; returns its text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = "\n".join(self.screen.display)
            if re.search(pattern, text):
                return text
            if select.select([self.master], [], [], 0.1)[0]:
                self.stream.feed(os.read(self.master, 65536))
        raise AssertionError(f"{pattern!r} never came:\n{text}")

    def press(self, keys):
        os.write(self.master, keys.encode())

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def holder(vigil):
    """A running job with 60 MiB; its process as the table has it."""
    vigil.start("run", "--name", "held", "--", "/usr/bin/python3", "-c", HOLD)

    def rows():  # jobs of other tests on this machine are in the table, too
        mine = [json.loads(line)["id"] for line in vigil("jobs", "--json").out.splitlines()]
        found = vigil("top", "--once", "--json").json()["processes"]
        return next((p for p in found if p.get("job") in mine and p["own_bytes"] > 60 << 20
                     and "cpu_ratio" in p), None)  # not before it was seen twice
    return wait_for(rows)


def test_once_prints_the_processes_of_jobs(vigil):
    row = holder(vigil)
    assert row["state"] in "SRD" and row["cpu_ratio"] < 1.5 and row["rss_bytes"] >= row["own_bytes"]
    out = vigil("top", "--once").out.decode()
    assert re.search(rf"^ *{row['pid']} held-\w+ .*MiB .* S /usr/bin/python3 -c", out, re.M), out
    assert "of no job are hidden" in out and re.search(r"^node +\[", out, re.M)
    everything = json.loads(vigil("top", "--once", "--all", "--json").out)
    assert any(p["pid"] == os.getpid() for p in everything["processes"]) and everything["hidden"] == 0
    assert vigil("top", "--once", "no-such-job").status == 4
    assert vigil("top", "--every", "1ms").status == 2


def test_the_screen_is_searched_and_ends_a_process(vigil):
    row = holder(vigil)
    screen = Screen(vigil, "--every", "300ms")
    try:
        screen.read(rf"{row['pid']} held-")
        screen.press("/nothing-like-this\r")
        screen.read(r"0 processes")
        screen.press("/" + "\x7f" * 20 + "kept = byte\r")  # what was there is erased first
        screen.read(r"1 process,")
        screen.press("k")
        screen.read(rf"send SIGTERM to pid {row['pid']}")
        screen.press("n")
        screen.read(r"q ends")
        screen.press("k")
        screen.read(rf"send SIGTERM to pid {row['pid']}")
        assert os.path.exists(f"/proc/{row['pid']}")
        screen.press("y")
        screen.read(r"SIGTERM was sent")
        wait_for(lambda: not os.path.exists(f"/proc/{row['pid']}"))
        screen.press("q")
        assert screen.process.wait(30) == 0
    finally:
        screen.close()


def test_ctrl_c_gives_the_terminal_back(vigil):
    row = holder(vigil)
    screen = Screen(vigil, "--readonly", columns=50)
    try:
        screen.read(str(row["pid"]))
        screen.press("k")
        screen.read(r"--readonly")
        os.kill(row["pid"], 0)
        screen.press("\x03")
        assert screen.process.wait(30) == 0
        attributes = termios.tcgetattr(screen.master)
        assert attributes[3] & termios.ECHO and attributes[3] & termios.ICANON
    finally:
        screen.close()
        os.kill(row["pid"], signal.SIGTERM)


def test_keys_as_htop_has_them(vigil):
    """What has a letter has a function key too, the list of keys is one key away, and no hint is cut."""
    row = holder(vigil)
    screen = Screen(vigil, "--every", "300ms", columns=80, rows=24)
    try:
        text = screen.read(rf"{row['pid']} held-")
        hints = screen.read(r"q ends").split("\n")[-1].rstrip()
        assert "k end a process (SIGTERM)" in hints and len(hints) <= 80, text
        for key in ("h", "?"):
            screen.press(key)
            screen.read(r"k F9 +end the process")
            screen.press(" ")
            screen.read(rf"{row['pid']} held-")
        screen.press("\x1b[[A")  # F1 of the Linux console
        screen.read(r"k F9 +end the process")
        screen.press(" ")
        screen.read(rf"{row['pid']} held-")
        screen.press("\x1b[17~")  # F6
        screen.read(r"sorted by")
        screen.press("\x1b[20~")  # F9
        screen.read(r"send SIGTERM to pid")
        screen.press("n")
        screen.read(r"q ends")
        screen.press("\x1b[21~")  # F10
        assert screen.process.wait(30) == 0
    finally:
        screen.close()


FAMILY = ("import subprocess, sys, time\n"
          "kept = bytearray(60 << 20)\n"
          "subprocess.Popen([sys.executable, '-c', 'import time; kept = bytearray(70 << 20); time.sleep(600)'])\n"
          "time.sleep(600)\n")


def test_more_of_htops_keys(vigil):
    """Orders, users, marks, branches: what a viewer of jobs has a use for does as in htop."""
    vigil.start("run", "--name", "family", "--", "/usr/bin/python3", "-c", FAMILY)

    def held():
        found = vigil("top", "--once", "--json").json()["processes"]
        found = [p for p in found if p.get("job", "").startswith("family") and p["own_bytes"] > 50 << 20]
        return found[1:] and found

    child, parent = [p["pid"] for p in wait_for(held)]
    job = vigil("jobs", "--json").json()["id"]
    screen = Screen(vigil, job, "--every", "300ms", columns=120, rows=30)
    try:
        screen.read(rf"{child} family(?s:.*){parent} family")  # the largest first
        screen.press("I")
        screen.read(rf"{parent} family(?s:.*){child} family")
        screen.press("IT")
        screen.read(r"TIME")
        screen.press("unobody\r")
        screen.read(r"0 processes")
        screen.press("u\r")
        screen.read(r"2 processes")
        screen.press("t")
        screen.read(rf"{parent} family(?s:.*){child} family")
        screen.press("\x1b[1~")  # Home
        screen.press("-")
        assert str(child) not in screen.read(r"\[\+\] /usr/bin/python3")
        screen.press("+")
        screen.read(rf"{parent} family(?s:.*){child} family")
        screen.press("c")  # marks the process and what it started
        screen.read(rf"{parent}\*family(?s:.*){child}\*family")
        screen.press("k")
        screen.read(r"send SIGTERM to 2 processes")
        screen.press("nU")
        screen.read(rf"{parent} family(?s:.*){child} family")
        screen.press(str(child))
        screen.press(" k")
        screen.read(rf"send SIGTERM to pid {child}")
        screen.press("y")
        screen.read(r"SIGTERM was sent to pid")
        wait_for(lambda: f"{child} " not in vigil("top", "--once").out.decode())
        assert os.path.exists(f"/proc/{parent}")
        screen.press("Z")
        screen.read(r"stands still")
        screen.press("ZH")
        screen.read(r"no threads here: vigil stack")
        screen.press("q")
        assert screen.process.wait(30) == 0
    finally:
        screen.close()


def test_a_hint_is_whole_or_absent(vigil):
    screen = Screen(vigil, columns=40, rows=12)
    try:
        hints = screen.read(r"q ends").split("\n")[-1].rstrip()
        assert re.fullmatch(r"(?:(?:q ends|h keys|/ search|k end a process \(SIGTERM\)|t tree|a all|s order|M P T N sort|arrows|u user|"
                            r"space marks)(?:  |$))+", hints), hints
        screen.press("h")
        text = screen.read(r"any key goes on")
        assert "k F9        end the process (SIGTERM)" in text or "a           processes of no job too" in text
    finally:
        screen.close()


def test_a_dumb_terminal_is_not_drawn_on(vigil):
    master, slave = pty.openpty()
    try:
        done = subprocess.run([vigil.binary, "top"], stdin=slave, stdout=slave, stderr=subprocess.PIPE,
                              env=vigil.environment({"TERM": "dumb"}), timeout=30)
        assert done.returncode == 1 and b"--once" in done.stderr, done
    finally:
        os.close(slave)
        os.close(master)
