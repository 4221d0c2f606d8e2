from kitd6 import *
role("main")
table = hold(120)
def work(k):
    role("worker")
    for page in range(0, len(table), 4096):
        if page % (4 << 20) == 0:
            time.sleep(0.25)
        table[page] = k   # a count of use in each record
    time.sleep(60)
for k in range(4):
    if os.fork() == 0:
        work(k)
        os._exit(0)
steps(600, pause=0.1)
