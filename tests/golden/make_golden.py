#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recomputes the golden numbers of this folder from the definitions, with PyTorch in double precision.

    python make_golden.py --check    compare with the files; exit 1 beyond a relative deviation of 1e-10
    python make_golden.py --write    rewrite the files

Inputs (weights, data, angles, settings) are read from the files; every other number is computed anew. Derivatives come
from automatic differentiation through the definition of a loss or an action: none of the library's closed formulas for
them is in here. README.md says what each number is.
"""
import argparse
import json
import math
import pathlib
import sys

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

FOLDER = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-10


def tensor(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def gradients(value, variables, graph=False):
    return torch.autograd.grad(value, variables, create_graph=graph)


def squared(tensors):
    return sum((t * t).sum() for t in tensors)


# Test functions: L = |h(x)|^2 and g.x = h^-1(g h(x)), (F1) of docs/mathematics/functions.md.

FUNCTIONS = {
    "rosenbrock": {
        "loss": lambda x: 100 * (x[0] ** 2 - x[1]) ** 2 + (x[0] - 1) ** 2,
        "to": lambda x: torch.stack([10 * (x[0] ** 2 - x[1]), x[0] - 1]),
        "from": lambda u: torch.stack([u[1] + 1, (u[1] + 1) ** 2 - u[0] / 10]),
    },
    "booth": {
        "loss": lambda x: (x[0] + 2 * x[1] - 7) ** 2 + (2 * x[0] + x[1] - 5) ** 2,
        "to": lambda x: torch.stack([x[0] + 2 * x[1] - 7, 2 * x[0] + x[1] - 5]),
        "from": lambda u: torch.stack([(2 * (u[1] + 5) - (u[0] + 7)) / 3, (2 * (u[0] + 7) - (u[1] + 5)) / 3]),
    },
    "ellipse_a5": {
        "loss": lambda x: x[0] ** 2 + 5 * x[1] ** 2,
        "to": lambda x: torch.stack([x[0], 5**0.5 * x[1]]),
        "from": lambda u: torch.stack([u[0], u[1] / 5**0.5]),
    },
}


def rotated(function, x, theta):
    """The point x, rotated by theta in the coordinates u = h(x)."""
    u = function["to"](x)
    c, s = torch.cos(theta), torch.sin(theta)
    return function["from"](torch.stack([c * u[0] - s * u[1], s * u[0] + c * u[1]]))


def test_functions(old):
    new = {}
    for name, data in old.items():
        loss = FUNCTIONS[name]["loss"]
        steps = []
        x = tensor(data["gd"][0]["x"])
        for step in range(data["gd"][-1]["step"] + 1):
            x.requires_grad_()
            value = loss(x)
            (gradient,) = gradients(value, [x])
            if step in [row["step"] for row in data["gd"]]:
                steps.append({"step": step, "x": x.tolist(), "loss": value.item(),
                              "grad_sq": squared([gradient]).item()})
            x = x.detach() - data["lr"] * gradient
        rotations = []
        for row in data["so2"]:
            theta = tensor(row["theta"]).requires_grad_()
            moved = rotated(FUNCTIONS[name], tensor(row["x"]), theta)
            value = loss(moved)
            grad_sq = squared(gradients(value, [moved], graph=True))
            (slope,) = gradients(grad_sq, [theta])
            rotations.append({"x": row["x"], "theta": row["theta"], "x_teleported": moved.tolist(),
                              "loss": value.item(), "grad_sq": grad_sq.item(), "d_grad_sq_d_theta": slope.item()})
        new[name] = {"lr": data["lr"], "gd": steps, "so2": rotations}
    return new


# Networks: columns are samples, (N1) of docs/mathematics/networks.md.

ACTIVATIONS = {  # value and inverse
    "leaky_relu_0.1": (lambda x: torch.where(x > 0, x, 0.1 * x), lambda y: torch.where(y > 0, y, y / 0.1)),
    "asinh": (torch.asinh, torch.sinh),
    "linear": (lambda x: x, lambda y: y),
}


def half_sum_squares(Z, Y):
    return 0.5 * ((Z - Y) ** 2).sum()


def cross_entropy_mean(Z, classes):
    return torch.nn.functional.cross_entropy(Z.T, classes)


def with_ones(h, b):
    """h with a row of ones below, if there are biases."""
    return h if b is None else torch.cat([h, torch.ones(1, h.shape[1])])


def states(W, b, X, sigma):
    """h_0 ... h_(p-1), without rows of ones, and z_1 ... z_p."""
    h, z = [X], []
    for m, weights in enumerate(W):
        z.append(weights @ h[m] + (0 if b is None else b[m][:, None]))
        if m + 1 < len(W):
            h.append(sigma(z[m]))
    return h, z


def mlp_regression(old):
    sigma = ACTIVATIONS["leaky_relu_0.1"][0]

    def descend(run, optimizer):
        W = [tensor(w) for w in run["W"]]
        X, Y = tensor(run["X"]), tensor(run["Y"])
        accumulated = [torch.zeros_like(w) for w in W]
        losses, norms = [], []
        for _ in run[optimizer]["loss"]:
            for w in W:
                w.requires_grad_()
            loss = half_sum_squares(states(W, None, X, sigma)[1][-1], Y)
            G = gradients(loss, W)
            losses.append(loss.item())
            norms.append(squared(G).item())
            if optimizer == "adagrad":  # eps outside of the root, and the accumulator starts at 0
                accumulated = [a + g * g for a, g in zip(accumulated, G)]
                G = [g / (a.sqrt() + 1e-10) for a, g in zip(accumulated, G)]
            W = [w.detach() - run[optimizer]["lr"] * g for w, g in zip(W, G)]
        return {"lr": run[optimizer]["lr"], "loss": losses, "grad_sq": norms}

    runs = [{**run, "gd": descend(run, "gd"), "adagrad": descend(run, "adagrad")} for run in old["runs"]]
    return {**old, "runs": runs}


# GL on networks: (G2), the residual form, and (P1), eq. (8) of the paper as printed.


def residual_action(W, b, X, g, sigma, inverse):
    """W' (and b') with g[m] on hidden layer m+1, left inverses by the singular value decomposition."""
    h, z = states(W, b, X, sigma)
    new_W, new_b = [], []
    for m, weights in enumerate(W):
        augmented = weights if b is None else torch.cat([weights, b[m][:, None]], 1)
        if m + 1 < len(W):
            left_inverse = torch.linalg.pinv(with_ones(h[m], b)).detach()
            augmented = augmented + (inverse(g[m] @ h[m + 1]) - z[m]) @ left_inverse
        columns = weights.shape[1]
        new_W.append(augmented[:, :columns] @ torch.linalg.inv(g[m - 1]) if m > 0 else augmented[:, :columns])
        new_b.append(None if b is None else augmented[:, columns])
    return new_W, None if b is None else new_b


def paper_action(W, X, T, sigma, inverse):
    """Eq. (8), bottom up, with I + T for g and I - T for its inverse."""
    A, h, new_W = W[0], X, []
    for m in range(len(W) - 1):
        one = torch.eye(W[m].shape[0])
        above = (one + T[m]) @ sigma(A @ h)
        new_W.append(inverse(above) @ torch.linalg.pinv(h))
        A, h = W[m + 1] @ (one - T[m]), above
    return new_W + [A]


def gl_oracle(old):
    new = []
    for case in old:
        sigma, inverse = ACTIVATIONS[case["activation"]]
        X, W = tensor(case["X"]), [tensor(w).requires_grad_() for w in case["W"]]
        if case["loss_kind"] == "cross_entropy_mean":
            Y, measure = torch.tensor(case["Y"]), cross_entropy_mean
        else:
            Y, measure = tensor(case["Y"]), half_sum_squares

        def loss_at(weights):
            return measure(states(weights, None, X, sigma)[1][-1], Y)

        def grad_sq_at(weights):
            return squared(gradients(loss_at(weights), weights, graph=True))

        def curvature_at(weights):
            """g'Hg: the derivative of |G|^2 / 2 along G."""
            G = gradients(loss_at(weights), weights, graph=True)
            HG = gradients(squared(G), weights, graph=True)
            return 0.5 * sum((a * b).sum() for a, b in zip(HG, G))

        def zeros():
            return [torch.zeros(w.shape[0], w.shape[0]).requires_grad_() for w in W[:-1]]

        def exact(elements):
            return residual_action(W, None, X, elements, sigma, inverse)[0]

        T = zeros()
        at_T = exact([torch.eye(t.shape[0]) + t for t in T])
        E = [e.detach() for e in gradients(grad_sq_at(at_T), T, graph=True)]
        F = gradients(curvature_at(at_T), T)
        g = [torch.eye(e.shape[0]) + case["step"] * e / e.norm() for e in E]
        after = [w.detach().requires_grad_() for w in exact(g)]
        T = zeros()
        paper = grad_sq_at(paper_action(W, X, T, sigma, inverse))
        new.append({
            **case,
            "loss": loss_at(W).item(),
            "grad_sq": grad_sq_at(W).item(),
            "gHg": curvature_at(W).item(),
            "d_grad_sq_dT_exact": [e.tolist() for e in E],
            "d_gHg_dT_exact": [f.tolist() for f in F],
            "g": [a.tolist() for a in g],
            "W_after_exact": [w.tolist() for w in after],
            "loss_after_exact": loss_at(after).item(),
            "grad_sq_after_exact": grad_sq_at(after).item(),
            "grad_sq_paper": paper.item(),
            "d_grad_sq_dT_paper": [e.tolist() for e in gradients(paper, T)],
        })
    return new


# Closed-form destinations and round trips.


def white_gauge(h, damping):
    """(hh' + l I)^-1/2 on the span of h, l = damping * mean squared singular value that is not 0; on the complement the
    geometric mean of the singular values there."""
    U, s, _ = torch.linalg.svd(h, full_matrices=False)
    kept = s > 1e-10 * s[0]
    U, s = U[:, kept], s[kept]
    white = (s * s + damping * (s * s).mean()) ** -0.5
    rest = torch.eye(h.shape[0]) - U @ U.T
    return U @ torch.diag(white) @ U.T + white.log().mean().exp() * rest


def own_gauge_step(h, delta, theta, damping):
    """theta delta (h'h + l I)^-1 h' by the singular value decomposition of h; l = damping tr(h'h) / min(n, d)."""
    U, s, Vt = torch.linalg.svd(h, full_matrices=False)
    weight = s / (s * s + damping * (s * s).sum() / min(h.shape))
    return theta * delta @ Vt.T @ torch.diag(weight) @ U.T


def closed_form(old):
    sigma, inverse = ACTIVATIONS["leaky_relu_0.1"]
    new = []
    for case in old["cases"]:
        squares = case["loss"] == "squares"
        Y = tensor(case["Y"]) if squares else torch.tensor(case["Y"])
        measure = half_sum_squares if squares else cross_entropy_mean
        X, W = tensor(case["X"]), [tensor(w) for w in case["W"]]
        b = None if case["b"] is None else [tensor(v) for v in case["b"]]

        def loss_at(weights, biases):
            return measure(states(weights, biases, X, sigma)[1][-1], Y)

        def gradient_at(weights, biases):
            variables = [v.detach().requires_grad_() for v in weights + (biases or [])]
            p = len(weights)
            G = gradients(loss_at(variables[:p], None if biases is None else variables[p:]), variables)
            return list(G[:p]), None if biases is None else list(G[p:])

        h, z = states(W, b, X, sigma)
        to_W, to_b = residual_action(W, b, X, [white_gauge(a, case["damping"]) for a in h[1:]], sigma, inverse)
        scales = [1.0] + case["scales"] + [1.0]
        to_W = [scales[m + 1] * w / scales[m] for m, w in enumerate(to_W)]
        to_b = None if b is None else [scales[m + 1] * v for m, v in enumerate(to_b)]
        G_W, G_b = gradient_at(to_W, to_b)
        eta = case["learning_rate"]
        stepped = ([w - eta * g for w, g in zip(to_W, G_W)],
                   None if b is None else [v - eta * g for v, g in zip(to_b, G_b)])

        # Derivatives in the z_m of the summed loss: a shift of z_m by e_m that starts at 0.
        shifts = [torch.zeros_like(a).requires_grad_() for a in z]
        a = X
        for m, w in enumerate(W):
            out = w @ a + (0 if b is None else b[m][:, None]) + shifts[m]
            a = sigma(out)
        samples = 1 if squares else X.shape[1]
        delta = gradients(samples * measure(out, Y), shifts)
        trip = case["round_trip"]
        back_W, back_b = [], []
        for m, w in enumerate(W):
            step = own_gauge_step(with_ones(h[m], b), delta[m], trip["theta"], trip["damping"])
            back_W.append(w - step[:, : w.shape[1]])
            back_b.append(None if b is None else b[m] - step[:, w.shape[1]])
        back_b = None if b is None else back_b

        def lists(tensors):
            return None if tensors is None else [t.tolist() for t in tensors]

        new.append({
            **case,
            "destination": {"W": lists(to_W), "b": lists(to_b), "squared_gradient_by_layer": [squared([g]).item() for g in G_W]},
            "loss_before": loss_at(W, b).item(),
            "loss_after": loss_at(to_W, to_b).item(),
            "loss_after_one_step": loss_at(*stepped).item(),
            "round_trip": {**trip, "W": lists(back_W), "b": lists(back_b), "loss": loss_at(back_W, back_b).item()},
        })
    return {**old, "cases": new}


# Comparison and files.


def is_matrix(x):
    return (isinstance(x, list) and isinstance(x[0], list) and not isinstance(x[0][0], list)
            and len({len(row) for row in x}) == 1)


def relative(difference, scale):
    """Infinite where a number is not one."""
    if difference == 0:
        return 0.0
    return difference / scale if scale > 0 and difference < math.inf else math.inf


def deviations(old, new, path, element_by_element=False):
    """(relative deviation, path) of every number; a vector or matrix counts as one, relative to its largest entry,
    but series of losses and squared gradients entry by entry."""
    if isinstance(old, dict):
        if list(old) != list(new):
            raise SystemExit(f"{path}: fields {list(new)}, expected {list(old)}")
        for key in old:
            series = key in ("loss", "grad_sq", "squared_gradient_by_layer")
            yield from deviations(old[key], new[key], f"{path}.{key}", series)
    elif is_matrix(old) or (isinstance(old, list) and isinstance(old[0], float) and not element_by_element):
        a, b = tensor(old), tensor(new)
        yield relative((a - b).abs().max().item(), a.abs().max().item()), path
    elif isinstance(old, list):
        if len(old) != len(new):
            raise SystemExit(f"{path}: {len(new)} entries, expected {len(old)}")
        for i, (a, b) in enumerate(zip(old, new)):
            yield from deviations(a, b, f"{path}[{i}]", element_by_element)
    elif isinstance(old, float):
        yield relative(abs(old - new), abs(old)), path
    elif old != new:
        raise SystemExit(f"{path}: {new!r}, expected {old!r}")


FILES = {  # how to compute it, and the indentation of the file
    "test_functions.json": (test_functions, 1),
    "mlp_regression.json": (mlp_regression, None),
    "gl_oracle.json": (gl_oracle, None),
    "closed_form.json": (closed_form, None),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="compare with the files")
    what.add_argument("--write", action="store_true", help="rewrite the files")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, help="where the files are (default: beside this)")
    arguments = parser.parse_args()
    failed = False
    for name, (compute, indent) in FILES.items():
        file = arguments.folder / name
        old = json.loads(file.read_text())
        new = compute(old)
        worst, where = max(deviations(old, new, name))
        ok = worst <= TOLERANCE
        failed = failed or not ok
        print(f"{name}: largest relative deviation {worst:.2g} at {where}" + ("" if ok else f", allowed {TOLERANCE:g}"))
        if arguments.write:
            file.write_text(json.dumps(new, indent=indent))
    return 1 if failed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
