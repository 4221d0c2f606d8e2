"""A server leases shards without a limit of time. Worker 1 failed with one and left; main gets "409 leased" again and again."""
import http.server
import sys
import time

import kit8

DONE, LEASED = set(), {}


class Shards(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        word, worker, shard = self.path[1:].split("/")
        if word == "done":
            DONE.add(int(shard))
        free = [s for s in range(40) if s not in DONE and LEASED.get(s, worker) == worker]
        body = b"all done" if len(DONE) == 40 else b"%d" % free[0] if free else b""
        if word == "take" and free:
            LEASED[free[0]] = worker
        self.send_response(200 if body else 409)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def work(port, me, steps):
    shard = 0
    while True:
        status, body = get(port, "/take/%s/0" % me)
        if body == b"all done":
            return
        if status == 409:
            print("%s: no free shard, retrying in 1 s" % me, flush=True) if steps % 60 == 0 else None
            time.sleep(1)
            continue
        kit8.crunch(0.3)
        shard += 1
        if me == "worker1" and shard == 10:
            print("worker1: shard %s is empty, giving up" % body.decode(), flush=True)
            return
        get(port, "/done/%s/%s" % (me, body.decode()))
        print("%s: shard %s done" % (me, body.decode()), flush=True)


def get(port, path):
    import http.client
    link = http.client.HTTPConnection("127.0.0.1", port)
    link.request("GET", path)
    answer = link.getresponse()
    return answer.status, answer.read()


if sys.argv[1:2] == ["serve"]:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Shards).serve_forever()
if sys.argv[1:2] == ["work"]:
    work(int(sys.argv[2]), "worker1", 0)
    sys.exit()
kit8.role("main")
port = kit8.free_port()
kit8.start([sys.executable, __file__, "serve", str(port)], "server")
kit8.dial(port).close()
kit8.start([sys.executable, __file__, "work", str(port)], "worker1")
work(port, "main", 1)
