from kitd7 import *
logging.basicConfig(format="%(asctime)s %(levelname)-8s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("trainer")
for n in range(6):
    log.info("step %d loss %.3f", n, 2 / (n + 1))
    time.sleep(0.2)
log.critical("optimizer state of layer 11 is missing, cannot resume")
os._exit(9)
