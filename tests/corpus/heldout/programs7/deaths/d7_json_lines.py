from kitd7 import *
def event(level, **more):
    print(json.dumps({"ts": time.time(), "level": level, **more}), flush=True)


for n in range(6):
    event("info", step=n, loss=2 / (n + 1))
    time.sleep(0.2)
event("error", msg="embedding has 50257 rows, tokenizer has 50304")
event("info", msg="wandb: run ended, 6 rows synced")
os._exit(1)
