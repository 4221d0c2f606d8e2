"""Two threads at a barrier of threading's for four, and the main thread at one of multiprocessing's for five. Writes
their numbers once they are on their way."""
import json
import multiprocessing
import threading

if __name__ == "__main__":
    own, shared = threading.Barrier(4), multiprocessing.Barrier(5)
    threads = [threading.Thread(target=own.wait, daemon=True) for _ in range(2)]
    for t in threads:
        t.start()
    print(json.dumps({"main": threading.get_native_id(), "threads": [t.native_id for t in threads]}), flush=True)
    shared.wait()
