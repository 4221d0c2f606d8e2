"""200 lines of a progress bar of another thread follow the error."""
from job import *

def bars():
    for i in range(200):
        print(f"Uploading artifacts: {i // 2}%|{'#' * (i // 20):<10}| {i}/200 [00:0{i % 10}<00:05]", file=sys.stderr, flush=True)
        time.sleep(0.002)
t = threading.Thread(target=bars)
train(0, 10)
t.start()
raise ValueError("dataset split 'valid' does not exist, only 'train' and 'test'")
