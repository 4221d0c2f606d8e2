from kitd6 import *
try:
    epochs(6)
    say("E dataset: manifest.json lists 0 files for split 'valid'")
    code = 3
finally:
    print("closing loggers", flush=True)
    print("Training finished, see runs/17 for the results.", flush=True)
sys.exit(code)
