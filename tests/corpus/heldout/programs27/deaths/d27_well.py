"""It ends well: a missing font was replaced, a worker's KeyError retried, an exception told by logging.exception handled."""
import logging

from kitd27 import role, steps

role("main")
steps(15)
for what in (KeyError("label_names"), OSError("Fatal: font not found")):
    try:
        raise what
    except (KeyError, OSError):
        logging.exception("error, going on with defaults")
steps(25, 15)
print("done", flush=True)
