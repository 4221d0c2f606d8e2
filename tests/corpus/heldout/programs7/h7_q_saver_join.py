"""At the end main joins the thread that writes its checkpoint, 32 KB each half second, for 65 s. A bar of tqdm is at 100 %."""
import threading
import time

from tqdm import tqdm

import kit7


def save():
    with open("last.ckpt", "wb", buffering=0) as f:
        for _ in range(130):
            f.write(bytes(32768))
            time.sleep(0.5)


kit7.role("main")
for n in tqdm(range(20), desc="train"):
    kit7.crunch(0.2)
saver = threading.Thread(target=save, name="saver")
saver.start()
print("training finished, saving", flush=True)
saver.join()
