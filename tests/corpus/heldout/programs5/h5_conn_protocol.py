"""A search process and its evaluator, joined by a multiprocessing.Pipe. After a reload each waits for the other's greeting."""
import multiprocessing as mp

import kit5


def evaluate(conn):
    kit5.with_parent()
    kit5.role("evaluator")
    conn.send("ready")
    while True:
        what, value = conn.recv()
        kit5.crunch(0.3)
        if what == "reload":
            config = conn.recv()
            conn.send(("loaded", config))
        conn.send(("score", value * 0.5))


def main():
    kit5.role("main")
    here, there = mp.Pipe()
    mp.Process(target=evaluate, args=(there,), daemon=True).start()
    there.close()
    here.recv()
    for trial in range(100):
        if trial and trial % 9 == 0:
            here.send(("reload", 0))
            assert here.recv() == "ready"
            here.send({"lr": 0.1})
        here.send(("trial", trial))
        print("trial", trial, here.recv(), flush=True)


main()
