"""Ranks wait for a key of rank 3, which waits for a tool that never ends."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socketserver
import subprocess
import threading
import xmlrpc.client
import xmlrpc.server


class Srv(socketserver.ThreadingMixIn, xmlrpc.server.SimpleXMLRPCServer):
    daemon_threads = True
    allow_reuse_address = True


def before(env):
    if os.fork():
        return
    kit.die_with_parent()
    kit.role("server")
    data, cv = {}, threading.Condition()

    def put(k, v):
        with cv:
            data[k] = v
            cv.notify_all()
        return True

    def get(k):
        with cv:
            cv.wait_for(lambda: k in data)
            return data[k]
    s = Srv(("127.0.0.1", int(env["MASTER_PORT"])), logRequests=False)
    s.register_function(put)
    s.register_function(get)
    s.serve_forever()


def fetch_extra():
    p = subprocess.Popen(["sleep", "1000000"])
    kit.role("fetcher3", p.pid)
    p.wait()


def run():
    kit.dial(kit.port()).close()
    st = xmlrpc.client.ServerProxy("http://127.0.0.1:%d" % kit.port())
    for i in range(1000):
        kit.work(0.25)
        if i == 13 and kit.rank() == 3:
            fetch_extra()
        st.put("%d/%d" % (kit.rank(), i), i)
        for o in range(kit.world()):
            st.get("%d/%d" % (o, i))
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run, before=before)
