"""A text with half a character in it, as it comes from a file of names, cannot be written."""
from kitd23 import steps


def write(texts):
    with open("shard-0.txt", "w", encoding="utf-8") as f:
        for text in texts:
            f.write(text + "\n")


steps(15)
write(["first", "second", "caf\udce9"])
