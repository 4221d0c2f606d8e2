"""Rank 0 writes its checkpoint into an uploader, the uploader into a bucket; the bucket's server waits for its disk's worker."""
import queue
import subprocess
import sys

import kit5


def bucket(port):
    door, disk = kit5.listen(port), queue.Queue(4)
    link, _ = door.accept()
    while True:
        disk.put(kit5.read(link, 65536))  # the worker that writes was never started


def upload(port):
    kit5.role("uploader")
    link = kit5.dial(port)
    while part := sys.stdin.buffer.read(65536):
        link.sendall(part)


def train(rank, world, port):
    mesh, bucket_port = kit5.Mesh(rank, world), kit5.os.environ["BUCKET"]
    for step in range(1000):
        kit5.crunch(0.2)
        mesh.reduce(1)
        print("rank %d step %d" % (rank, step), flush=True)
        if rank == 0 and step == 10:
            p = subprocess.Popen([sys.executable, __file__, "upload", bucket_port], stdin=subprocess.PIPE, preexec_fn=kit5.with_parent)
            for _ in range(100):
                p.stdin.write(bytes(1_000_000))
            p.stdin.close()
            p.wait()


if sys.argv[1:2] == ["bucket"]:
    bucket(int(sys.argv[2]))
elif sys.argv[1:2] == ["upload"]:
    upload(int(sys.argv[2]))
else:
    if "RANK" not in kit5.os.environ:
        kit5.os.environ["BUCKET"] = str(kit5.free_port())
        kit5.start([sys.executable, __file__, "bucket", kit5.os.environ["BUCKET"]], "bucket")
    kit5.ranks(3, train)
