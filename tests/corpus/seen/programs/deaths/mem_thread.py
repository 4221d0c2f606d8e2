"""A thread of metrics leaks, the main thread is steady."""
from mem import *
role('main')
threading.Thread(target=grow, args=(100,), daemon=True).start()
steady()
