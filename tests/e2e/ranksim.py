"""Flight Recorder dumps as PyTorch writes them, and a server that plays NCCL's RAS."""
import json
import pickle
import socket
import threading

LIBRARY = {"name": "all_reduce", "filename": "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py",
           "line": 2501}


class Rank:
    """The calls of one rank."""

    def __init__(self, rank, groups, version="2.4"):
        self.rank, self.groups, self.version = rank, groups, version
        self.entries, self.seq, self.p2p = [], {g: 0 for g in groups}, {g: 0 for g in groups}

    def call(self, op="all_reduce", size=(8,), done=True, group="0", dtype="Float", line=40, out=None):
        p2p = op.startswith(("send", "recv"))
        count = self.p2p if p2p else self.seq
        count[group] += 1
        n = len(self.entries)
        self.entries.append({
            "record_id": n, "pg_id": list(self.groups).index(group), "process_group": (group, self.groups[group][0]),
            "collective_seq_id": self.seq[group], "p2p_seq_id": self.p2p[group], "op_id": n,
            "profiling_name": "nccl:" + op, "time_created_ns": 1_700_000_000_000_000_000 + n * 1_000_000,
            "input_sizes": [list(size)], "input_dtypes": [dtype], "output_sizes": [list(out or size)],
            "output_dtypes": [dtype], "state": "completed" if done else "scheduled",
            "time_discovered_started_ns": None, "time_discovered_completed_ns": 1 if done else None,
            "retired": done, "timeout_ms": 600000, "is_p2p": p2p,
            "frames": [LIBRARY, {"name": "step", "filename": "/srv/train.py", "line": line}]})
        return self

    def dump(self):
        key = "nccl_version" if self.version < "2.5" else "comm_lib_version"
        return {
            "version": self.version, key: "2.21.5",
            "pg_config": {g: {"name": g, "desc": d, "ranks": str(list(r))} for g, (d, r) in self.groups.items()},
            "pg_status": {str(i): {"last_enqueued_collective": self.seq[g], "last_started_collective": -1,
                                   "last_completed_collective": -1} for i, g in enumerate(self.groups)},
            "entries": self.entries}

    def only_open(self):
        """Leaves calls out that have ended, as a recorder does that is told to; the status says how far the rank is."""
        dump = self.dump()
        for i, g in enumerate(self.groups):
            done = [e["collective_seq_id"] for e in self.entries if e["pg_id"] == i and e["retired"]]
            dump["pg_status"][str(i)]["last_completed_collective"] = max(done, default=-1)
        dump["entries"] = [e for e in self.entries if not e["retired"]]
        self.dump = lambda: dump
        return self

    def write(self, folder, form="pickle", cut=None, name="nccl_trace_rank_"):
        dump = self.dump()
        if form == "pickle":
            data = pickle.dumps(dump, 2)
        else:
            for e in dump["entries"]:
                e.pop("frames")
                e["time_discovered_completed_ns"] = e["time_discovered_completed_ns"] or 0
                e["time_discovered_started_ns"] = 0
            data = json.dumps(dump).encode()
        path = folder / f"{name}{self.rank}"
        path.write_bytes(data[:int(len(data) * cut)] if cut else data)
        return path


def world(n, groups=None, version="2.4"):
    return [Rank(r, groups or {"0": ("default_pg", range(n))}, version) for r in range(n)]


def ras_report(pids, counts, version="2.28.9", host="127.0.0.1", missing=(), finished=(), starting=()):
    def entry(r):
        return {"rank": r, "host": host, "pid": pids[r], "cuda_dev": r, "nvml_dev": r}
    status = {"async_error": 0, "destroy_flag": False, "abort_flag": False}
    ranks = [{**entry(r), "status": {**status, "init_state": 7 if r in starting else 0,
                                     "finalize_called": r in finished},
              "collective_counts": {"Broadcast": 1, "Reduce": 0, "AllGather": 0, "ReduceScatter": 0,
                                    "AllReduce": counts[r]}} for r in range(len(pids)) if r not in missing]
    gone = [{**entry(r), "status": {"unresponsive": True, "considered_dead": False}} for r in missing]
    return {"nccl_version": version, "cuda_runtime_version": 12040, "cuda_driver_version": 12040,
            "timestamp": "2026-01-01 00:00:00", "communicators_count": 1,
            "communicators": [{"hash": "0xdeadbeef", "secondary_hash": "0x1:0x2", "size": len(pids),
                               "ranks_count": len(ranks), "missing_ranks_count": len(gone), "ranks": ranks,
                               "missing_ranks": gone}],
            "ras": {"collection_time_sec": 0.01, "timeouts_count": 0}}


class RasServer:
    """Answers as many questions as there are; `answers` is a list that is gone through and then stays at its last.

    manner: json, text (knows no JSON), garbage, stall, drop (in the middle), comma (one is missing, as in 2.28.9).
    """

    def __init__(self, answers, manner="json", family=socket.AF_INET):
        self.answers, self.manner, self.commands, self.asked = answers, manner, [], 0
        self.socket = socket.socket(family)
        self.socket.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        self.socket.listen(8)
        self.port = self.socket.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}" if family == socket.AF_INET else f"[::1]:{self.port}"
        self.held = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def talk(self, peer):
        if self.manner == "garbage":
            peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n\x00\xff" * 50)
            peer.close()
            return
        lines = peer.makefile("rb")
        for line in lines:
            command = line.decode().strip()
            self.commands.append(command)
            if command.lower().startswith("client protocol"):
                peer.sendall(b"SERVER PROTOCOL 2\n")
            elif command.lower().startswith("timeout"):
                peer.sendall(b"OK\n")
            elif command.lower().startswith("set format"):
                peer.sendall(b"ERROR: Unknown command set format\n" if self.manner == "text" else b"OK\n")
            else:
                self.answer(peer)
                return

    def answer(self, peer):
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        text = answer if isinstance(answer, str) else json.dumps(answer, indent=2)
        if self.manner == "stall":
            self.held.append(peer)
            peer.sendall(text[:20].encode())
            return
        if self.manner == "comma":
            text = text.replace(',\n          "status": {\n            "unresponsive"', '\n          "status": {\n            "unresponsive"')
        if self.manner == "drop":
            text = text[:len(text) // 2]
        peer.sendall(text.encode())
        peer.close()

    def close(self):
        self.socket.close()
        for peer in self.held:
            peer.close()
