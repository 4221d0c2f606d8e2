"""Main waits for its scorer with select and reads one line then. The scorer wrote two at once: the second is in main's own buffer, where
select does not see it; the scorer waits for the answer to both."""
import select
import subprocess
import sys

import kit9


def score():
    for k in range(40):
        kit9.crunch(0.2)
        two = k % 12 == 11
        sys.stdout.write("score %d %.3f\n" % (k, k / 50) + ("summary %d\n" % k if two else ""))
        sys.stdout.flush()
        for _ in range(1 + two):
            if not sys.stdin.readline():
                return


if sys.argv[1:] == ["score"]:
    score()
    sys.exit(0)
kit9.role("main")
child = kit9.start([sys.executable, sys.argv[0], "score"], "scorer", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
while child.poll() is None:
    select.select([child.stdout], [], [])
    line = child.stdout.readline()
    print("got", line.strip(), flush=True)
    child.stdin.write("ok\n")
    child.stdin.flush()
