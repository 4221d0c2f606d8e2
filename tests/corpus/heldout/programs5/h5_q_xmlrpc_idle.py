"""A service for labels gets its next question after 75 s."""
import sys
import time
import xmlrpc.client
import xmlrpc.server

import kit5


def serve(port):
    asked = []
    s = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", port), logRequests=False)
    s.register_function(lambda n: asked.append(n) or n % 10, "label")
    while len(asked) < 12:
        s.handle_request()
        print("label for", asked[-1], flush=True)


def ask(port):
    kit5.role("client")
    time.sleep(1)
    proxy = xmlrpc.client.ServerProxy("http://127.0.0.1:%d" % port)
    for n in range(12):
        time.sleep(75 if n == 6 else 0.2)
        proxy.label(n)


if sys.argv[1:2] == ["ask"]:
    ask(int(sys.argv[2]))
else:
    kit5.role("main")
    port = kit5.free_port()
    kit5.start([sys.executable, __file__, "ask", str(port)], "client")
    serve(port)
