from kitd9 import *

if sys.argv[1:] == ["train"]:
    role("trainer")
    batches(600)
    sys.exit(0)
if sys.argv[1:] == ["log"]:
    time.sleep(2)
    import wandb_of_the_team  # noqa: F401
trainer = subprocess.Popen([sys.executable, "-u", sys.argv[0], "train"])
helper = subprocess.Popen([sys.executable, "-u", sys.argv[0], "log"])
if helper.wait():
    print("supervisor: helper 'log' ended with 1, stopping all", flush=True)
    trainer.terminate()
    trainer.wait()
    sys.exit(1)
