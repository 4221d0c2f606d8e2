"""A thread of an executor derives keys in native code for a minute; main waits for the future."""
import concurrent.futures
import hashlib
import time

import kit5


def derive(seconds):
    end, key = time.monotonic() + seconds, b"k"
    while time.monotonic() < end:
        key = hashlib.pbkdf2_hmac("sha256", key, b"salt", 8_000_000)
    return key


def main():
    kit5.role("main")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for n, seconds in enumerate((1, 64, 1)):
            print("unlock shard", n, flush=True)
            print(pool.submit(derive, seconds).result().hex()[:8], flush=True)


main()
