from kitd8 import *
import urllib.request
fit(5)
for attempt in range(3):
    try:
        urllib.request.urlopen("http://127.0.0.1:9/api/runs", timeout=2)
    except OSError as error:
        log.warning("attempt %d/3: %s", attempt + 1, error)
        last = error
        time.sleep(0.3)
raise SystemExit("cannot reach the tracking server: %s" % last)
