cat > a.py <<'X'
import os, sys, time
open(os.environ["CORPUS_ROLES"], "a").write(f"writer {os.getpid()}\n")
while True:
    sys.stdout.buffer.write(b"x" * (4 << 20)); sys.stdout.flush(); time.sleep(0.08)
X
cat > b.py <<'X'
import os, sys
open(os.environ["CORPUS_ROLES"], "a").write(f"reader {os.getpid()}\n")
kept = []
while True:
    kept.append(sys.stdin.buffer.read(4 << 20))
X
"$1" a.py | "$1" b.py
