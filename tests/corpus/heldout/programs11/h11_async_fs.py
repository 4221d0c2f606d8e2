"""A file system whose calls are run by an event loop in a thread of its own, as fsspec does. The index is read before the loader is forked; the
loader has the loop but not its thread, and waits for a call that nobody runs."""
import asyncio
import multiprocessing
import threading

from kit11 import crunch, role, with_parent


class RemoteFS:
    loop = None

    @classmethod
    def get_loop(cls):
        if cls.loop is None:
            cls.loop = asyncio.new_event_loop()
            threading.Thread(target=cls.loop.run_forever, daemon=True, name="fsIO").start()
        return cls.loop

    async def _cat(self, path):
        await asyncio.sleep(0.02)
        return path.encode() * 8

    def cat(self, path):
        done, result = threading.Event(), []

        async def runner():
            result.append(await self._cat(path))
            done.set()

        asyncio.run_coroutine_threadsafe(runner(), self.get_loop())
        while not done.wait(1):
            pass
        return result[0]


def loader(fs, shards, out):
    with_parent()
    role("loader")
    for shard in shards:
        out.put(fs.cat(shard))
    out.put(None)


def train():
    role("main")
    fs = RemoteFS()
    print("index: %d bytes" % len(fs.cat("s3://corpus/index.json")), flush=True)
    context = multiprocessing.get_context("fork")
    out = context.Queue(4)
    context.Process(target=loader, args=(fs, ["s3://corpus/%05d.tar" % k for k in range(40)], out), daemon=True).start()
    step = 0
    while (batch := out.get()) is not None:
        crunch(0.2)
        step += 1
        print("step", step, len(batch), flush=True)


train()
