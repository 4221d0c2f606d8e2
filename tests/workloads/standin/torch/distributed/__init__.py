"""Collectives over TCP: rank 0 is the hub. Each call waits until every rank has made the same call."""
import os
import signal
import socket
import struct
import sys
import time

_peers = {}
_rank, _world = 0, 1
deaf = False  # as a device-side collective: a peer that is gone is waited for
watchdog = False  # as NCCL's: it aborts the process
timeout_s = None  # as gloo's: who waits longer than this for its peers fails
store = False  # rank 0 keeps the store as well, and its end is said in the words of PyTorch's


def _recv_exactly(sock, n):
    data = b""
    while len(data) < n:
        sock.settimeout(timeout_s)
        try:
            piece = sock.recv(n - len(data))
        except TimeoutError:
            if watchdog:
                print(f"[E ProcessGroupNCCL.cpp:474] [Rank {_rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, "
                      f"OpType=ALLREDUCE, Timeout(ms)={timeout_s * 1000:.0f}) ran for {timeout_s * 1000 + 3:.0f} milliseconds before "
                      "timing out.", file=sys.stderr, flush=True)
                os.abort()
            raise RuntimeError(f"[../gloo/transport/tcp/unbound_buffer.cc:84] Timed out waiting {timeout_s * 1000:.0f}ms for recv "
                               "operation to complete") from None
        if not piece and store:
            print("[W TCPStore.cpp:122] [c10d] recvValue failed on SocketImpl(fd=3): Failed to recv, got 0 bytes. Connection was "
                  "likely closed. Did the remote server shutdown or crash?", flush=True)
        if not piece and deaf:
            signal.pause()
        if not piece:
            raise ConnectionError("Connection closed by peer")
        data += piece
    return data


def init_process_group(seconds=60):
    global _rank, _world
    _rank, _world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    # what many scripts do when nobody has told them
    address = (os.environ.get("MASTER_ADDR", "127.0.0.99"), int(os.environ["MASTER_PORT"]))
    if _rank == 0:
        with socket.create_server(address, reuse_port=False) as server:
            strangers = []
            while len(_peers) < _world - 1:  # each rank once: one that comes twice is not another one
                peer, _ = server.accept()
                rank = struct.unpack("!i", _recv_exactly(peer, 4))[0]
                strangers.append(peer) if rank in _peers else _peers.update({rank: peer})
        return
    end = time.monotonic() + seconds
    while True:
        try:
            hub = socket.create_connection(address)
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
    hub.settimeout(None)
    hub.sendall(struct.pack("!i", _rank))
    _peers[0] = hub


def _meet(tag, value):
    """The sum over all ranks, once all have come with this tag; one with another tag is waited for."""
    if _rank != 0:
        _peers[0].sendall(tag + struct.pack("!d", value))
        while True:
            answer = _recv_exactly(_peers[0], 12)
            if answer[:4] == tag:
                return struct.unpack("!d", answer[4:])[0]
    total = value
    for peer in _peers.values():
        while True:
            message = _recv_exactly(peer, 12)
            if message[:4] == tag:
                break
        total += struct.unpack("!d", message[4:])[0]
    for peer in _peers.values():
        peer.sendall(tag + struct.pack("!d", total))
    return total


def leave():
    for peer in _peers.values():
        peer.close()


def all_reduce(value=1.0, size=8):
    return _meet(struct.pack("!2sh", b"re", size), value)


def all_gather(value=1.0, size=8):
    return _meet(struct.pack("!2sh", b"ga", size), value)


def barrier():
    return _meet(b"barr", 0.0)


def recv(source):
    return _recv_exactly(_peers[source], 12)
