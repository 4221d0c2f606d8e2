from kitd7 import *
train(4)
for n in range(2):
    try:
        raise RuntimeError("CUDA error: out of memory")
    except RuntimeError:
        traceback.print_exc()
        say("skipped batch", n)
p = subprocess.Popen(["sleep", "50"])
p.kill()
p.wait()
train(4, 4)
say("wandb: ERROR uploading (ignored)")
