"""A reader in C sends records with their length before them. A record of another kind has its length in the other byte order, so that
the trainer waits for 352 MB."""
import struct
import sys

import kit9

kit9.role("main")
port = kit9.free_port()
door = kit9.listen(port)
kit9.start([sys.argv[1], str(port)], "reader")
link, _ = door.accept()
for k in range(60):
    (size,) = struct.unpack("!I", kit9.read(link, 4))
    record = kit9.read(link, size)
    link.sendall(b"k")
    kit9.crunch(0.1)
    print("record %d: %d bytes" % (k, len(record)), flush=True)
