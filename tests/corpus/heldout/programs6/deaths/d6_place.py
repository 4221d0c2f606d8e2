from kitd6 import *
import shutil
os.makedirs("run17")
os.chdir("run17")
epochs(5)
threading.Thread(target=shutil.rmtree, args=("../run17",)).start()
time.sleep(0.5)
print("best so far is in", os.path.abspath("best.pt"), flush=True)
