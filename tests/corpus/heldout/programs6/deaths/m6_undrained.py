from kitd6 import *
import asyncio
async def read(port):
    reader, _ = await asyncio.open_connection("127.0.0.1", port)
    while await reader.read(20000):
        await asyncio.sleep(0.2)
async def give(reader, writer):
    row = os.urandom(1 << 20)
    for n in range(2000):
        for _ in range(4):
            writer.write(row)
        if n % 5 == 0:
            print("sent", n, flush=True)
        await asyncio.sleep(0.12)
async def main():
    server = await asyncio.start_server(give, "127.0.0.1", 0)
    subprocess.Popen([sys.executable, __file__, str(server.sockets[0].getsockname()[1])])
    await server.serve_forever()
role("reader" if sys.argv[1:] else "main")
asyncio.run(read(int(sys.argv[1])) if sys.argv[1:] else main())
