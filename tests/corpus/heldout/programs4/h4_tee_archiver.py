"""A stream of samples goes through tee to the trainer and to an archiver, which waits for a signal to rotate its file."""
import os
import signal
import sys

import kit4

if sys.argv[1:] == ["archive"]:
    n = 0
    for line in open("copy"):
        n += 1
        if n == 60:
            signal.sigwait([signal.SIGUSR2])
    sys.exit(0)
kit4.role("main")
os.mkfifo("copy")
kit4.start([sys.executable, __file__, "archive"], "archiver")
gen = kit4.start(["sh", "-c", "i=0; while :; do i=$((i+1)); printf 'sample %d %01000d\\n' $i 0; done"], "generator", stdout=-1)
tee = kit4.start(["tee", "copy"], "tee", stdin=gen.stdout, stdout=-1)
gen.stdout.close()
for i in range(10000):
    line = tee.stdout.readline()
    if i % 10 == 9:
        kit4.crunch(0.2)
        print("%d samples" % (i + 1), flush=True)
