"""A service scores prompts for a trainer: what comes is put into a box with room for four, and a thread answers one after
the other. The box is a deque with maxlen: a fifth pushes the first one out, without a word. The trainer asks for two at a
time and at last for eight: it waits for answers to prompts that are no longer there, the service for more."""
import collections
import json
import sys
import threading

from kit18 import again, crunch, dial, free_port, listen, me, role, start, told


def answer(box, came, file):
    while True:
        with came:
            came.wait_for(lambda: box)
            number = box.popleft()
        crunch(0.3)
        file.write(json.dumps([number, 0.5]) + "\n")
        file.flush()


def serve(port):
    me("service")
    file = listen(port).accept()[0].makefile("rw")
    box, came = collections.deque(maxlen=4), threading.Condition()
    threading.Thread(target=answer, args=(box, came, file), daemon=True).start()
    for line in file:
        with came:
            box.append(json.loads(line))
            came.notify()


def score(file, numbers):
    for number in numbers:
        file.write("%d\n" % number)
    file.flush()
    left = set(numbers)
    while left:
        left.remove(json.loads(file.readline())[0])


def train():
    role("main")
    port = free_port()
    start(again("serve") + ["at", str(port)], "service")
    file = dial(port).makefile("rw")
    for step in range(400):
        if step % 20 == 10:
            score(file, [10 * step + k for k in range(2 if step < 45 else 8)])
        crunch(0.2)
        told(step)


if "serve" in sys.argv:
    serve(int(sys.argv[sys.argv.index("at") + 1]))
else:
    train()
