"""Two ranks with a pair of sockets, forked. A message is a length of four bytes and its body. The function that hands over the
scheduler's state, new in this version, counts the four bytes of the header as well: rank 1 waits for four bytes that do not come.

slow: the length is right, rank 0 writes its optimizer's state to a slow folder for 70 s first."""
import json
import socket
import struct

from kit29 import SLOW, STALL, STEPS, Model, Report, busy, crunch, os, read, role, time, with_parent


def send_json(sock, thing):
    body = json.dumps(thing).encode()
    sock.sendall(struct.pack("!I", len(body)) + body)


def send_state(sock, state):
    body = json.dumps(state).encode()
    frame = struct.pack("!I", len(body) + (0 if SLOW else 4)) + body
    sock.sendall(frame)


def receive(sock):
    (size,) = struct.unpack("!I", read(sock, 4))
    return json.loads(read(sock, size))


def save_optimizer(model):
    with open("optimizer.json", "w") as f:
        for part in range(14):
            f.write(json.dumps({"part": part, "moment": model.weight}) + "\n")
            f.flush()
            os.fsync(f.fileno())
            busy(5)


def worker(rank, sock):
    os.environ["RANK"] = str(rank)
    model, report = Model(rank), Report("logging", rank)
    for step in range(1, STEPS + 1):
        mine = model.gradient()
        send_json(sock, {"step": step, "grad": mine})
        theirs = receive(sock)
        assert theirs["step"] == step
        model.update((mine + theirs["grad"]) / 2)
        report(step, model.loss())
        if step % STALL == 0:
            if rank == 0:
                if SLOW:
                    save_optimizer(model)
                send_state(sock, {"lr": 0.02, "milestones": [step, 2 * step]})
                assert receive(sock) == "ok"
            else:
                state = receive(sock)
                send_json(sock, "ok")
                print("rank 1: schedule from rank 0: %s" % state, flush=True)


def launch():
    role("launcher")
    ends, pids = socket.socketpair(), []
    for rank in range(2):
        pid = os.fork()
        if pid == 0:
            with_parent()
            ends[1 - rank].close()
            worker(rank, ends[rank])
            os._exit(0)
        role("rank%d" % rank, pid)
        pids.append(pid)
    for end in ends:
        end.close()
    codes = [os.waitpid(pid, 0)[1] for pid in pids]
    raise SystemExit(1 if any(codes) else 0)


launch()
