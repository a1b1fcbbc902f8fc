# SPDX-License-Identifier: MIT
"""What verify_formulas.py and verify_networks.py share: comparison and derivatives."""
import math

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
torch.manual_seed(20220)

TOLERANCE = 1e-8
worst = {}


def check(label, found, expected):
    """Two numbers, tensors or lists of tensors."""
    if not isinstance(expected, (list, tuple)):
        found, expected = [found], [expected]
    a = torch.cat([torch.as_tensor(x).detach().reshape(-1) for x in found])
    b = torch.cat([torch.as_tensor(x).detach().reshape(-1) for x in expected])
    deviation = ((a - b).norm() / b.norm()).item()
    worst[label] = max(worst.get(label, 0.0), deviation if math.isfinite(deviation) else math.inf)


def grad(value, variables, graph=False):
    return torch.autograd.grad(value, variables, create_graph=graph)


def eye(n):
    return torch.eye(n)


def dot(a, b):
    return (a * b).sum()


def hessian_product(loss, w, v):
    """H(w) v for a flat w."""
    w = w.detach().requires_grad_()
    (g,) = grad(loss(w), [w], graph=True)
    return grad(dot(g, v.detach()), [w])[0]


def gradient(loss, w):
    w = w.detach().requires_grad_()
    return grad(loss(w), [w])[0]


def grad_sq_and_curvature(loss, w):
    """J and Phi at w, differentiable in whatever w depends on."""
    (g,) = grad(loss(w), [w], graph=True)
    (Hg,) = grad(0.5 * dot(g, g), [w], graph=True)
    return dot(g, g), dot(g, Hg)


def hessian_graph(loss, w, v):
    """H(w) v, differentiable in whatever w depends on."""
    (g,) = grad(loss(w), [w], graph=True)
    return grad(dot(g, v), [w], graph=True)[0]
