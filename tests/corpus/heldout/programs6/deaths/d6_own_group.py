from kitd6 import *
role("main")
for k in range(2):
    subprocess.Popen(["sleep", "60"])
epochs(6)
print("ends its helpers", flush=True)
os.kill(0, signal.SIGTERM)
time.sleep(20)
