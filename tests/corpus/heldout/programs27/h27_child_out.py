"""A trainer in asyncio starts an evaluation of each epoch, with stdout=PIPE, and awaits its end by wait(); it reads the output
afterwards. The evaluation of epoch 3 lists its mistakes, more than a pipe holds.

slow: it lists nothing; it takes 67 s."""
import asyncio
import sys

from kit27 import OWN, SLOW, STALL, STEPS, WORDS, busy, crunch, role, tell


def evaluate(step):
    role("evaluation")
    busy(1)
    if SLOW and step == STALL:
        busy(67)
    for k in range(4000 if step == STALL and not SLOW else 3):
        print("sample %d: wanted cat, got dog" % k)
    print("accuracy 0.71")


async def train():
    for step in range(STEPS):
        await asyncio.to_thread(crunch, 0.2)
        tell(step, "epoch={epoch} step={step} loss={loss:.3f}")
        if step and step % 30 == 0:
            child = await asyncio.create_subprocess_exec(*OWN, "evaluate", str(step), *WORDS, stdout=asyncio.subprocess.PIPE, limit=1024)
            await child.wait()
            tell(0, (await child.stdout.read()).decode().splitlines()[-1])


if "evaluate" in sys.argv:
    evaluate(int(sys.argv[2]))
else:
    role("main")
    asyncio.run(train())
