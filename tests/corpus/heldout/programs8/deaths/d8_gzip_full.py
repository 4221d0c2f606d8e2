from kitd8 import *
import subprocess
fit(6)
with open("/dev/full", "wb") as out:
    gzip = subprocess.Popen(["gzip", "-1"], stdin=subprocess.PIPE, stdout=out)
    try:
        for _ in range(200):
            gzip.stdin.write(os.urandom(65536))
        gzip.stdin.close()
    except BrokenPipeError:
        sys.exit("export failed: gzip ended with status %d" % gzip.wait())
    sys.exit("export failed: gzip ended with status %d" % gzip.wait())
