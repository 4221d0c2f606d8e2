"""A tokenizer service listens, then reads its merges from a FIFO that a preparing job should write; ranks are connected and ask."""
import os
import sys

import kit5


def serve(port):
    door = kit5.listen(port)
    with open("merges.txt") as merges:
        merges.read()
    while True:
        link, _ = door.accept()
        kit5.send(link, len(kit5.receive(link)))


def train(rank, world, port):
    link = kit5.dial(int(kit5.os.environ["TOKENIZER"]))
    print("rank", rank, "asks the tokenizer", flush=True)
    kit5.send(link, "a line of text")
    print(kit5.receive(link))


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "RANK" not in kit5.os.environ:
    os.mkfifo("merges.txt")
    kit5.os.environ["TOKENIZER"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["TOKENIZER"]], "server")
kit5.ranks(4, train)
