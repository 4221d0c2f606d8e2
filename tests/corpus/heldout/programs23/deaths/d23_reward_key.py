"""Games are played by tasks of one group; one of them has an answer without a reward."""
import asyncio

from kitd23 import steps


async def play(game):
    await asyncio.sleep(0.05 * game)
    answer = {"reward": 1.0} if game != 3 else {"error": "illegal move"}
    return answer["reward"]


async def round_of_games():
    async with asyncio.TaskGroup() as group:
        games = [group.create_task(play(g)) for g in range(3, 6)]
    return sum(g.result() for g in games)


steps(20)
print("reward", asyncio.run(round_of_games()), flush=True)
