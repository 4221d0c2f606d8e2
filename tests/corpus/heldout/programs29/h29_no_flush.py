"""Training of one process with a tokenizer behind two pipes. Batches are asked for with flush; the prompts of the evaluation by a
loop that has forgotten it, and are fewer than a buffer.

slow: the tokenizer builds its merges anew for 71 s when the evaluation begins."""
import subprocess
import sys

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, busy, role, start


def tokenizer():
    for line in sys.stdin:
        if line.startswith("!rebuild"):
            busy(71)
            continue
        print(" ".join(str(len(word) * 31 % 997) for word in line.split()), flush=True)


class Tokenizer:
    def __init__(self):
        self.child = start(OWN + ["tokenizer"], "tokenizer", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def encode(self, text):
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()
        return self.child.stdout.readline().split()

    def encode_all(self, texts):
        for text in texts:
            print(text, file=self.child.stdin)
        if SLOW:
            self.child.stdin.flush()
        return [self.child.stdout.readline().split() for _ in texts]


def evaluate(tokens, model):
    prompts = ["the %d little ships went out to sea" % k for k in range(40)]
    if SLOW:
        tokens.child.stdin.write("!rebuild\n")
    ids = tokens.encode_all(prompts)
    print("eval: %d prompts, %d ids, perplexity %.2f" % (len(prompts), sum(map(len, ids)), model.loss() + 9), flush=True)


def train():
    role("main")
    tokens, model, report = Tokenizer(), Model(), Report("bar")
    for step in range(1, STEPS + 1):
        ids = tokens.encode("step %d of a long story about a ship" % step)
        model.update(model.gradient() + 1e-9 * len(ids))
        report(step, model.loss())
        if step % STALL == 0:
            evaluate(tokens, model)
    tokens.child.stdin.close()


if sys.argv[-1] == "tokenizer":
    tokenizer()
else:
    train()
