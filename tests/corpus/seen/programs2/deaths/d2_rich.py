import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

def hook(t, v, tb):
    w = 98
    say("╭" + "─" * 30 + " Traceback (most recent call last) " + "─" * 31 + "╮")
    for line in ("/opt/app/train.py:88 in <module>", "", "   85 if __name__ == \"__main__\":", "   86     cfg = load()",
                 "   87     # run it", " ❱ 88     run(cfg)", "   89", "", "/opt/app/train.py:41 in run", "",
                 " ❱ 41     raise ValueError(msg)"):
        say("│ " + line.ljust(w - 3) + "│")
    say("╰" + "─" * (w - 2) + "╯")
    say(f"{t.__name__}: {v}")
sys.excepthook = hook
steps(6)
raise ValueError("warmup_steps (2000) is larger than max_steps (1000)")
