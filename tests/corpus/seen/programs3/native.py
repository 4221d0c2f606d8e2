"""Hangs of programs in C++, C, Rust, Go and Node: one rank each, started as a launcher would."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kit3 import kit, told  # noqa: E402

NODE = """
const net = require('net'); let n = 0;
const t = setInterval(() => { console.log(`step ${n} loss ${1/(1+n)}`); if (++n == 8) { clearInterval(t);
  const s = net.connect(+process.env.PS, '127.0.0.1', () => s.write('GET shard 7\\n')); s.on('data', d => process.exit(0)); } }, 300);
"""


def case(name, program, wait, about, culprit, why, check, needs=(), **more):
    told(name, "hang", wait, about, ["{python}", "{here}/programs3/native.py", program], {"culprit": culprit, "why": [why], "proved": False},
         check=check, needs=list(needs), **more)


ONE = {"ranks": [0]}
case("u-cpp-notify", "{bin}/u_cvlost", "std::condition_variable", "a pool of C++ threads and the main thread wait for a condition each", ONE,
     r"condition|futex|lock|thread|wait", {"rank0": "futex"}, ["g++"])
case("u-c-shared-mutex", "{bin}/u_pshared", "process-shared mutex, holder stopped", "the helper with the shared mutex was stopped", {"role": "helper"},
     r"stop|mutex|lock", {"rank0": "futex", "helper": "^T"}, ["gcc"])
case("u-c-spin", "{bin}/u_spin", "spin on shared memory", "the loop spins on a flag that a paused helper has to set", {"role": "helper"},
     r"spin|shared|helper|flag|poll|memory|loop", {"rank0": "^R"}, ["gcc"], cpu=[0.05, 2])
case("u-rust-channel", "{bin}/u_channel", "mpsc::recv, own sender kept", "the main thread holds a sender of the channel it drains", ONE,
     r"channel|recv|futex|wait|thread|park", {"rank0": "futex"}, ["rustc"])
case("u-rust-order", "{bin}/u_rorder", "two std::sync::Mutex", "two threads take two mutexes in opposite order", ONE,
     r"mutex|lock|futex|deadlock", {"rank0*": "futex"}, ["rustc"])
case("u-go-waitgroup", "{bin}/u_wg", "sync.WaitGroup", "one worker returns early without Done; a ticker lives", ONE,
     r"WaitGroup|goroutine|futex|wait|sema", {"rank0*": "futex|epoll"}, ["go"])
told("u-node-fetch", "hang", "TCP answer", "a Node program waits for a server that does not answer", ["{python}", "{here}/programs3/native.py", "node"],
     {"culprit": {"outside": r"127\.0\.0\.1:\d+"}, "why": ["server|answer|socket|tcp|127"], "proved": False}, check={"rank0": "epoll"}, needs=["node"])


def main():
    if "RANK" in os.environ:
        kit.role("rank0")
        os.execvp(sys.argv[1], sys.argv[1:] if sys.argv[1] != "node" else ["node", "-e", NODE])
    if sys.argv[1] == "node":
        os.environ["PS"] = kit.outside(kit.mute_server)
    return kit.launch(1, [sys.executable, *sys.argv])


if __name__ == "__main__":
    sys.exit(main())
