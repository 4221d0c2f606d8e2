"""Ranks ask a key server by long poll until rank 0 has set the key."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socketserver
import threading
import time
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
            cv.wait_for(lambda: k in data, 10)
            return data.get(k, "")
    s = Srv(("127.0.0.1", int(env["MASTER_PORT"])), logRequests=False)
    s.register_function(put)
    s.register_function(get)
    s.serve_forever()


def run():
    kit.dial(kit.port()).close()
    st = xmlrpc.client.ServerProxy("http://127.0.0.1:%d" % kit.port())
    for i in range(14):
        kit.work(0.2)
        if kit.rank() == 0:
            kit.step(i)
    if kit.rank() == 0:
        for _ in range(120):
            kit.work(0.5)
        st.put("split", "done")
    while not st.get("split"):
        pass


kit.go(3, run, before=before)
