"""An argument has another name in this version."""
import argparse

p = argparse.ArgumentParser(prog="finetune")
p.add_argument("--per-device-batch", type=int, default=8)
p.parse_args(["--batch-size", "16"])
