"""A tokenizer service asks a normalizer, and the normalizer asks the tokenizer for one word; each attends to one caller at a time."""
import sys

import kit6


def serve(port, other, name):
    door = kit6.listen(port)
    while True:
        link, _ = door.accept()
        word = kit6.receive(link)
        kit6.crunch(0.05)
        if name == "tokenizer" or word == "word21":
            far = kit6.dial(other)
            kit6.send(far, word)
            kit6.receive(far)
        kit6.send(link, word)
        link.close()


def main():
    kit6.role("main")
    a, b = kit6.free_port(), kit6.free_port()
    kit6.start([sys.executable, __file__, str(a), str(b), "tokenizer"], "tokenizer")
    kit6.start([sys.executable, __file__, str(b), str(a), "normalizer"], "normalizer")
    for n in range(100):
        link = kit6.dial(a)
        kit6.send(link, "word%d" % n)
        print(n, kit6.receive(link), flush=True)


serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]) if sys.argv[1:] else main()
