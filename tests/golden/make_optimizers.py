"""Trajectories of optimizers in double precision, for tests/optimizers: see README.md.

Networks, their gradients and the rules are written in NumPy from the papers; Prodigy is the authors'
own package, SOAP that of pytorch_optimizer, and Muon is there twice: in NumPy, and as PyTorch has
it, in bfloat16. Nothing here is the library's. Usage: python make_optimizers.py [--check]
"""

import json
import pathlib
import sys
import types

import numpy as np
import prodigyopt
import pytorch_optimizer.optimizer.soap
import torch

HERE = pathlib.Path(__file__).parent
STEPS = 40


class Network:
    """h_0 = X, z_m = [W_m b_m] h_(m-1), h_m = sigma(z_m); columns are samples."""

    def __init__(self, case):
        self.widths, self.biases = case["widths"], case["biases"]
        self.kind, self.mean = case["loss"].split(":")
        self.X, self.Y = np.array(case["X"]), np.array(case["Y"])
        if case["activation"] == "tanh":
            self.sigma, self.slope = np.tanh, lambda z: 1 - np.tanh(z) ** 2
        else:  # leaky_relu:0.1
            self.sigma = lambda z: np.where(z > 0, z, 0.1 * z)
            self.slope = lambda z: np.where(z > 0, 1.0, 0.1)
        self.n = self.X.shape[1]

    def shapes(self):
        return [(o, i + self.biases) for i, o in zip(self.widths[:-1], self.widths[1:])]

    def split(self, w):
        """The augmented weights of a flat vector, column-major."""
        out, at = [], 0
        for rows, cols in self.shapes():
            out.append(w[at : at + rows * cols].reshape(cols, rows).T)
            at += rows * cols
        return out

    @staticmethod
    def join(matrices):
        return np.concatenate([M.T.reshape(-1) for M in matrices])

    def forward(self, W):
        ones = np.ones((1, self.n))
        h, z = [], []
        a = self.X
        for m, M in enumerate(W):
            h.append(np.vstack([a, ones]) if self.biases else a)
            z.append(M @ h[-1])
            a = self.sigma(z[-1]) if m + 1 < len(W) else z[-1]
        return h, z

    def back(self, W, z, delta):
        """delta of every layer, from that of the last."""
        deltas = [delta]
        for m in range(len(W) - 1, 0, -1):
            M = W[m][:, : self.widths[m]]
            deltas.insert(0, self.slope(z[m - 1]) * (M.T @ deltas[0]))
        return deltas

    def softmax(self, z):
        e = np.exp(z - z.max(axis=0))
        return e / e.sum(axis=0)

    def sample_delta(self, z):
        """Of every sample's own loss."""
        if self.kind == "cross_entropy":
            delta = self.softmax(z)
            delta[self.Y, np.arange(self.n)] -= 1
            return delta
        scale = 2 / self.widths[-1] if self.kind == "mean_squares" else 1.0
        return scale * (z - self.Y)

    def hessian_root(self, z):
        """Columns whose outer products add up to the Hessian of a sample's loss in z: k x k x n."""
        k = self.widths[-1]
        root = np.zeros((k, k, self.n))
        p = self.softmax(z)
        scale = 2 / k if self.kind == "mean_squares" else 1.0
        for i in range(self.n):
            if self.kind == "cross_entropy":
                H = np.diag(p[:, i]) - np.outer(p[:, i], p[:, i])
            else:
                H = scale * np.eye(k)
            values, vectors = np.linalg.eigh(H)
            root[:, :, i] = vectors * np.sqrt(np.maximum(values, 0))
        return root

    def gradient(self, w):
        W = self.split(w)
        h, z = self.forward(W)
        share = 1 / self.n if self.mean == "mean" else 1.0
        deltas = self.back(W, z, self.sample_delta(z[-1]))
        return [share * d @ a.T for d, a in zip(deltas, h)]


def shampoo(network, w, rate, options):
    """Gupta, Koren, Singer (2018); W and b are blocks of their own."""
    grafting, mu = options["grafting"], options["momentum"]
    decay, eps = options["decay"], options["epsilon"]
    refresh, longest = options["refresh"], options["largest_side"]

    def root(S, exponent):
        values, vectors = np.linalg.eigh(S)
        values = np.maximum(values, 0) + eps * values.max()
        return (vectors * values**exponent) @ vectors.T

    def blocks(matrices):
        for M, width in zip(matrices, network.widths):
            yield M[:, :width]
            if network.biases:
                yield M[:, width:]

    W = [M.copy() for M in network.split(w)]
    memory, last, points = None, 0, []
    for t in range(1, STEPS + 1):
        G = list(blocks(network.gradient(network.join(W))))
        if memory is None:
            memory = [{"L": 0, "R": 0, "D": 0, "S": 0, "V": 0} for _ in G]
        fresh = t - last >= min(last, refresh)
        if fresh:
            last = t
        for M, g, target in zip(memory, G, list(blocks(W))):
            rows, cols = g.shape
            matrix = min(rows, cols) > 1
            left, right = matrix and rows <= longest, matrix and cols <= longest
            M["L"], M["R"] = decay * M["L"] + g @ g.T, decay * M["R"] + g.T @ g
            M["D"] = decay * M["D"] + g * g
            if left or right:
                exponent = -0.25 if left and right else -0.5
                if fresh:
                    M["l"] = root(M["L"], exponent) if left else np.eye(rows)
                    M["r"] = root(M["R"], exponent) if right else np.eye(cols)
                P = M["l"] @ g @ M["r"]
            else:
                P = g / np.sqrt(M["D"] + eps * M["D"].max())
            M["S"] = M["S"] + g * g
            if grafting == "sgd":
                P *= np.linalg.norm(g) / np.linalg.norm(P)
            elif grafting == "adagrad":
                P *= np.linalg.norm(g / (np.sqrt(M["S"]) + 1e-10)) / np.linalg.norm(P)
            M["V"] = mu * M["V"] + P
            target -= rate * M["V"]
        points.append(network.join(W))
    return points


def kfac(network, w, rate, options):
    """Martens and Grosse (2015), with all targets of the model, or with those of the batch."""
    damping, decay, refresh = options["damping"], options["decay"], options["refresh"]
    mu, clip = options["momentum"], options["kl_clip"]
    W = [M.copy() for M in network.split(w)]
    V = [np.zeros_like(M) for M in W]
    A, G, inverses, last, points = None, None, None, 0, []
    for t in range(1, STEPS + 1):
        h, z = network.forward(W)
        own = network.back(W, z, network.sample_delta(z[-1]))
        if options["fisher"] == "exact":
            root = network.hessian_root(z[-1])
            sides = [network.back(W, z, root[:, k, :]) for k in range(network.widths[-1])]
        else:
            sides = [own]
        new_A = [a @ a.T / network.n for a in h]
        new_G = [sum(s[m] @ s[m].T for s in sides) / network.n for m in range(len(W))]
        e = min(1 - 1 / t, decay)
        A = new_A if t == 1 else [e * a + (1 - e) * b for a, b in zip(A, new_A)]
        G = new_G if t == 1 else [e * a + (1 - e) * b for a, b in zip(G, new_G)]
        if t - last >= min(last, refresh):
            last = t
            inverses = []
            for a, g in zip(A, G):
                pi = np.sqrt((np.trace(a) / len(a)) / (np.trace(g) / len(g)))
                inverses.append(
                    (
                        np.linalg.inv(a + pi * np.sqrt(damping) * np.eye(len(a))),
                        np.linalg.inv(g + np.sqrt(damping) / pi * np.eye(len(g))),
                    )
                )
        means = [d @ a.T / network.n for d, a in zip(own, h)]
        U = [g_inv @ M @ a_inv for M, (a_inv, g_inv) in zip(means, inverses)]
        nu = 1.0
        if clip > 0:
            change = rate**2 * sum((u * M).sum() for u, M in zip(U, means))
            nu = min(1.0, np.sqrt(clip / change))
        V = [mu * v + nu * u for v, u in zip(V, U)]
        W = [M - rate * v for M, v in zip(W, V)]
        points.append(network.join(W))
    return points


def prodigy(network, w, rate, options):
    parameter = torch.nn.Parameter(torch.tensor(w))
    names = {"first_distance": "d0", "distance_factor": "d_coef", "weight_decay": "weight_decay",
             "unbiased": "use_bias_correction", "safeguard_warm_up": "safeguard_warmup"}
    rule = prodigyopt.Prodigy([parameter], lr=rate, **{names[k]: v for k, v in options.items()})
    points = []
    for _ in range(STEPS):
        gradient = network.join(network.gradient(parameter.detach().numpy()))
        parameter.grad = torch.tensor(gradient)
        rule.step()
        points.append(parameter.detach().numpy().copy())
    return points


def slots(network, matrices):
    """W1, b1, W2, ...: views of the augmented weights."""
    for M, width in zip(matrices, network.widths):
        yield M[:, :width]
        if network.biases:
            yield M[:, width]


def muon(network, w, rate, options):
    """Jordan et al. (2024) for all matrices but the last; AdamW for the rest."""
    mu, nesterov, decay = options["momentum"], options["nesterov"], options["weight_decay"]
    W = [M.copy() for M in network.split(w)]
    parameters = list(slots(network, W))
    head = max(i for i, M in enumerate(parameters) if M.ndim == 2)
    first = [np.zeros_like(M) for M in parameters]
    second = [np.zeros_like(M) for M in parameters]
    points = []
    for t in range(1, STEPS + 1):
        gradient = slots(network, network.gradient(network.join(W)))
        for i, (M, G) in enumerate(zip(parameters, gradient)):
            if M.ndim == 1 or i == head:
                b1, b2 = 0.9, 0.999
                first[i] = b1 * first[i] + (1 - b1) * G
                second[i] = b2 * second[i] + (1 - b2) * G * G
                scaled = np.sqrt(second[i] / (1 - b2**t)) + 1e-8
                step = first[i] / (1 - b1**t) / scaled + 0.01 * M
                M -= options["rest_rate"] * rate * step
                continue
            first[i] = mu * first[i] + (1 - mu) * G
            X = mu * first[i] + (1 - mu) * G if nesterov else first[i]
            # The polynomial 3.4445 s - 4.7750 s^3 + 2.0315 s^5 of the singular values, five times.
            U, s, V = np.linalg.svd(X, full_matrices=False)
            s = s / np.linalg.norm(X)
            for _ in range(5):
                s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
            rows, cols = M.shape
            if options["scale"] == "original":
                scale = np.sqrt(max(1, rows / cols))
            else:
                scale = 0.2 * np.sqrt(max(rows, cols))
            M -= rate * (decay * M + scale * (U * s) @ V)
        points.append(network.join(W))
    return points


def by_torch(network, w, make):
    """make(matrices, others) returns the optimizers that step them; the head is among the others."""
    W = [torch.tensor(M) for M in network.split(w)]
    parameters = [torch.nn.Parameter(M.clone()) for M in slots(network, W)]
    matrices = [p for p in parameters if p.ndim == 2]
    others = [p for p in parameters if p.ndim == 1] + [matrices.pop()]
    optimizers, points = make(matrices, others), []
    for _ in range(STEPS):
        G = network.gradient(network.join([M.numpy() for M in W]))
        for p, g in zip(parameters, slots(network, G)):
            p.grad = torch.tensor(g)
        for optimizer in optimizers:
            optimizer.step()
        for M, p in zip(slots(network, W), parameters):
            M.copy_(p.detach())
        points.append(network.join([M.numpy() for M in W]))
    return points


def torch_muon(network, w, rate, options):
    def make(matrices, others):
        settings = {k: options[k] for k in ("momentum", "nesterov", "weight_decay")}
        return [
            torch.optim.Muon(matrices, lr=rate, adjust_lr_fn=options["scale"], **settings),
            torch.optim.AdamW(others, lr=options["rest_rate"] * rate),
        ]

    return by_torch(network, w, make)


def soap(network, w, rate, options):
    # The package finds Q of a QR decomposition in float, as the authors' code does.
    module = pytorch_optimizer.optimizer.soap
    module.torch = types.SimpleNamespace(**{**vars(torch), "float32": torch.float64})

    def make(matrices, others):
        return [
            pytorch_optimizer.SOAP(
                matrices + others,
                lr=rate,
                betas=(options["beta1"], options["beta2"]),
                weight_decay=options["weight_decay"],
                precondition_frequency=options["refresh"],
                max_precondition_dim=options["largest_side"],
                eps=options["epsilon"],
            )
        ]

    return by_torch(network, w, make)


RULES = {"shampoo": shampoo, "kfac": kfac, "prodigy": prodigy, "muon": muon,
         "torch_muon": torch_muon, "soap": soap}  # fmt: skip

SHAMPOO = {"grafting": "sgd", "momentum": 0.9, "decay": 1.0, "epsilon": 1e-5, "refresh": 20,
           "largest_side": 2048}
KFAC = {"damping": 0.03, "decay": 0.95, "refresh": 10, "momentum": 0.9, "fisher": "exact",
        "kl_clip": 0.0}
# The package takes w_0 - w as a difference, of which a start of 1e-6 would leave ten digits.
PRODIGY = {"first_distance": 1e-3, "distance_factor": 1.0, "weight_decay": 0.0, "unbiased": False,
           "safeguard_warm_up": False}
MUON = {"momentum": 0.95, "nesterov": True, "weight_decay": 0.1, "scale": "original",
        "rest_rate": 0.05}
SOAP = {"beta1": 0.95, "beta2": 0.95, "epsilon": 1e-8, "weight_decay": 0.01, "refresh": 10,
        "largest_side": 4}

RUNS = [
    ("shampoo", 0.02, SHAMPOO | {"refresh": 3}),
    ("shampoo", 0.05, SHAMPOO | {"grafting": "adagrad", "momentum": 0.0, "decay": 0.9}),
    ("shampoo", 0.02, SHAMPOO | {"grafting": "none", "momentum": 0.5, "largest_side": 5, "refresh": 1}),
    ("kfac", 0.05, KFAC),
    ("kfac", 0.1, KFAC | {"momentum": 0.0, "refresh": 1, "kl_clip": 1e-3}),
    ("kfac", 0.05, KFAC | {"fisher": "empirical", "damping": 0.1, "momentum": 0.5, "refresh": 3}),
    ("prodigy", 1.0, PRODIGY),
    ("prodigy", 1.0, PRODIGY | {"first_distance": 1e-2, "weight_decay": 0.02, "unbiased": True}),
    ("prodigy", 0.5, PRODIGY | {"distance_factor": 2.0, "safeguard_warm_up": True}),
    ("muon", 0.02, MUON),
    ("muon", 0.01, MUON | {"momentum": 0.8, "nesterov": False, "weight_decay": 0.0,
                           "scale": "match_rms_adamw", "rest_rate": 1.0}),
    ("torch_muon", 0.02, MUON),
    ("torch_muon", 0.01, MUON | {"scale": "match_rms_adamw", "nesterov": False}),
    ("soap", 0.01, SOAP),
    ("soap", 0.02, SOAP | {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3, "refresh": 3,
                           "weight_decay": 0.1}),
]  # fmt: skip


def make_cases():
    random = np.random.default_rng(17)
    cases = []
    for widths, activation, biases, loss in [
        ([4, 6, 5, 3], "tanh", True, "cross_entropy:mean"),
        ([3, 7, 4], "leaky_relu:0.1", False, "half_sum_squares:mean"),
        ([5, 6, 2], "tanh", True, "mean_squares:sum"),
        ([4, 5, 5], "tanh", True, "mean_squares:mean"),
    ]:
        n = 12
        case = {"widths": widths, "activation": activation, "biases": biases, "loss": loss}
        case["X"] = random.normal(size=(widths[0], n)).tolist()
        classes = loss.startswith("cross")
        targets = random.integers(widths[-1], size=n) if classes else random.normal(size=(widths[-1], n))
        case["Y"] = targets.tolist()
        network = Network(case)
        case["w"] = network.join(
            [random.normal(size=s) / np.sqrt(s[1]) for s in network.shapes()]
        ).tolist()
        cases.append(case)
    return cases


def main():
    file = HERE / "optimizers.json"
    if "--check" in sys.argv or file.exists():
        cases = json.loads(file.read_text())["cases"]
    else:
        cases = make_cases()
    runs = []
    for index, case in enumerate(cases):
        for name, rate, options in RUNS:
            network = Network(case)
            # Of the first gradient's factors there must be no more than one eigenvector for 0: of
            # several, any basis is as good. So both sides are turned where they are of like length.
            if name == "soap" and index == 3:
                options = options | {"largest_side": 2048}
            # The gradient of a sum is n times as long.
            scale = 1 / network.n if case["loss"].endswith("sum") and name == "shampoo" else 1.0
            points = RULES[name](network, np.array(case["w"]), rate * scale, options)
            runs.append(
                {"case": index, "optimizer": name, "rate": rate * scale, "options": options,
                 "points": {str(t): points[t - 1].tolist() for t in (1, 2, 5, 10, 20, STEPS)}}
            )  # fmt: skip
    if "--check" in sys.argv:
        worst = 0.0
        for old, new in zip(json.loads(file.read_text())["runs"], runs, strict=True):
            for t, point in new["points"].items():
                there = np.array(old["points"][t])
                worst = max(worst, np.abs(there - np.array(point)).max() / np.abs(there).max())
        print(f"optimizers.json: largest relative deviation {worst:.1e}")
        sys.exit(worst > 1e-9)
    file.write_text(json.dumps({"cases": cases, "runs": runs}) + "\n")


main()
