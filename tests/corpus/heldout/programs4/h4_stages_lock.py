"""decoder | tokenizer | trainer; the dictionary's file is locked by whoever uses it."""
import fcntl
import os
import sys

import kit4


def decode(out):
    for k in range(1000):
        kit4.crunch(0.06)
        if k == 60:
            with open("dictionary", "a") as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                f.write("word%d\n" % k)
        out.write("picture%d\n" % k)
        out.flush()


def main():
    kit4.role("main")
    d = kit4.start([sys.executable, __file__, "decode"], "decoder", stdout=-1)
    t = kit4.start([sys.executable, "-u", "-c", "import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)"],
                   "tokenizer", stdin=d.stdout, stdout=-1, text=True)
    d.stdout.close()
    with open("dictionary", "a") as f:
        for i in range(100):
            batch = []
            if i == 10:
                fcntl.flock(f, fcntl.LOCK_SH)
            while len(batch) < 3:
                batch.append(t.stdout.readline())
            kit4.crunch(0.2)
            print("train step %d, %s" % (i, batch[0].strip()), flush=True)


decode(sys.stdout) if sys.argv[1:] == ["decode"] else main()
