from kitd8 import *


def report():
    raise ConnectionError("dashboard is not there")


threading.Thread(target=report).start()
fit(10)
log.info("training complete, best loss 0.41")
