# SPDX-License-Identifier: MIT
"""Random teleports through the program, judged in long double: trial.py SYMPORT [--cases N] [--first SEED] [--only SEED]

Every case is a network, a batch and a command line drawn from its number. The certificate and the weights that come
back are compared with reference.py, which shares nothing with the library:
  - accepted means that the loss is unchanged within the tolerance (1e-8, float 1e-4), or by less than a thousand times what
    rounding the starting parameters does to it;
  - every number of the certificate is right to 1e-6 (float: 1e-2), or as far as a number can be that is computed in that
    precision from parameters of that precision (see `Judge.number`);
  - a refused teleport writes nothing; bad input is called so, and nothing else is.
Exit 1 and a line for every exception.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import combinations

import numpy as np

from reference import Problem, Real, arrays, dot, mapped

BIJECTIVE = ["linear", "leaky_relu:0.1", "leaky_relu:0.5", "asinh", "tanh_extended", "tanh_extended:3", "sigmoid_extended",
             "sigmoid_extended:3"]
HOMOGENEOUS = ["linear", "leaky_relu:0.1", "leaky_relu:0.01", "relu"]
ODD = ["linear", "tanh", "asinh", "tanh_extended"]
ALL = sorted(set(BIJECTIVE + HOMOGENEOUS + ODD + ["sigmoid", "gelu"]))
FITTING = {"gl": BIJECTIVE, "rescale": HOMOGENEOUS, "linear_gl": ["linear"], "permutation": ALL, "sign_flip": ODD,
           "paper": BIJECTIVE}
SEARCHES = ["auto", "scan", "ascent", "fixed", "closed", "random", "blind"]
OBJECTIVES = ["gradient_norm", "predicted_decrease", "decrement", "sharpness", "weight_norm"]
LOSSES = [f"{kind}:{reduction}" for kind in ("half_sum_squares", "mean_squares", "cross_entropy") for reduction in ("sum", "mean")]


class Case:
    """Drawn from its number alone."""

    def __init__(self, number):
        self.number = number
        random = np.random.default_rng([20221117, number])
        pick = lambda choices: choices[random.integers(len(choices))]
        self.symmetry = pick(["gl"] * 4 + ["rescale"] * 3 + ["linear_gl"] * 3 + ["permutation", "sign_flip", "paper"])
        self.activation = pick(FITTING[self.symmetry] if random.random() < 0.97 else ALL)
        self.loss = pick(LOSSES)
        self.single = random.random() < 0.4
        self.biases = random.random() < 0.4
        depth = int(random.integers(1, 7)) if random.random() < 0.5 else int(random.integers(2, 5))
        largest = pick([4, 12, 64])
        self.widths = [int(random.integers(1, largest + 1)) for _ in range(depth + 1)]
        if self.loss.startswith("cross") and self.widths[-1] == 1:
            self.widths[-1] = 2
        below = min(self.widths[:max(1, depth - 1)]) + self.biases  # samples that gl can keep
        self.partial = self.symmetry == "gl" and largest == 4 and random.random() < 0.5
        if self.symmetry == "gl" and depth == 2 and self.widths[1] <= below and random.random() < 0.5:
            self.samples = int(random.integers(self.widths[1], below + 1))  # enough to tell the group element from the weights
        elif self.symmetry == "gl" and random.random() < 0.9:
            self.samples = below + int(random.integers(1, 3)) if self.partial else int(random.integers(1, below + 1))
        else:
            self.samples = int(random.integers(1, 65))
        self.search = pick(["auto"] * 15 + [name for name in SEARCHES if name != "scan"] * 5 + ["scan"])
        self.objective = pick([None] * 3 + OBJECTIVES)
        self.rate = None if random.random() < 0.25 else float(10.0 ** random.uniform(-6, 1))
        self.options = []
        if random.random() < 0.2:
            self.options += ["--cap", pick(["0.1", "1", "10", "inf"])]
        if random.random() < 0.1:
            self.options += ["--bound", pick(["0.1", "1", "10"])]
        self.kappa = random.random() < 0.1
        if self.kappa:
            self.options += ["--kappa", pick(["1.5", "10", "1000", "65536", "1e9", "1099511627776"])]
        if self.search in ("ascent", "random", "fixed") and random.random() < 0.3:
            self.options += ["--search-steps", str(int(random.integers(1, 30)))]
        if self.search in ("ascent", "fixed") and random.random() < 0.3:
            self.options += ["--search-rate", f"{10.0 ** random.uniform(-4, 0):.3g}"]
        if self.partial:
            self.options += ["--allow-partial-batch"]
        self.seed = int(random.integers(1000))
        self._draw_numbers(random)

    def _draw_numbers(self, random):
        dtype = np.float32 if self.single else np.float64
        # Half of the cases are of usual size; the others have scales from 1e-8 to 1e8 somewhere.
        wild = random.random() < 0.5
        scale = lambda: float(10.0 ** random.uniform(-8, 8)) if wild and random.random() < 0.5 else 1.0
        common = scale()
        self.layers = []
        for d, out in zip(self.widths[:-1], self.widths[1:]):
            size = common if random.random() < 0.7 else scale()
            W = size * random.standard_normal((out, d)) / np.sqrt(d)
            b = size * random.standard_normal(out) if self.biases else None
            self.layers.append((W.astype(dtype), None if b is None else b.astype(dtype)))
        self.X = (scale() * random.standard_normal((self.samples, self.widths[0]))).astype(dtype)
        if self.loss.startswith("cross"):
            self.targets = random.integers(self.widths[-1], size=self.samples)
        else:
            self.targets = (scale() * random.standard_normal((self.samples, self.widths[-1]))).astype(dtype)

    def fits(self):
        """Whether the program should find nothing wrong with the input; None: either is right."""
        kind = self.activation.split(":")[0]
        if len(self.widths) < 3 or kind not in [name.split(":")[0] for name in FITTING[self.symmetry]]:
            return False
        if self.rate is None and self.objective == "predicted_decrease":
            return False
        search = self.search if self.search != "auto" else {"rescale": "closed", "linear_gl": "closed"}.get(self.symmetry)
        if self.kappa and search != "closed":
            return False
        if self.search == "scan" or (self.search == "closed" and self.symmetry in ("permutation", "sign_flip", "paper")):
            return None  # refused as input where there is an orbit
        return True

    def command(self, symport, folder):
        weights, batch = os.path.join(folder, "W.npz"), os.path.join(folder, "B.npz")
        np.savez(weights, **named(self.layers))
        if self.loss.startswith("cross"):
            np.savez(batch, X=self.X, y=self.targets)
        else:
            np.savez(batch, X=self.X, Y=self.targets)
        command = [symport, "teleport", "--weights", weights, "--batch", batch, "--activation", self.activation, "--loss",
                   self.loss, "--symmetry", self.symmetry, "--search", self.search, "--seed", str(self.seed), "--out",
                   os.path.join(folder, "V.npz"), "--lr", "auto" if self.rate is None else repr(self.rate)]
        if self.objective:
            command += ["--objective", self.objective]
        return command + self.options


def named(layers):
    result = {}
    for m, (W, b) in enumerate(layers, 1):
        result[f"W{m}"] = W
        if b is not None:
            result[f"b{m}"] = b
    return result


def exact(layers):
    return mapped(lambda a: a.astype(Real), layers)


class Point:
    """What a certificate says of a point."""

    def __init__(self, problem, layers):
        gradient = problem.gradient(layers)
        self.loss = problem.value(layers)
        self.grad_sq = dot(gradient, gradient)
        self.curvature = problem.curvature(layers, gradient)
        self.gradient = gradient


class Judge:
    def __init__(self, case):
        self.case = case
        self.wrong = []
        self.unit = Real(2.0 ** -24 if case.single else 2.0 ** -53)
        self.right_to = Real(1e-2 if case.single else 1e-6)
        self.tolerance = Real(1e-4 if case.single else 1e-8)
        self.problem = Problem(case.activation, case.loss, case.X.T, case.targets if case.targets.ndim == 1 else case.targets.T,
                               case.widths[-1])
        self.random = np.random.default_rng([7, case.number])

    def say(self, text):
        self.wrong.append(text)

    def spread(self, problem, layers, here):
        """By how much the numbers of a point change when parameters and inputs are rounded."""
        loss = grad_sq = curvature = Real(0)
        for _ in range(3):
            moved = mapped(lambda a: a * (1 + self.unit * self.random.choice([-1, 1], a.shape)), layers)
            near = problem.part(slice(None))
            near.X = problem.X * (1 + self.unit * self.random.choice([-1, 1], problem.X.shape))
            there = Point(near, moved)
            loss = max(loss, abs(there.loss - here.loss))
            grad_sq = max(grad_sq, abs(there.grad_sq - here.grad_sq))
            curvature = max(curvature, abs(there.curvature - here.curvature))
        return {"loss": loss, "grad_sq": grad_sq, "curvature": curvature}

    def number(self, name, found, expected, spread):
        """Right to 1e-6, or to a hundred times what rounding the parameters and inputs does to the number itself."""
        found = Real(float(found))
        if not np.isfinite(found):
            limit = 3e38 if self.case.single else 1e308
            if not abs(expected) < limit * 1e-2:
                return
        allowed = self.right_to * abs(expected) + 100 * spread
        smallest = Real(1e-37 if self.case.single else 1e-300)  # what is squared or multiplied underflows
        if not abs(found - expected) <= allowed and not (abs(expected) < smallest and abs(found) < smallest):
            self.say(f"{name}: {float(found):.9g}, should be {float(expected):.9g} (allowed {float(allowed):.3g})")

    def numbers(self, certificate, problem, layers, when):
        here = Point(problem, layers)
        spread = self.spread(problem, layers, here)
        for name in ("loss", "grad_sq", "curvature"):
            self.number(f"{name}_{when}", certificate[f"{name}_{when}"], getattr(here, name), spread[name])
        return here

    def rounding(self, problem, layers, here):
        """What rounding the parameters does to the loss: every one moved by its last half digit, in the worst directions."""
        worst = Real(0)
        for signs in (lambda g: np.where(g < 0, -1, 1), lambda g: np.where(g < 0, 1, -1),
                      lambda g: np.where(g < 0, -1, 1) * np.resize([1, -1], g.shape)):
            moved = mapped(lambda a, g: a + self.unit * np.abs(a) * signs(g), layers, here.gradient)
            worst = max(worst, abs(problem.value(moved) - here.loss))
        return worst

    def part_of(self, certificate, layers):
        """The samples that a partial teleport is about: those of that number that have its losses."""
        kept, count = certificate["scope"]["samples"], self.case.samples
        if kept == count:
            return self.problem
        losses = self.problem.sample_losses(layers)
        factor = self.problem.loss._factor(kept)
        off = lambda samples: abs(factor * losses[list(samples)].sum() - Real(certificate["loss_before"]))
        nearest = list(min(combinations(range(count), kept), key=off))
        if off(nearest) <= self.right_to * abs(Real(certificate["loss_before"])):
            return self.problem.part(nearest)
        self.say(f"no {kept} of {count} samples have the loss {certificate['loss_before']}")
        return None

    def scope(self, certificate):
        scope, case = certificate["scope"], self.case
        if case.symmetry == "gl":
            if scope["data"] != "batch" or scope["of"] != case.samples or not 0 < scope["samples"] <= case.samples:
                self.say(f"scope {scope}, the symmetry is bound to the batch of {case.samples} samples")
            elif scope["samples"] != case.samples and not case.partial:
                self.say(f"scope {scope} without --allow-partial-batch")
        elif case.symmetry == "paper":
            if scope["data"] != "none":
                self.say(f"scope {scope}, the symmetry paper keeps nothing")
        elif scope["data"] != "all":
            self.say(f"scope {scope}, the symmetry keeps the loss on all data")

    def judge(self, run, output):
        case = self.case
        fits = case.fits()
        if run.returncode == 2:
            if fits:
                self.say(f"refused as bad input: {run.stderr.strip()}")
            return "bad input"
        if run.returncode not in (0, 1) or not run.stdout.startswith("{") or fits is False:
            self.say(f"exit {run.returncode}: {run.stderr.strip()}")
            return "exit"
        certificate = json.loads(run.stdout)
        if certificate["accepted"] != (run.returncode == 0) or certificate["accepted"] != os.path.exists(output):
            self.say(f"accepted {certificate['accepted']}, exit {run.returncode}, file {os.path.exists(output)}")
        for name, value in (("activation", case.activation), ("loss", case.loss), ("symmetry", case.symmetry)):
            if certificate[name].split(":")[0] != value.split(":")[0]:
                self.say(f"{name} {certificate[name]}")
        start = exact(case.layers)
        if not (np.isfinite(float(certificate["loss_before"])) and np.isfinite(float(certificate["grad_sq_before"]))):
            if certificate["accepted"]:
                self.say("accepted from a start that is not finite")
            return "not finite"
        problem = self.problem
        if certificate["accepted"]:
            self.scope(certificate)
        elif certificate["scope"] is not None:
            self.say(f"refused with a scope: {certificate['scope']}")
        if certificate["accepted"] and case.partial:
            problem = self.part_of(certificate, start)
            if problem is None:
                return "accepted"
        elif case.partial:
            return "refused"
        here = self.numbers(certificate, problem, start, "before")
        if not certificate["accepted"]:
            return "refused"
        with np.load(output) as file:
            layers = [(file[f"W{m}"], file[f"b{m}"] if case.biases else None) for m in range(1, len(case.widths))]
        if any(a.dtype != b.dtype or a.shape != b.shape for a, b in zip(arrays(layers), arrays(case.layers))):
            self.say("other types or shapes than the start's")
            return "accepted"
        there = self.numbers(certificate, problem, exact(layers), "after")
        self.condition(certificate, problem, start, exact(layers))
        self.drift(certificate, problem, start, here, there)
        if case.partial:
            self.whole_batch(certificate, start, exact(layers))
        return "accepted"

    def drift(self, certificate, problem, start, here, there):
        before, after = Real(certificate["loss_before"]), Real(certificate["loss_after"])
        change = abs(after - before)
        expected = change / abs(before) if change > 0 else Real(0)
        if abs(Real(float(certificate["relative_change"])) - expected) > 1e-6 * expected:
            self.say(f"relative_change: {certificate['relative_change']}, should be {float(expected)}")
        rounding = self.rounding(problem, start, here)
        if self.case.symmetry == "paper":
            return
        if not abs(there.loss - here.loss) <= max(self.tolerance * abs(here.loss), 1000 * rounding):
            self.say(f"the loss went from {float(here.loss):.12g} to {float(there.loss):.12g}, "
                     f"by {float(abs(there.loss - here.loss) / rounding):.3g} times what rounding does")
        found = Real(float(certificate["drift"]))
        if certificate["at_rounding_level"]:
            # The floor, |L' - L| / drift, is 1000 r / tolerance with r by (D10).
            r = self.unit * sum(np.sum(np.abs(a * g)) for a, g in zip(arrays(start), arrays(here.gradient)))
            down = mapped(lambda a, g: np.where(g < 0, -np.abs(a), np.abs(a)), start, here.gradient)
            second = abs(problem.curvature(start, down)) * self.unit ** 2 / 2
            floor = change / found * self.tolerance / 1000
            if not floor >= 0.99 * r or (second <= 0.01 * r and not abs(floor - r - second) <= 100 * self.right_to * r):
                self.say(f"drift {float(found):.6g} comes from rounding {float(floor):.6g}, which is {float(r + second):.6g}")
        elif abs(found - expected) > 1e-6 * expected:
            self.say(f"drift: {float(found)}, should be {float(expected)}")

    def condition(self, certificate, problem, start, end):
        """Largest over smallest stretch of the group element, where the weights tell what it was."""
        if self.case.symmetry in ("permutation", "sign_flip"):
            expected = Real(1)
        elif self.case.symmetry == "rescale":
            below, all_scales = None, []
            for (W, b), (V, c) in list(zip(start, end))[:-1]:
                V = V if below is None else V * below
                rows = lambda A, a: np.sqrt(np.sum(A * A, axis=1) + (0 if a is None else a * a))
                below = rows(V, c) / rows(W, b)
                all_scales.append(below)
            scales = np.concatenate(all_scales)
            expected = scales.max() / scales.min()
        elif self.case.symmetry == "paper":
            return
        else:
            # h'_m = g_m h_m for data of our own (linear_gl) or of the batch (gl): g where h has full row rank.
            linear = self.case.symmetry == "linear_gl"
            samples = problem.X
            if linear:
                samples = self.random.standard_normal((self.case.widths[0], 80)).astype(Real)
            before, after = problem.hidden(start, samples), problem.hidden(end, samples)
            stretches, doubt = [], 0.0
            for h, moved in zip(before, after):
                scale = np.abs(h).max()
                if h.shape[1] < h.shape[0] or not scale > 0:
                    return
                h, moved = (h / scale).astype(np.float64), (moved / scale).astype(np.float64)
                sizes = np.linalg.svd(h, compute_uv=False)
                if not np.isfinite(moved).all() or not sizes[0] < 1e4 * sizes[-1]:
                    return
                g = moved @ np.linalg.pinv(h)
                stretches.append(np.linalg.svd(g, compute_uv=False))
                doubt = max(doubt, float(self.unit) * sizes[0] / sizes[-1])
            worst = max(s[0] / s[-1] for s in stretches)
            if linear:
                worst = max(s[0] for s in stretches) / min(s[-1] for s in stretches)
            expected = Real(worst)
            if 1000 * doubt * worst > 0.1 * self.right_to:
                return  # the weights do not tell well enough
        self.number("condition", certificate["condition"], expected, Real(0))

    def whole_batch(self, certificate, start, end):
        scope = certificate["scope"]
        if scope["samples"] == self.case.samples:
            return
        check = scope["check"]
        for when, layers in (("before", start), ("after", end)):
            here = Point(self.problem, layers)
            self.number(f"scope loss_{when}", check[f"loss_{when}"], here.loss, self.spread(self.problem, layers, here)["loss"])
        if float(check["loss_after"]) > float(check["loss_before"]) * (1 + float(self.tolerance)):
            self.say(f"accepted although the loss of the whole batch rises: {check}")


def try_case(symport, number, verbose=False):
    case = Case(number)
    with tempfile.TemporaryDirectory() as folder:
        command = case.command(symport, folder)
        if verbose:
            print(" ".join(command), case.widths, case.samples)
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        judge = Judge(case)
        with np.errstate(all="ignore"):
            outcome = judge.judge(run, os.path.join(folder, "V.npz"))
        if verbose:
            print(run.stdout, run.stderr)
    return outcome, judge.wrong, case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("symport")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if options.only is not None:
        print(try_case(options.symport, options.only, verbose=True))
        return 0
    outcomes, exceptions = {}, 0
    for number in range(options.first, options.first + options.cases):
        outcome, wrong, case = try_case(options.symport, number)
        key = (case.symmetry, outcome)
        outcomes[key] = outcomes.get(key, 0) + 1
        for text in wrong:
            print(f"case {number} ({case.symmetry}, {case.activation}, {case.loss}, {case.search}, "
                  f"{'float' if case.single else 'double'}): {text}", flush=True)
        exceptions += bool(wrong)
    for symmetry in FITTING:
        counts = {outcome: count for (name, outcome), count in sorted(outcomes.items()) if name == symmetry}
        print(f"{symmetry:12} " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    print(f"{options.cases} cases, {exceptions} exceptions")
    return 1 if exceptions else 0


if __name__ == "__main__":
    sys.exit(main())
