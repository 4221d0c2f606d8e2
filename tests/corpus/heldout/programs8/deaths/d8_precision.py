import argparse
p = argparse.ArgumentParser(prog="train")
p.add_argument("--precision", choices=["fp32", "bf16"])
p.parse_args(["--precision", "fp8"])
