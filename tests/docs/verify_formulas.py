#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the numbered formulas of docs/mathematics with automatic differentiation (PyTorch, double precision).

    python verify_formulas.py      one line for each formula with the largest relative deviation; exit 1 above 1e-8

The left-hand sides are derivatives through the definition of a loss and an action, the right-hand sides the formulas as
the pages have them. Definitions, and formulas that are steps on the way to another one, have no line of their own.
"""
import sys

import torch

from verification import TOLERANCE, check, dot, eye, grad, grad_sq_and_curvature, gradient, hessian_graph, hessian_product, worst
from verify_networks import ACTIVATIONS, networks

# functions.md


def functions():
    def h(x):
        return torch.stack([10 * (x[0] ** 2 - x[1]), x[0] - 1])

    def h_inverse(u):
        return torch.stack([u[1] + 1, (u[1] + 1) ** 2 - u[0] / 10])

    def loss(x):
        return 100 * (x[0] ** 2 - x[1]) ** 2 + (x[0] - 1) ** 2

    def rotation(theta):
        c, s = torch.cos(theta), torch.sin(theta)
        return torch.stack([torch.stack([c, -s]), torch.stack([s, c])])

    w, g = torch.randn(2), rotation(torch.tensor(0.7))
    moved = h_inverse(g @ h(w))
    check("F1", loss(moved), loss(w))
    check("F1", dot(h(w), h(w)), loss(w))
    jacobian = torch.autograd.functional.jacobian
    Dh_inverse = jacobian(h_inverse, h(w))
    transported = jacobian(h, moved).T @ g @ Dh_inverse.T @ gradient(loss, w)
    check("F2", transported, gradient(loss, moved))
    action = jacobian(lambda x: h_inverse(g @ h(x)), w)
    check("F2", transported, torch.linalg.solve(action.T, gradient(loss, w)))

    c, u, T = torch.randn(2), h(w), torch.tensor([[0.0, -1.3], [1.3, 0.0]])
    p = Dh_inverse.T @ c
    S = torch.outer(p, u) - torch.outer(u, p)
    e = torch.zeros(()).requires_grad_()
    (slope,) = grad(dot(c, h_inverse(torch.matrix_exp(e * T) @ h(w))), [e])
    check("F3", 0.5 * dot(S, T), slope)
    check("F3", 1.3 * (p[1] * u[0] - p[0] * u[1]), slope)

    x = w.clone().requires_grad_()
    J, Phi = grad_sq_and_curvature(loss, x)
    G = gradient(loss, w)
    HG = hessian_product(loss, w, G)
    third = jacobian(lambda s: hessian_graph(loss, w + s * G, G), torch.zeros(()))
    check("F4", 2 * HG, grad(J, [x], graph=True)[0])
    check("F4", 2 * hessian_product(loss, w, HG) + third, grad(Phi, [x])[0])

    n = 5
    M = torch.randn(n, n)
    A = M @ M.T + eye(n)
    values, vectors = torch.linalg.eigh(A)
    root = vectors @ torch.diag(values.sqrt()) @ vectors.T
    w = torch.randn(n)
    u = root @ w

    def quadratic(x):
        return x @ A @ x

    x = w.clone().requires_grad_()
    J, Phi = grad_sq_and_curvature(quadratic, x)
    check("F7", [4 * u @ A @ u, 8 * u @ A @ A @ u], [J, Phi])
    eta = 0.3 / values[-1]
    for value, vector in zip(values, vectors.T):
        x = (vector * (quadratic(w) / value).sqrt()).requires_grad_()
        J, Phi = grad_sq_and_curvature(quadratic, x)
        check("F8", [4 * quadratic(w) * eta * value * (1 - eta * value), quadratic(w)],
              [eta * J - 0.5 * eta**2 * Phi, J**2 / (2 * Phi)])


def linear_actions():
    m, r, n = 4, 3, 5
    Y = torch.randn(m, n)

    def split(w):
        return w[: m * r].reshape(m, r), w[m * r :].reshape(r, n)

    def loss(w):
        U, V = split(w)
        return ((Y - U @ V) ** 2).sum()

    def act(g, w):
        U, V = split(w)
        return torch.cat([(U @ torch.linalg.inv(g)).reshape(-1), (g @ V).reshape(-1)])

    w, g = torch.randn(m * r + r * n), eye(r) + 0.4 * torch.randn(r, r)
    A = torch.autograd.functional.jacobian(lambda x: act(g, x), w)
    G, inverse = gradient(loss, w), torch.linalg.inv(A)
    H = torch.autograd.functional.hessian(loss, w)
    check("F5", inverse.T @ G, gradient(loss, A @ w))
    check("F5", inverse.T @ H @ inverse, torch.autograd.functional.hessian(loss, A @ w))
    v = inverse @ inverse.T @ G
    J, Phi = grad_sq_and_curvature(loss, (A @ w).requires_grad_())
    check("F6", [dot(G, v), v @ H @ v], [J, Phi])
    GU, GV = split(G)
    moved = torch.cat([(GU @ g.T).reshape(-1), (torch.linalg.inv(g).T @ GV).reshape(-1)])
    check("F9", moved, gradient(loss, act(g, w)))
    S = torch.linalg.inv(g.T @ g)
    check("F10", torch.trace(GU.T @ GU @ torch.linalg.inv(S)) + torch.trace(GV @ GV.T @ S), J)

    def grad_sq_at(g):
        return dot(GU @ g.T, GU @ g.T) + (torch.linalg.inv(g).T @ GV).pow(2).sum()

    kappa = 1.7
    values, vectors = torch.linalg.eigh(GV @ GV.T - GU.T @ GU)
    P = vectors @ torch.diag((values > 0).double()) @ vectors.T
    best = grad_sq_at(P / kappa + kappa * (eye(r) - P))
    highest = max(grad_sq_at(random_within(r, kappa)).item() for _ in range(2000))
    check("F11", max(best.item(), highest), best)

    d, k = 4, 3
    X, Y, W = torch.randn(d, 6), torch.randn(k, 6), torch.randn(k, d)

    def numbers(T):
        g = torch.linalg.matrix_exp(T) @ g0
        data = g @ X
        R = W @ torch.linalg.inv(g) @ data - Y
        G = R @ data.T
        return dot(G, G), dot(G @ data, G @ data)

    g0 = eye(d) + 0.3 * torch.randn(d, d)
    T = torch.zeros(d, d).requires_grad_()
    J, Phi = numbers(T)
    data, R = g0 @ X, W @ X - Y
    K, RR = data.T @ data, R.T @ R
    check("F12", [torch.trace(RR @ K), (R @ K).pow(2).sum()], [J, Phi])
    check("F13", 2 * data @ RR @ data.T, grad(J, [T], graph=True)[0])
    check("F13", 2 * data @ (RR @ K + K @ RR) @ data.T, grad(Phi, [T])[0])


def random_within(r, kappa):
    """A random g with singular values between 1/kappa and kappa."""
    U, V = (torch.linalg.qr(torch.randn(r, r))[0] for _ in range(2))
    return U @ torch.diag(kappa ** (2 * torch.rand(r) - 1)) @ V.T


# objectives.md


def objectives():
    n = 6
    M = torch.randn(n, n)
    H = M @ M.T + 0.1 * eye(n)
    w = torch.randn(n)
    g = H @ w
    J, Phi = g @ g, g @ H @ g
    loss = 0.5 * w @ H @ w
    decrement = J**2 / (2 * Phi)
    eta = 0.3 / torch.linalg.eigvalsh(H)[-1]
    stepped = w - eta * g
    check("D1", eta * J - 0.5 * eta**2 * Phi, loss - 0.5 * stepped @ H @ stepped)
    best = w - J / Phi * g
    check("D3", decrement, loss - 0.5 * best @ H @ best)
    check("D5", torch.maximum(decrement, loss), loss)
    vector = torch.linalg.eigh(H)[1][:, 2]
    g = H @ vector
    check("D5", (g @ g) ** 2 / (2 * g @ H @ g), 0.5 * vector @ H @ vector)
    J_, Phi_ = J.clone().requires_grad_(), Phi.clone().requires_grad_()
    step = J / Phi
    check("D4", [step, -0.5 * step**2], grad(J_**2 / (2 * Phi_), [J_, Phi_]))


# slots.md


def slots():
    """Two layers with biases and leaky ReLU under scalings; a linear pair under GL."""
    d0, d1, d2, n = 4, 5, 3, 6
    X, Y = torch.randn(d0, n), torch.randn(d2, n)
    sigma = ACTIVATIONS["leaky_relu"][0]
    point = [torch.randn(d1, d0), torch.randn(d1), torch.randn(d2, d1)]

    def loss(tensors, sigma):
        W1, b1, W2 = tensors
        return 0.5 * ((W2 @ sigma(W1 @ X + b1[:, None]) - Y) ** 2).sum()

    def gradients_at(tensors, sigma):
        tensors = [t.detach().requires_grad_() for t in tensors]
        return grad(loss(tensors, sigma), tensors)

    def transform(rho, axis, t):
        return torch.movedim(torch.tensordot(rho, t, dims=([1], [axis])), 0, axis)

    def unfold(t, axis):
        return torch.movedim(t, axis, 0).reshape(t.shape[axis], -1)

    for scaling in (True, False):
        f = sigma if scaling else (lambda x: x)
        g = torch.diag(torch.rand(d1) + 0.5) if scaling else eye(d1) + 0.3 * torch.randn(d1, d1)
        dual = torch.linalg.inv(g).T
        rho = [(g, 0), (g, 0), (dual, 1)]
        moved = [transform(m, k, t) for (m, k), t in zip(rho, point)]
        check("S1", loss(moved, f), loss(point, f))
        G = gradients_at(point, f)
        there = gradients_at(moved, f)
        check("S2", [transform(torch.linalg.inv(m).T, k, t) for (m, k), t in zip(rho, G)], list(there))
        if scaling:
            check("S3", [transform(torch.linalg.inv(m).T ** 2, k, t**2) for (m, k), t in zip(rho, G)], [t**2 for t in there])
        grams = [unfold(t, k) @ unfold(t, k).T for (_, k), t in zip(rho, G)]
        inverses = [torch.linalg.inv(m) for m, _ in rho]
        check("S4", sum(torch.trace(i.T @ gram @ i) for i, gram in zip(inverses, grams)), sum(dot(t, t) for t in there))
        C = [unfold(a, k) @ unfold(t, k).T for (_, k), a, t in zip(rho, G, point)]
        total = C[0] + C[1] - C[2].T
        size = sum(c.norm() for c in C)
        residual = (torch.diag(total) if scaling else total).norm() / size
        check("S5", 1.0 + residual, torch.tensor(1.0))
        T = torch.randn(d1, d1)
        T = torch.diag(torch.diag(T)) if scaling else T
        e = torch.zeros(()).requires_grad_()
        # Without the slot of W2 it is no symmetry: the slope is that of the loss.
        one = torch.matrix_exp(e * T)
        (slope,) = grad(loss([one @ point[0], one @ point[1], point[2]], f), [e])
        check("S6", dot(C[0] + C[1], T), slope)

        # J and Phi along exp(e T), all three tensors moved.
        e = torch.zeros(()).requires_grad_()
        one, other = torch.matrix_exp(e * T), torch.matrix_exp(-e * T)
        tensors = [one @ point[0], one @ point[1], point[2] @ other]
        g_there = grad(loss(tensors, f), tensors, graph=True)
        J = sum(dot(t, t) for t in g_there)
        Q = grad(0.5 * J, tensors, graph=True)
        Phi = sum(dot(a, b) for a, b in zip(g_there, Q))

        def N(P, covectors):
            C = [unfold(c, k) @ unfold(t, k).T for (_, k), c, t in zip(rho, covectors, P)]
            return C[0] + C[1] - C[2].T

        check("S8", -2.0 * dot(N(G, G), T), grad(J, [e], graph=True)[0])
        Q = [t.detach() for t in Q]
        check("S8", -2.0 * dot(N(Q, G) + N(G, Q), T), grad(Phi, [e])[0])

        # The closed form against random elements within its bound.
        kappa = 1.7
        M = grams[0] + grams[1] - grams[2]
        if scaling:
            candidate = torch.where(torch.diag(M) > 0, 1.0 / kappa, kappa)
            best = torch.diag(candidate)
        else:
            values, V = torch.linalg.eigh(M)
            best = V @ torch.diag(torch.where(values > 0, 1.0 / kappa, kappa)) @ V.T

        def J_at(g):
            inverse = torch.linalg.inv(g)
            return torch.trace(inverse.T @ (grams[0] + grams[1]) @ inverse) + torch.trace(g @ grams[2] @ g.T)

        def bounded():
            ends = torch.where(torch.rand(d1) < 0.5, kappa, 1.0 / kappa)
            if scaling:
                return torch.diag(ends)
            left, right = torch.linalg.qr(torch.randn(d1, d1))[0], torch.linalg.qr(torch.randn(d1, d1))[0]
            return left @ torch.diag(ends) @ right

        largest = max(J_at(bounded()) for _ in range(200))
        check("S9", max(J_at(best), largest), J_at(best))
    charge, s = -2.0, torch.rand(d1) + 0.5
    W1, b1, W2 = point
    square = (lambda x: torch.relu(x) ** 2)
    check("S7", loss([s[:, None] * W1, s * b1, W2 * s**charge], square), loss(point, square))
    C = [unfold(a, k) @ unfold(t, k).T for k, a, t in zip((0, 0, 1), gradients_at(point, square), point)]
    check("S7", 1.0 + torch.diag(C[0] + C[1] + charge * C[2]).norm() / sum(c.norm() for c in C), torch.tensor(1.0))


def balance():
    """|g.w|^2 / 2 does not change to first order at the element of (S10) and (S11)."""
    r = 4
    A, B = 3 * torch.randn(r, 7), torch.randn(5, r)

    def slope_at(tensors, move, algebra):
        e = torch.zeros_like(algebra).requires_grad_()
        return grad(0.5 * sum(dot(t, t) for t in move(tensors, e)), [e])[0]

    # Charges 1 and -k.
    for k in (1.0, 2.0):
        s = (k * (B**2).sum(0) / (A**2).sum(1)) ** (1 / (2 + 2 * k))
        there = [s[:, None] * A, B * s ** (-k)]
        slope = slope_at(there, lambda t, e, k=k: [torch.exp(e)[:, None] * t[0], t[1] * torch.exp(-k * e)], s)
        check("S10", 1.0 + slope.norm() / dot(A, A), torch.tensor(1.0))
    P, C = A @ A.T, B.T @ B
    root, inverse = root_of(P, 0.5), root_of(P, -0.5)
    M = inverse @ root_of(root @ C @ root, 0.5) @ inverse
    check("S11", M @ P @ M, C)
    g = root_of(M, 0.5)
    there = [g @ A, B @ torch.linalg.inv(g)]
    slope = slope_at(there, lambda t, e: [torch.matrix_exp(e) @ t[0], t[1] @ torch.matrix_exp(-e)], eye(r))
    check("S11", 1.0 + slope.norm() / dot(A, A), torch.tensor(1.0))
    nuclear = torch.linalg.svdvals(B @ A).sum()
    check("S11", sum(dot(t, t) for t in there), 2 * nuclear)
    Q = root_of(P, -0.5) @ A
    check("S12", Q @ Q.T, eye(r))


# round_trips.md


def root_of(A, power):
    values, vectors = torch.linalg.eigh(A)
    return vectors @ torch.diag(values**power) @ vectors.T


def round_trips():
    # A linear action of any kind: there, a step, and back.
    n, theta = 6, 0.3
    A, target = torch.randn(n, n), torch.randn(n)

    def loss(w):
        return torch.tanh(A @ w - target).square().sum()

    w, J = torch.randn(n), eye(n) + 0.3 * torch.randn(n, n)
    there = J @ w
    stepped = there - theta * gradient(lambda x: loss(torch.linalg.solve(J, x)), there)
    check("T1", w - theta * torch.linalg.inv(J.T @ J) @ gradient(loss, w), torch.linalg.solve(J, stepped))

    # Every layer of a network, by automatic differentiation in the gauge; fewer samples than features, and more.
    for samples in (3, 9):
        widths = (5, 7, 4)
        X, Y = torch.randn(widths[0], samples), torch.randn(widths[2], samples)
        W = [torch.randn(widths[1], widths[0]), torch.randn(widths[2], widths[1])]

        def outputs(weights):
            return weights[1] @ torch.nn.functional.leaky_relu(weights[0] @ X, 0.1)

        for m, h in enumerate((X, torch.nn.functional.leaky_relu(W[0] @ X, 0.1))):
            d = h.shape[0]
            lam = 0.1 * (h * h).sum() / min(samples, d)
            g = root_of(h @ h.T + lam * eye(d), -0.5)

            def in_gauge(V):
                weights = list(W)
                weights[m] = V @ g
                return 0.5 * (outputs(weights) - Y).square().sum()

            V = W[m] @ torch.linalg.inv(g)
            back = (V - theta * gradient(in_gauge, V)) @ g
            z = [W[0] @ X]
            z.append(W[1] @ torch.nn.functional.leaky_relu(z[0], 0.1))
            delta = z[1] - Y if m == 1 else (W[1].T @ (z[1] - Y)) * torch.where(z[0] > 0, 1.0, 0.1)
            by_features = delta @ h.T @ torch.linalg.inv(h @ h.T + lam * eye(d))
            by_samples = delta @ torch.linalg.inv(h.T @ h + lam * eye(samples)) @ h.T
            check("T2", W[m] - theta * delta @ h.T @ g.T @ g, back)
            check("T3", W[m] - theta * by_features, back)
            check("T3", W[m] - theta * by_samples, back)

    # Any optimizer in the gauge: the gradient that it sees, and what a step does to the outputs.
    h, W, Y = 3.0 * torch.randn(4, 30), torch.randn(2, 4), torch.randn(2, 30)
    A = h @ h.T / 30
    lam = (0.1 + 4 / 30) * torch.trace(A) / 4
    g = root_of(A + lam * eye(4), -0.25)
    g = g * (torch.trace(A) / torch.trace(A @ g @ g)).sqrt()

    def loss_at(V):
        return torch.tanh(V @ h - Y).square().sum()

    seen = gradient(lambda V: loss_at(V @ g), W @ torch.linalg.inv(g))
    check("T8", gradient(loss_at, W) @ g, seen)
    # The sum over all steps that move one weight, for steps without a preferred direction.
    moves = [torch.zeros(2, 4).index_put((torch.tensor(i), torch.tensor(j)), torch.tensor(1.0)) for i in range(2) for j in range(4)]
    check("T8", sum((D @ g @ h).square().sum() for D in moves), sum((D @ h).square().sum() for D in moves))
    # The theorem: inputs M h have the gauge whose R is orthogonal.
    M, white = eye(4) + 0.3 * torch.randn(4, 4), root_of(A, -0.5)
    R = torch.linalg.inv(white) @ M.T @ root_of(M @ A @ M.T, -0.5)
    check("T8", R.T @ R, eye(4))

    # A factor pair.
    U, V, Y = torch.randn(4, 3), torch.randn(3, 5), torch.randn(4, 5)

    def pair(u, v):
        return (Y - u @ v).square().sum()

    G_U, G_V = gradient(lambda u: pair(u, V), U), gradient(lambda v: pair(U, v), V)
    white_V, white_U = root_of(V @ V.T, 0.5), root_of(U.T @ U, -0.5)
    moved = U @ white_V
    back = (moved - theta * gradient(lambda u: pair(u, torch.linalg.solve(white_V, V)), moved)) @ torch.linalg.inv(white_V)
    check("T6", U - theta * G_U @ torch.linalg.inv(V @ V.T), back)
    moved = torch.linalg.solve(white_U, V)
    back = white_U @ (moved - theta * gradient(lambda v: pair(U @ white_U, v), moved))
    check("T6", V - theta * torch.linalg.inv(U.T @ U) @ G_V, back)

    # The best step length along u on a quadratic.
    M, b = torch.randn(n, n), torch.randn(n)
    H, w, u = M @ M.T + eye(n), torch.randn(n), torch.randn(n)
    G = H @ w - b
    best = dot(G, u) / (u @ H @ u)
    check("T7", 1.0 + dot(H @ (w - best * u) - b, u) / dot(G, G), torch.tensor(1.0))


def main():
    for part in (functions, linear_actions, networks, objectives, slots, balance, round_trips):
        part()
    for label in sorted(worst, key=lambda x: (x[0], int(x[1:]))):
        print(f"({label})  {worst[label]:.1e}" + ("  WRONG" if worst[label] > TOLERANCE else ""))
    return 1 if max(worst.values()) > TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main())
