from kitd6 import *
role("main")
def stop(number, frame):
    say(f"got {signal.Signals(number).name}, saving step 812")
    time.sleep(0.5)
    os._exit(85)
signal.signal(signal.SIGUSR2, stop)
epochs(200, pause=0.2)
