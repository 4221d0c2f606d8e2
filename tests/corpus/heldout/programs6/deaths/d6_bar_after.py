from kitd6 import *
from tqdm import tqdm
def check(n):
    if n == 17:
        raise ValueError("label 151 is out of range, the data set has 150 classes")
bar = tqdm(total=60, desc="train", mininterval=0.1)
threading.excepthook = lambda told: None
try:
    for n in range(60):
        check(n)
        time.sleep(0.15)
        bar.update()
except ValueError:
    traceback.print_exc()
    for k in range(5):
        bar.refresh()
        time.sleep(0.1)
    bar.close()
    os._exit(1)
