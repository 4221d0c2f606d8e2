"""An inference server computes when it has a batch of four; the last three callers wait for a fourth that never comes."""
import os
import queue
import sys
import threading

import kit6


def attend(link, asked):
    while True:
        try:
            prompt = kit6.receive(link)
        except EOFError:
            return
        answer = queue.Queue()
        asked.put((prompt, answer))
        kit6.send(link, answer.get())


def batcher(asked):
    while True:
        batch = [asked.get() for _ in range(4)]
        kit6.crunch(0.2)
        for prompt, answer in batch:
            answer.put(prompt.upper())


def serve(port):
    door, asked = kit6.listen(port), queue.Queue()
    threading.Thread(target=batcher, args=(asked,), daemon=True).start()
    while True:
        threading.Thread(target=attend, args=(door.accept()[0], asked), daemon=True).start()


def ask(rank, world, port):
    link = kit6.dial(int(os.environ["SERVER"]))
    for n in range(15 if rank == 3 else 30):
        kit6.send(link, "prompt %d" % n)
        print("client %d: %s" % (rank, kit6.receive(link)), flush=True)


if sys.argv[1:] and "RANK" not in os.environ:
    serve(int(sys.argv[1]))
else:
    if "SERVER" not in os.environ:
        os.environ["SERVER"] = str(kit6.free_port())
        kit6.start([sys.executable, __file__, os.environ["SERVER"]], "server")
    kit6.ranks(4, ask)
