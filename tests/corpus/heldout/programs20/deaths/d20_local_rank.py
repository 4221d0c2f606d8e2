"""A newer launcher names an option of the ranks with a dash, which the trainer knows with an underscore only."""
import argparse

from kitd20 import *

if "--launched" not in sys.argv:
    for option in "--local_rank", "--local-rank":
        say("starting with %s=0" % option)
        subprocess.run([sys.executable, "-u", sys.argv[0], "--launched", option + "=0"], check=True)
    sys.exit(0)
options = argparse.ArgumentParser(prog="train.py")
options.add_argument("--launched", action="store_true")
options.add_argument("--local_rank", type=int)
options.parse_args()
told(30)
