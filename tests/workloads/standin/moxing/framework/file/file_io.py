"""Copies by threads, as the original does: the caller waits for them."""
import socket
import threading


def _download(store):
    store.recv(1 << 16)


def copy_parallel(source, target, threads=4):
    stores = [socket.socketpair() for _ in range(threads)]
    workers = [threading.Thread(target=_download, args=(ours,), daemon=True) for ours, _ in stores]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
