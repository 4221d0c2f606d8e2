"""A data set is wrapped once more in each epoch, until reading from it nests too deep."""
from kitd23 import steps


class Shuffled:
    def __init__(self, data):
        self.data = data

    def __getitem__(self, k):
        return self.data[k]


data = list(range(100))
for epoch in range(400):
    for _ in range(5):
        data = Shuffled(data)
    if epoch % 20 == 0:
        steps(2, epoch)
    data[epoch % 100]
