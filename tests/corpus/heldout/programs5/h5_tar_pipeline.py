"""tar | zstd | unpacker. The unpacker asks for the next volume by a FIFO that nobody answers."""
import os
import subprocess
import sys

import kit5

SCRIPT = 'tar -cf - data | zstd -q -1 -c | "$0" "$1" unpack'


def unpack():
    kit5.role("unpacker")
    got = 0
    while True:
        part = os.read(0, 65536)
        if not part:
            break
        got += len(part)
        if got > 3_000_000:
            os.mkfifo("volume.answer")
            open("volume.ask", "w").write("volume 2\n")
            with open("volume.answer") as answer:
                answer.readline()


def main():
    kit5.role("main")
    os.mkdir("data")
    for k in range(8):
        with open("data/%d" % k, "wb") as f:
            f.write(os.urandom(1 << 20))
        kit5.crunch(0.3)
        print("packed shard", k, flush=True)
    subprocess.run(["bash", "-c", SCRIPT, sys.executable, __file__], check=True)


unpack() if sys.argv[1:] == ["unpack"] else main()
