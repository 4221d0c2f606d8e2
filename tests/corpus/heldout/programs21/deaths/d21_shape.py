"""The classifier's first layer was made for features of another width; the evaluation with the larger encoder finds out."""
from kitd21 import told


class Linear:
    def __init__(self, inputs, outputs):
        self.weight = [[0.1] * outputs for _ in range(inputs)]

    def __call__(self, rows):
        if len(rows[0]) != len(self.weight):
            raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)"
                               % (len(rows), len(rows[0]), len(self.weight), len(self.weight[0])))
        return [[sum(x * w[0] for x, w in zip(row, self.weight))] for row in rows]


def evaluate(classifier):
    features = [[0.5] * 1024 for _ in range(4)]
    return classifier(features)


told(30)
evaluate(Linear(768, 10))
