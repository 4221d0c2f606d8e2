"""A helper of metrics grows, the large trainer is steady."""
from mem import *
if len(sys.argv) > 1:
    role('metrics')
    grow(30)
keep = block(300)
role('main')
subprocess.Popen([sys.executable, __file__, 'metrics'])
steady()
