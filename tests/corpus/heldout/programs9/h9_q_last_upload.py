"""All epochs are done. asyncio.run waits for the thread that sends the model away, which takes 60 s and then is done."""
import asyncio
import time

import kit9


def upload():
    for part in range(120):
        time.sleep(0.5)


async def main():
    for epoch in range(10):
        await asyncio.to_thread(kit9.crunch, 0.3)
        print("epoch %d/10 val_acc 0.%d" % (epoch + 1, 80 + epoch), flush=True)
    asyncio.get_running_loop().run_in_executor(None, upload)


kit9.role("main")
asyncio.run(main())
print("uploaded, bye", flush=True)
