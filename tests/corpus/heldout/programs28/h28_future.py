"""An evaluation by a judge model: requests go over TCP with a number, a thread resolves the futures by the numbers that come
back. At step 110 the service answers with the number of the batch, not of the request ("upgraded"), which the thread ignores.

slow: the service takes 64 s for one answer."""
import concurrent.futures
import sys
import threading
import time

from kit28 import SLOW, STALL, STEPS, compute, dial, free_port, listen, part, receive, role, send, tell


def serve(port):
    end = listen(port).accept()[0]
    while True:
        number, prompt = receive(end)
        if number == STALL and SLOW:
            time.sleep(64)
        send(end, (number if number != STALL or SLOW else "batch-%d" % number, len(prompt)))


class Client:
    def __init__(self, port):
        self.end, self.open = dial(port), {}
        threading.Thread(target=self.answers, name="answers", daemon=True).start()

    def answers(self):
        while True:
            number, score = receive(self.end)
            future = self.open.pop(number, None)
            if future is not None:
                future.set_result(score)

    def score(self, number, prompt):
        future = self.open[number] = concurrent.futures.Future()
        send(self.end, (number, prompt))
        return future


if "judge" in sys.argv:
    serve(int(sys.argv[2]))
else:
    role("main")
    port = free_port()
    part("judge", port)
    client = Client(port)
    for step in range(STEPS):
        compute()
        client.score(step, "prompt " * 20).result()
        tell(step, "it")
