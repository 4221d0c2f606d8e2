"""anyio: tokenizers end when the stream of texts ends. Each producer closes its clone of the sending end; the first one, of which they were
made, is never closed."""
import anyio

import kit9


async def tokenize(name, texts):
    count = 0
    async with texts:
        async for text in texts:
            await anyio.sleep(0.1)
            count += len(text)
            print(name, "tokenized", count, "characters", flush=True)


async def produce(sender):
    async with sender:
        for k in range(30):
            await sender.send("document %d" % k)


async def main():
    sender, texts = anyio.create_memory_object_stream(4)
    async with anyio.create_task_group() as group:
        for k in range(2):
            group.start_soon(tokenize, "tokenizer-%d" % k, texts.clone())
        for k in range(2):
            group.start_soon(produce, sender.clone())
    print("all is tokenized", flush=True)


kit9.role("main")
anyio.run(main)
