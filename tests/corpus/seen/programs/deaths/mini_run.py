"""A launcher of ranks: mini_run.py N [--logs DIR] [--restarts K] PROGRAM [ARG...]; if one fails it ends the others and sums up."""
import sys
from job import *

words = sys.argv[1:]
count, logs, restarts = int(words.pop(0)), None, 0
while words[0].startswith("--"):
    option = words.pop(0)
    if option == "--logs":
        logs = words.pop(0)
    else:
        restarts = int(words.pop(0))
role("launcher")
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = str(s.getsockname()[1])


def attempt(number):
    procs = []
    for r in range(count):
        env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(count), LOCAL_WORLD_SIZE=str(count),
                   MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RESTART_COUNT=str(number), PYTHONUNBUFFERED="1")
        out = open(os.path.join(logs, f"rank{r}.log"), "ab") if logs else None
        procs.append(subprocess.Popen([sys.executable, *words], env=env, stdout=out, stderr=out))
    while any(p.poll() is None for p in procs):
        bad = [r for r, p in enumerate(procs) if p.poll()]
        if bad:
            for p in procs:
                if p.poll() is None:
                    print(f"W0105 mini_run: Sending process {p.pid} closing signal SIGTERM", file=sys.stderr, flush=True)
                    p.terminate()
            for p in procs:
                p.wait()
            return bad[0], procs[bad[0]]
        time.sleep(0.05)
    bad = [r for r, p in enumerate(procs) if p.returncode]
    return (bad[0], procs[bad[0]]) if bad else None


if logs:
    os.makedirs(logs, exist_ok=True)
for number in range(restarts + 1):
    failed = attempt(number)
    if not failed:
        sys.exit(0)
    rank, p = failed
    print(f"E0105 mini_run: failed (exitcode: {p.returncode}) local_rank: {rank} (pid: {p.pid}) of binary: {sys.executable}",
          file=sys.stderr, flush=True)
print(f"mini_run.ChildFailedError: {words[0]} FAILED\nRoot Cause (first observed failure):\n  rank : {rank}\n  exitcode : {p.returncode} "
      f"(pid: {p.pid})\n  error_file: <N/A>\n  traceback : To enable traceback see the manual", file=sys.stderr, flush=True)
sys.exit(1)
