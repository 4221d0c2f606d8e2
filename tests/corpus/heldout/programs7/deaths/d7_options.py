from kitd7 import *
import argparse
print("launching with 1 device", flush=True)
p = argparse.ArgumentParser(prog="finetune")
p.add_argument("--lr", type=float)
p.parse_args(["--lr", "1e-4", "--bf16"])
