#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs SciPy's optimizers on small problems and writes what they needed to baselines.json.

    python make_baselines.py --check    compare with the file; exit 1 where a number differs
    python make_baselines.py --write    rewrite the file

The losses and gradients are written here in NumPy: none of the library's code is involved. README.md says what each
number is.
"""
import argparse
import json
import pathlib
import sys

import numpy as np
import scipy.optimize

FOLDER = pathlib.Path(__file__).resolve().parent
LEVELS = [1e-2, 1e-4, 1e-6, 1e-8, 1e-10]
MEMORY = 10


def rosenbrock(x):
    valley, along = x[0] ** 2 - x[1], x[0] - 1
    return 100 * valley**2 + along**2, np.array([400 * x[0] * valley + 2 * along, -200 * valley])


def regression(case):
    """Half the sum of squares of a network without biases, LeakyReLU with slope 0.1; W1, W2, W3 column-major."""
    X, Y = np.array(case["X"]), np.array(case["Y"])
    shapes = [np.array(W).shape for W in case["W"]]

    def unpack(w):
        parts, first = [], 0
        for shape in shapes:
            size = shape[0] * shape[1]
            parts.append(w[first:first + size].reshape(shape, order="F"))
            first += size
        return parts

    def loss(w):
        W = unpack(w)
        h, z = [X], []
        for m, weights in enumerate(W):
            z.append(weights @ h[-1])
            if m + 1 < len(W):
                h.append(np.where(z[-1] > 0, z[-1], 0.1 * z[-1]))
        delta = z[-1] - Y
        value = 0.5 * np.sum(delta**2)
        gradients = []
        for m in range(len(W) - 1, -1, -1):
            gradients.insert(0, (delta @ h[m].T).flatten(order="F"))
            if m > 0:
                delta = (W[m].T @ delta) * np.where(z[m - 1] > 0, 1.0, 0.1)
        return value, np.concatenate(gradients)

    start = np.concatenate([np.array(W).flatten(order="F") for W in case["W"]])
    return loss, start


def first_below(losses, level):
    """How many evaluations it takes to reach this part of the first loss."""
    for count, value in losses:
        if value <= level * losses[0][1]:
            return count
    return None


def lbfgs(loss, start):
    """(evaluations so far, loss) at the start and after every step."""
    count = 0
    seen = {}

    def counted(w):
        nonlocal count
        count += 1
        value, gradient = loss(w)
        seen[w.tobytes()] = value
        return value, gradient

    rows = [(1, loss(start)[0])]
    scipy.optimize.minimize(counted, start, jac=True, method="L-BFGS-B",
                            callback=lambda w: rows.append((count, seen[w.tobytes()])),
                            options={"maxcor": MEMORY, "ftol": 0.0, "gtol": 1e-12, "maxiter": 2000, "maxfun": 4000})
    return rows


def problem(name, loss, start):
    rows = lbfgs(loss, start)
    return {"name": name, "start": start.tolist(), "loss": rows[0][1],
            "evaluations": [first_below(rows, level) for level in LEVELS]}


def baselines():
    data = json.loads((FOLDER / "mlp_regression.json").read_text())
    problems = [problem("rosenbrock", rosenbrock, np.array(start)) for start in [[-1.0, -1.0], [-1.2, 1.0]]]
    for index, case in enumerate(data["runs"]):
        problems.append(problem(f"regression {index}", *regression(case)))
    return {"levels": LEVELS, "memory": MEMORY, "lbfgs": problems}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--check", action="store_true")
    group.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    path = FOLDER / "baselines.json"
    new = baselines()
    if arguments.write:
        path.write_text(json.dumps(new) + "\n")
        return 0
    same = json.loads(path.read_text()) == new
    print("the same" if same else "other numbers", "as in", path.name)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
