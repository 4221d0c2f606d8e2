"""More helpers, over those of kit.py: log lines in the formats of common trainers, a tree, a key store, paused helpers."""
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from kit import *          # noqa: F401,F403
import kit

RANK, WORLD = kit.RANK, kit.WORLD


def log(i, style="plain"):
    loss = 2.7 * math.exp(-i / 40) + 0.01 * (i % 3)
    text = {
        "plain": f"step {i} loss={loss:.4f}",
        "meter": f"Epoch: [0][{i:>4}/1000]\tTime 0.412 (0.420)\tLoss {loss:.4e} ({loss * 1.1:.4e})",
        "json": json.dumps({"step": i, "train_loss": round(loss, 5), "lr": 0.0003}),
        "iter": f" iteration {i:>8}/    1000 | consumed samples: {i * 64:>8} | elapsed time per iteration (ms): 412.3 | lm loss: {loss:.6E} |",
        "dict": str({"loss": round(loss, 4), "learning_rate": 5e-05, "epoch": round(i / 100, 2)}),
        "info": f"{time.strftime('%Y-%m-%d %H:%M:%S')} INFO trainer: global_step={i} loss={loss:.4f} it/s=2.4",
        "keras": f"{i}/1000 [>.............................] - ETA: 6:52 - loss: {loss:.4f} - accuracy: 0.6123",
        "jax": f"I{time.strftime('%m%d %H:%M:%S')} {os.getpid()} train.py:88] [{i}] loss={loss:.4f}, steps_per_sec=2.41",
    }[style]
    print(text, flush=True)


def stop_after(pid, seconds):
    """Somebody pauses a helper from outside; a process of its own does it."""
    if os.fork() == 0:
        time.sleep(seconds)
        os.kill(pid, signal.SIGSTOP)
        os._exit(0)


class Tree:
    """Sum up a binary tree and send the total down; unix sockets."""

    def __init__(self):
        self.kids, self.up = [], None
        want = [k for k in (2 * RANK + 1, 2 * RANK + 2) if k < WORLD]
        srv = socket.socket(socket.AF_UNIX)
        srv.bind(kit.tmp(f"t{RANK}"))
        srv.listen(4)
        if RANK:
            while True:
                self.up = socket.socket(socket.AF_UNIX)
                try:
                    self.up.connect(kit.tmp(f"t{(RANK - 1) // 2}"))
                    break
                except OSError:
                    self.up.close()
                    time.sleep(0.05)
        for _ in want:
            self.kids.append(srv.accept()[0])
        srv.close()

    def allreduce(self, x):
        for k in self.kids:
            x += kit.recv_msg(k)
        if self.up:
            kit.send_msg(self.up, x)
            x = kit.recv_msg(self.up)
        for k in self.kids:
            kit.send_msg(k, x)
        return x

    def barrier(self):
        self.allreduce(0)


class Store:
    """Keys kept by a thread of rank 0; get() waits until somebody has set the key."""

    def __init__(self):
        port = int(os.environ["MASTER_PORT"])
        if RANK == 0:
            self.data, self.cv = {}, threading.Condition()
            srv = socket.create_server(("127.0.0.1", port))
            threading.Thread(target=self._accept, args=(srv,), daemon=True).start()
        self.sock = kit.dial(port)

    def _accept(self, srv):
        while True:
            c, _ = srv.accept()
            threading.Thread(target=self._serve, args=(c,), daemon=True).start()

    def _serve(self, c):
        try:
            while True:
                op, k, v = kit.recv_msg(c)
                with self.cv:
                    if op == "add":
                        self.data[k] = self.data.get(k, 0) + v
                        self.cv.notify_all()
                    else:
                        self.cv.wait_for(lambda: self.data.get(k, 0) >= v)
                    r = self.data[k]
                kit.send_msg(c, r)
        except (SystemExit, OSError):
            pass

    def _ask(self, *q):
        kit.send_msg(self.sock, q)
        return kit.recv_msg(self.sock)

    def add(self, k, v=1):
        return self._ask("add", k, v)

    def wait(self, k, v=1):
        return self._ask("wait", k, v)

    def barrier(self, name):
        self.add(name)
        self.wait(name, WORLD)


def tool(name, code, **kw):
    """A helper program started with exec."""
    p = subprocess.Popen([sys.executable, "-c", code], **kw)
    kit.role(name, p.pid)
    return p
