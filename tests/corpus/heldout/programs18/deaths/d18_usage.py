"""A comma has got into the learning rate of a sweep; the second try of it fails at its start."""
import argparse

from kitd18 import *


def train(words):
    parser = argparse.ArgumentParser(prog="train")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.parse_args(words)
    told(20)


train(["--lr", "3e-4", "--epochs", "2"])
train(["--lr", "3e-4,", "--epochs", "2"])
