"""Two ranks over TCP; rank 0 has a process beside it that sends metrics to a tracking server. At the end of the run rank 0 tells it
to finish and waits for its word. The server is not there any more, and the process tries again for ever; rank 1 is in the
last barrier. As a program with a port: that process.

slow: after 50 s there is a server."""
import os
import socket
import sys
import threading
import time

from kit22 import SLOW, Mesh, Model, free_port, listen, main, start


def post(port, rows):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
        s.sendall(b"".join(rows))
        return s.recv(16)


def uploader(port):
    rows = []
    for row in sys.stdin.buffer:
        if row != b"finish\n":
            rows.append(row)
            continue
        while True:
            try:
                post(port, rows)
                break
            except OSError as error:
                print("upload failed (%s), trying again" % error, file=open("uploader.log", "a"))
                time.sleep(2)
        os.write(1, b"finished\n")
        return


def serve_late(port):
    time.sleep(54)
    door = listen(port)
    while True:
        door.accept()[0].sendall(b"ok")


def finish(tracker):
    tracker.stdin.write(b"finish\n")
    tracker.stdin.flush()
    return tracker.stdout.readline()


def body(rank, world, port):
    mesh, model, tracking = Mesh(rank, world, port), Model(rank), free_port()
    if rank == 0:
        tracker = start([sys.executable, os.path.abspath(__file__), "uploader", str(tracking)], "uploader", stdin=-1, stdout=-1)
    if SLOW and rank == 0:
        threading.Thread(target=serve_late, args=(tracking,), daemon=True).start()
    for step in range(30):
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())))
        if rank == 0:
            model.told(step)
            tracker.stdin.write(b"loss %.4f\n" % model.loss)
    if rank == 0:
        finish(tracker)
    mesh.barrier("end")


if "uploader" in sys.argv:
    uploader(int(sys.argv[2]))
else:
    main(2, body)
