"""The decorator that writes an exception where TORCHELASTIC_ERROR_FILE says, in the form that torchrun reads."""
import functools
import json
import os
import time
import traceback


def record(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        try:
            return fn(*args, **kwargs)
        except Exception as e:
            path = os.environ.get("TORCHELASTIC_ERROR_FILE")
            if path:
                extra = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
                with open(path, "w") as f:
                    json.dump({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": extra}}, f)
            raise
    return wrapper
