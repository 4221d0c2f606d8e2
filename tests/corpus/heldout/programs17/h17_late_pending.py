"""Two ranks have sums by a coordinator. A thread of each rank reads the answers and hands them on by their number. Rank
1 registers a number only after its request is sent; in one step it writes a long record in between: the answer is
there before, and the thread drops it as that of nobody. Its main thread waits for it.

slow: it is registered before, and rank 0 merges adapters for 48 s."""
import json
import threading

from kit17 import SLOW, Meeting, busy, crunch, main, told


class Client(Meeting):
    def __init__(self, *args):
        super().__init__(*args)
        self.pending, self.number = {}, 0
        threading.Thread(target=self.read_answers, name="answers", daemon=True).start()

    def read_answers(self):
        for line in self.file:
            number, value = json.loads(line)
            if number in self.pending:
                done, box = self.pending.pop(number)
                box.append(value)
                done.set()

    def mean(self, name, x, record=None):
        self.number += 1
        done, box = threading.Event(), []
        if SLOW or record is None:
            self.pending[self.number] = done, box
        self.ask(name, x, self.number)
        if record:
            with open("record.json", "w") as f:
                json.dump(record, f)
        self.pending[self.number] = done, box
        done.wait()
        return box[0]


def body(rank, world, port):
    client = Client(rank, world, port)
    for step in range(60 if SLOW else 400):
        crunch(0.18)
        record = None
        if step == 45 and rank == 1 and not SLOW:
            crunch(0.8)
            record = {"step": step, "histogram": [k / 7 for k in range(600000)]}
        if SLOW and (rank, step) == (0, 40):
            busy(48)
        client.mean("grad%d" % step, 0.1, record)
        if rank == 0:
            told(step)


main(2, body, "env")
