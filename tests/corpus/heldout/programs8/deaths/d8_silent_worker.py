from kitd8 import *
import multiprocessing


def work():
    role("loader")
    fit(5)
    os._exit(17)


p = multiprocessing.get_context("fork").Process(target=work, name="loader-1")
p.start()
p.join()
log.error("%s ended with exit code %d, no batch left", p.name, p.exitcode)
sys.exit(1)
