"""Three forked ranks that share a board of counters. While they generate, the layers of the model are gathered for each token
by all of them. Rank 1's texts have all come to their end; it leaves the loop and sums gradients, the others gather for the
next token.

slow: all generate as long as one does, and rank 1 needs 48 s for a token."""
from kit22 import SLOW, STEPS, Board, Model, busy, crunch, main


def gather_layers(board, rank, count):
    board.meet("layers", rank, count)


def sum_gradients(board, rank, count):
    board.meet("gradients", rank, count)


def generate(board, rank, step, tokens):
    longest = 6 if rank == 1 and step == 20 and not SLOW else 12
    for k in range(longest):
        if SLOW and rank == 1 and step == 20 and k == 6:
            busy(48)
        crunch(0.01)
        tokens += 1
        gather_layers(board, rank, tokens)
    return tokens


def body(rank, world, port):
    board, model, tokens = Board(world, ["layers", "gradients"]), Model(rank), 0
    for step in range(STEPS // 2):
        tokens = generate(board, rank, step, tokens)
        model.apply(model.gradient(model.batch()))
        sum_gradients(board, rank, step + 1)
        if rank == 0:
            model.told(step)


main(3, body, "fork")
