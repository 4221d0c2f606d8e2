"""Three ranks wait at a named barrier of a coordinator for the fourth, which copies its data for 54 s."""
import asyncio
import json
import os
import time

from kit11 import again, crunch, dial, free_port, job, ranks

BARRIERS = {}


async def serve(reader, writer):
    while line := await reader.readline():
        ask = json.loads(line)
        at = BARRIERS.setdefault(ask["barrier"], [])
        at.append(writer)
        if len(at) == ask["count"]:
            for w in BARRIERS.pop(ask["barrier"]):
                w.write(b'{"ok": true}\n')


async def coordinator(port):
    async with await asyncio.start_server(serve, "127.0.0.1", port) as server:
        await server.serve_forever()


def body(rank, n, port):
    file = dial(int(os.environ["COORDINATOR"])).makefile("rwb")
    if rank == 3:
        time.sleep(54)
    for step in range(30):
        file.write(json.dumps({"barrier": "step-%d" % step, "count": n}).encode() + b"\n")
        file.flush()
        file.readline()
        crunch(0.2)
        if rank == 0:
            print("step %d" % step, flush=True)


if job()[0] == "coordinator":
    asyncio.run(coordinator(int(job()[1][0])))
else:
    if "COORDINATOR" not in os.environ:
        os.environ["COORDINATOR"] = str(free_port())
        again("coordinator", os.environ["COORDINATOR"])
    ranks(4, body, "slurm")
