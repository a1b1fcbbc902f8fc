# SPDX-License-Identifier: MIT
"""The formulas of docs/mathematics/networks.md; run by verify_formulas.py."""
import math

import torch

from verification import check, dot, eye, grad, grad_sq_and_curvature, gradient, hessian_product

N = 3.0  # of the extended activations
ACTIVATIONS = {
    "leaky_relu": (lambda x: torch.where(x > 0, x, 0.1 * x), lambda y: torch.where(y > 0, y, y / 0.1)),
    "linear": (lambda x: x, lambda y: y),
    "asinh": (torch.asinh, torch.sinh),
}


def derivatives(sigma, z):
    """sigma', sigma'' and sigma''' at z."""
    z = z.detach().requires_grad_()
    orders, value = [], sigma(z)
    for _ in range(3):
        if value.requires_grad:
            (value,) = torch.autograd.grad(value.sum(), [z], create_graph=True, allow_unused=True, materialize_grads=True)
        else:
            value = torch.zeros_like(z)
        orders.append(value.detach())
    return orders


class Network:
    """Augmented weights W[1] ... W[p] of a random network, its batch and all states that the pages name."""

    def __init__(self, widths, samples, activation, classes, biases):
        self.p, self.n, self.ones = len(widths) - 1, samples, 1 if biases else 0
        self.widths, self.activation = widths, activation
        self.sigma, self.inverse = ACTIVATIONS[activation]
        self.X = torch.randn(widths[0], samples)
        self.Y = torch.randint(widths[-1], (samples,)) if classes else torch.randn(widths[-1], samples)
        self.classes = classes
        self.W = [None] + [torch.randn(widths[m], widths[m - 1] + self.ones) / widths[m - 1] ** 0.5
                           for m in range(1, self.p + 1)]
        self.evaluate()

    def measure(self, Z):
        if self.classes:
            return torch.nn.functional.cross_entropy(Z.T, self.Y)
        return 0.5 * ((Z - self.Y) ** 2).sum()

    def augmented(self, h):
        return torch.cat([h, torch.ones(1, h.shape[1])]) if self.ones else h

    def forward(self, W):
        h, z = [self.X], [None]
        for m in range(1, self.p + 1):
            z.append(W[m] @ self.augmented(h[m - 1]))
            h.append(self.sigma(z[m]))
        return h[:-1], z

    def loss(self, W):
        return self.measure(self.forward(W)[1][-1])

    def flat_loss(self, w):
        return self.loss(self.split(w))

    def flat(self, blocks):
        return torch.cat([b.reshape(-1) for b in blocks[1:]])

    def split(self, w):
        W, at = [None], 0
        for m in range(1, self.p + 1):
            shape = self.W[m].shape
            W.append(w[at : at + shape.numel()].reshape(shape))
            at += shape.numel()
        return W

    def plain(self, m):
        """W_m without the column of biases."""
        return self.W[m][:, : self.widths[m - 1]]

    def evaluate(self):
        p = self.p
        self.h, self.z = self.forward(self.W)
        self.a = [self.augmented(h) for h in self.h]  # h_m with the row of ones
        self.first, self.second, self.third = ([None] * p for _ in range(3))
        for m in range(1, p):
            self.first[m], self.second[m], self.third[m] = derivatives(self.sigma, self.z[m])
        self.delta, self.B = [None] * (p + 1), [None] * p
        Z = self.z[p].clone().requires_grad_()
        self.delta[p] = grad(self.measure(Z), [Z])[0]
        for m in range(p - 1, 0, -1):  # (N2)
            self.B[m] = self.plain(m + 1).T @ self.delta[m + 1]
            self.delta[m] = self.first[m] * self.B[m]
        self.K = [a.T @ a for a in self.a]
        self.Delta = [None] + [d.T @ d for d in self.delta[1:]]

    def output_hessian(self, R):
        Z = self.z[self.p].clone().requires_grad_()
        (g,) = grad(self.measure(Z), [Z], graph=True)
        return grad(dot(g, R.detach()), [Z])[0] if g.requires_grad else torch.zeros_like(R)

    def tangents(self, V):
        """(N4): r, R, s, S along the blocks V."""
        r, R, s, S = ([None] * (self.p + 1) for _ in range(4))
        for m in range(1, self.p + 1):
            below = self.plain(m)
            r[m] = V[m] @ self.a[m - 1] + (below @ R[m - 1] if m > 1 else 0)
            s[m] = 2 * V[m][:, : self.widths[m - 1]] @ R[m - 1] + below @ S[m - 1] if m > 1 else torch.zeros_like(r[m])
            if m < self.p:
                R[m] = self.first[m] * r[m]
                S[m] = self.second[m] * r[m] ** 2 + self.first[m] * s[m]
        return r, R, s, S

    def gradient_blocks(self):
        return [None] + [self.delta[m] @ self.a[m - 1].T for m in range(1, self.p + 1)]


def networks():
    for activation in ACTIVATIONS:
        for classes in (False, True):
            for biases in (False, True):
                net = Network([6, 7, 8, 6, 4], 5, activation, classes, biases)
                first_and_second_order(net)
                for moved in ([1, 2, 3], [2], [1, 3]):
                    general_linear(net, moved)
                hessian_in_factors(net)
                if activation != "asinh":
                    rescaling(net)
                if activation == "linear":
                    linear_network(net)
                if not biases:
                    paper_mode(net)
                    paper_mode(Network([6, 7, 8, 6, 4], 12, activation, classes, biases))
    extended_activations()
    low_rank()


def first_and_second_order(net):
    p, w = net.p, net.flat(net.W)
    G = net.gradient_blocks()
    check("N2", net.flat(G), gradient(net.flat_loss, w))
    J, Phi = grad_sq_and_curvature(net.flat_loss, w.clone().requires_grad_())
    check("N3", sum(dot(net.Delta[m], net.K[m - 1]) for m in range(1, p + 1)), J)
    v = torch.randn_like(w)
    V = net.split(v)
    r, R, s, S = net.tangents(V)
    Hv = hessian_product(net.flat_loss, w, v)
    check("N5", dot(r[p], net.output_hessian(r[p])) + dot(net.delta[p], s[p]), dot(v, Hv))
    A = [None] * (p + 1)
    A[p] = net.output_hessian(r[p])
    for m in range(p, 1, -1):
        inner = V[m][:, : net.widths[m - 1]].T @ net.delta[m] + net.plain(m).T @ A[m]
        A[m - 1] = net.first[m - 1] * inner + net.second[m - 1] * r[m - 1] * net.B[m - 1]
    blocks = [None]
    for m in range(1, p + 1):
        C = torch.zeros_like(net.a[m - 1])
        if m > 1:
            C[: net.widths[m - 1]] = R[m - 1]
        blocks.append(A[m] @ net.a[m - 1].T + net.delta[m] @ C.T)
    check("N6", net.flat(blocks), Hv)


def act(net, g, W, ell, h, z):
    """(G2) with g[m] for the moved hidden layers m; returns W', l', h', z'."""
    new_W, new_ell, new_h, new_z = [None], {}, list(h), list(z)
    for m in range(1, net.p + 1):
        weights = W[m]
        if m in g:
            new_h[m] = g[m] @ h[m]
            new_z[m] = net.inverse(new_h[m])
            weights = weights + (new_z[m] - z[m]) @ ell[m]
        undo = eye(net.widths[m - 1] + net.ones)
        if m - 1 in g:
            undo = torch.block_diag(torch.linalg.inv(g[m - 1]), eye(net.ones)) if net.ones else torch.linalg.inv(g[m - 1])
        new_W.append(weights @ undo)
        if m in ell:
            new_ell[m] = ell[m] @ undo
    return new_W, new_ell, new_h, new_z


def general_linear(net, moved):
    """`ell[m]` is the left inverse of the states below hidden layer m."""
    p, widths = net.p, net.widths
    ell = {m: torch.linalg.pinv(net.a[m - 1]) for m in moved}
    start = (net.W, ell, net.h, net.z)

    # (G2) keeps the outputs, and is a group action (G3).
    a, b = ({m: eye(widths[m]) + 0.2 * torch.randn(widths[m], widths[m]) for m in moved} for _ in range(2))
    once = act(net, b, *start)
    check("G2", net.forward(once[0])[1][p], net.z[p])
    twice = act(net, a, *once)
    at_once = act(net, {m: a[m] @ b[m] for m in moved}, *start)
    check("G3", twice[0][1:] + list(twice[1].values()), at_once[0][1:] + list(at_once[1].values()))

    # Derivatives in T at g = I + T, T = 0.
    T = {m: torch.zeros(widths[m], widths[m]).requires_grad_() for m in moved}
    W = act(net, {m: eye(widths[m]) + T[m] for m in moved}, *start)[0]
    w = net.flat([None] + [x.requires_grad_() for x in W[1:]])
    J, Phi = grad_sq_and_curvature(net.flat_loss, w)
    dJ = dict(zip(moved, grad(J, list(T.values()), graph=True)))
    dPhi = dict(zip(moved, grad(Phi, list(T.values()))))

    r, R, s, S = net.tangents(net.gradient_blocks())
    for m in range(1, p + 1):
        expected = net.delta[m] @ net.K[m - 1] + (net.plain(m) @ R[m - 1] if m > 1 else 0)
        check("G5", expected, r[m])
        if m > 1:
            M = net.h[m - 1].T @ R[m - 1]
            check("C1", 2 * net.delta[m] @ M + net.plain(m) @ S[m - 1], s[m])
    check("C1", dot(r[p], net.output_hessian(r[p])) + dot(net.delta[p], s[p]), Phi)

    def below(m, x):
        return ell[m][:, : widths[m - 1]] @ x[m - 1] if m > 1 else torch.zeros(net.n, net.n)

    for m in moved:
        inner = net.delta[m] @ below(m, R).T + net.second[m] * r[m] * net.B[m]
        formula = (net.h[m] @ net.Delta[m + 1] + inner / net.first[m]) @ net.h[m].T - net.B[m] @ R[m].T
        check("G6", formula, 0.5 * dJ[m])

    # (C2) to (C6)
    r_bar, s_bar, d_bar, h_bar, z_bar, B_bar = ([None] * (p + 1) for _ in range(6))
    r_bar[p], s_bar[p] = 2 * net.output_hessian(r[p]), net.delta[p]
    for m in range(p, 0, -1):
        d_bar[m] = r_bar[m] @ net.K[m - 1]
        if m == 1:
            break
        q = m - 1
        d_bar[m] = d_bar[m] + 2 * s_bar[m] @ (net.h[q].T @ R[q]).T
        Nm, F = 2 * net.delta[m].T @ s_bar[m], net.delta[m].T @ r_bar[m]
        h_bar[q] = R[q] @ Nm.T + net.h[q] @ (F + F.T)
        S_bar, R_bar = net.plain(m).T @ s_bar[m], net.plain(m).T @ r_bar[m] + net.h[q] @ Nm
        s_bar[q] = net.first[q] * S_bar
        r_bar[q] = 2 * net.second[q] * r[q] * S_bar + net.first[q] * R_bar
        z_bar[q] = (net.third[q] * r[q] ** 2 + net.second[q] * s[q]) * S_bar + net.second[q] * r[q] * R_bar
    check("C9", s_bar[1:], net.delta[1:])
    for m in range(1, p):
        B_bar[m] = net.first[m] * d_bar[m]
        z_bar[m] = z_bar[m] + net.second[m] * net.B[m] * d_bar[m]
        d_bar[m + 1] = d_bar[m + 1] + net.plain(m + 1) @ B_bar[m]
    for m in moved:
        inner = (z_bar[m] + s_bar[m] @ below(m, S).T + r_bar[m] @ below(m, R).T + net.delta[m] @ below(m, B_bar).T)
        up = net.plain(m + 1).T
        formula = ((h_bar[m] + inner / net.first[m]) @ net.h[m].T - (up @ s_bar[m + 1]) @ S[m].T
                   - (up @ r_bar[m + 1]) @ R[m].T - net.B[m] @ B_bar[m].T)
        check("C7", formula, dPhi[m])
        # (C8), with the weights a/2 of J and b of Phi
        a_, b_ = 0.7, -0.3
        ell_R, ell_S, ell_B = below(m, R), below(m, S), below(m, B_bar)
        A = (a_ * net.h[m] @ net.Delta[m + 1] + b_ * h_bar[m]
             + (net.delta[m] @ (a_ * ell_R + b_ * ell_B).T + b_ * r_bar[m] @ ell_R.T + b_ * s_bar[m] @ ell_S.T
                + a_ * net.second[m] * r[m] * net.B[m] + b_ * z_bar[m]) / net.first[m])
        C = torch.cat([a_ * net.delta[m + 1] + b_ * r_bar[m + 1], b_ * s_bar[m + 1], b_ * net.delta[m + 1]], 1)
        right = torch.cat([R[m], S[m], B_bar[m]], 1)
        formula = ((h_bar[m] + (z_bar[m] + net.delta[m] @ (ell_S + ell_B).T + r_bar[m] @ ell_R.T) / net.first[m])
                   @ net.h[m].T - (up @ r_bar[m + 1]) @ R[m].T - net.B[m] @ (S[m] + B_bar[m]).T)
        check("C9", formula, dPhi[m])
        check("C8", A @ net.h[m].T - up @ C @ right.T, 0.5 * a_ * dJ[m] + b_ * dPhi[m])


def hessian_in_factors(net):
    p, n = net.p, net.n
    H = torch.autograd.functional.hessian(net.flat_loss, net.flat(net.W))
    A, C = ([None] + [torch.randn(net.widths[m - k], n) for m in range(1, p + 1)] for k in (0, 1))
    C[1] = torch.zeros(net.widths[0], n)

    def block(A, C, m):
        C = torch.cat([C[m], torch.zeros(net.ones, n)])
        return A[m] @ net.a[m - 1].T + net.delta[m] @ C.T

    V = [None] + [block(A, C, m) for m in range(1, p + 1)]
    P = [None] + [A[m] @ net.K[m - 1] + net.delta[m] @ (C[m].T @ net.h[m - 1]) for m in range(1, p + 1)]
    Q = [None] + [net.h[m - 1] @ (A[m].T @ net.delta[m]) + C[m] @ net.Delta[m] for m in range(1, p + 1)]
    check("H2", P[1:], [V[m] @ net.a[m - 1] for m in range(1, p + 1)])
    check("H2", Q[2:], [V[m][:, : net.widths[m - 1]].T @ net.delta[m] for m in range(2, p + 1)])
    check("H3", sum(dot(A[m], P[m]) + (dot(C[m], Q[m]) if m > 1 else 0) for m in range(1, p + 1)),
          sum(dot(x, x) for x in V[1:]))
    r, new_A, new_C = [None] * (p + 1), [None] * (p + 1), [None, torch.zeros_like(C[1])] + [None] * (p - 1)
    for m in range(1, p + 1):
        r[m] = P[m] + (net.plain(m) @ new_C[m] if m > 1 else 0)
        if m < p:
            new_C[m + 1] = net.first[m] * r[m]
    new_A[p] = net.output_hessian(r[p])
    for m in range(p, 1, -1):
        new_A[m - 1] = (net.first[m - 1] * (Q[m] + net.plain(m).T @ new_A[m])
                        + net.second[m - 1] * r[m - 1] * net.B[m - 1])
    product = [None] + [block(new_A, new_C, m) for m in range(1, p + 1)]
    check("H4", net.flat(product), H @ net.flat(V))
    # (H5)
    eta, G = 0.05, net.gradient_blocks()
    h, z = net.a[0], None
    for m in range(1, p + 1):
        z = net.W[m] @ h - eta * net.delta[m] @ (net.a[m - 1].T @ h)
        h = net.augmented(net.sigma(z))
    check("H5", net.measure(z), net.loss([None] + [net.W[m] - eta * G[m] for m in range(1, p + 1)]))


def rescaling(net):
    p, widths = net.p, net.widths
    logs = [torch.randn(widths[m]).mul(0.4).requires_grad_() for m in range(1, p)]

    def scaled(logs, blocks):
        """(R1)"""
        s = [torch.ones(widths[0])] + [x.exp() for x in logs] + [torch.ones(widths[p])]
        out = [None]
        for m in range(1, p + 1):
            columns = torch.cat([1 / s[m - 1], torch.ones(net.ones)])
            out.append(s[m][:, None] * blocks[m] * columns)
        return out

    check("R1", net.forward(scaled(logs, net.W))[1][p], net.z[p])
    w = net.flat([None] + [x.requires_grad_() for x in scaled(logs, net.W)[1:]])
    J, Phi = grad_sq_and_curvature(net.flat_loss, w)
    (there,) = grad(net.flat_loss(w), [w], graph=True)
    G = net.gradient_blocks()
    negative = [-x for x in logs]
    check("R2", net.flat(scaled(negative, G)), there)
    V = scaled([2 * x for x in negative], G)
    r, R, s, S = net.tangents(V)
    check("R3", dot(r[p], net.output_hessian(r[p])) + dot(net.delta[p], s[p]), Phi)

    squares = [torch.ones(widths[0])] + [(2 * x).exp().detach() for x in logs] + [torch.ones(widths[p])]
    below = [torch.cat([d, torch.ones(net.ones)]) for d in squares]
    rows, columns = [None], [None]
    for m in range(1, p + 1):
        K = net.a[m - 1].T @ (below[m - 1][:, None] * net.a[m - 1])
        rows.append(torch.diag(net.delta[m] @ K @ net.delta[m].T))
    for m in range(1, p):
        gram = net.delta[m + 1].T @ (net.delta[m + 1] / squares[m + 1][:, None])
        columns.append(torch.diag(net.h[m] @ gram @ net.h[m].T))
    check("R4", sum((rows[m] / squares[m]).sum() for m in range(1, p + 1)), J)
    dJ = grad(J, logs, graph=True)
    check("R5", [2 * (columns[m] * squares[m] - rows[m] / squares[m]) for m in range(1, p)], dJ)
    HV = net.split(hessian_product(net.flat_loss, net.flat(net.W), net.flat(V)))
    both = [None] + [V[m] * HV[m] for m in range(1, p + 1)]
    check("R6", [4 * (both[m + 1][:, : widths[m]].sum(0) - both[m].sum(1)) for m in range(1, p)], grad(Phi, logs))
    # (R7): what the scales of layer 1 do to r_2 and s_2
    Qm = net.first[1] * (net.delta[1] @ net.K[0])
    check("R7", Qm / squares[1][:, None], R[1])
    check("R7", net.h[1].T @ Qm, net.h[1].T @ (squares[1][:, None] * R[1]))
    # (R8): one step at scales c of whole layers, brought back
    c = torch.cat([torch.ones(1), torch.rand(p - 1) + 0.5, torch.ones(1)])
    logs_c = [c[m].log().expand(widths[m]) for m in range(1, p)]
    moved = scaled([-x for x in logs_c], scaled([-x for x in logs_c], G))
    for m in range(1, p + 1):
        check("R8", moved[m][:, : widths[m - 1]], (c[m - 1] / c[m]) ** 2 * G[m][:, : widths[m - 1]])
        if net.ones:
            check("R8", moved[m][:, -1], G[m][:, -1] / c[m] ** 2)
    # (H6)
    c = [None] + [x.exp().detach() for x in logs]
    moved = Network.__new__(Network)
    moved.__dict__.update(net.__dict__)
    moved.W = [None if x is None else x.detach() for x in scaled(logs, net.W)]
    moved.evaluate()
    for m in range(1, p):
        check("H6", [c[m][:, None] * net.h[m], c[m][:, None] * net.z[m], net.delta[m] / c[m][:, None]],
              [moved.h[m], moved.z[m], moved.delta[m]])


def linear_network(net):
    p, widths = net.p, net.widths
    T = [None] + [torch.zeros(widths[m], widths[m]).requires_grad_() for m in range(1, p)]
    g = [None] + [torch.matrix_exp(T[m]) @ (eye(widths[m]) + 0.2 * torch.randn(widths[m], widths[m])) for m in range(1, p)]

    def transformed(left, right, blocks):
        out = [None]
        for m in range(1, p + 1):
            x = blocks[m]
            if m > 1:
                x = torch.cat([x[:, : widths[m - 1]] @ right[m - 1], x[:, widths[m - 1] :]], 1)
            out.append(left[m] @ x if m < p else x)
        return out

    undo = [None] + [torch.linalg.inv(x) for x in g[1:]]
    moved = transformed(g, undo, net.W)
    check("L1", net.forward(moved)[1][p], net.z[p])
    w = net.flat([None] + [x.requires_grad_() for x in moved[1:]])
    J, Phi = grad_sq_and_curvature(net.flat_loss, w)
    G = net.split(gradient(net.flat_loss, w))
    start = net.gradient_blocks()
    check("L2", net.flat(transformed([None] + [x.T for x in undo[1:]], [None] + [x.T for x in g[1:]], start)), net.flat(G))
    Q = net.split(hessian_product(net.flat_loss, w, net.flat(G)))

    def above(x, m):
        return x[m + 1][:, : widths[m]]

    check("L3", [2 * (above(G, m).T @ above(G, m) - G[m] @ G[m].T) for m in range(1, p)], grad(J, T[1:], graph=True))
    half = [above(G, m).T @ above(Q, m) - G[m] @ Q[m].T for m in range(1, p)]
    check("L4", [2 * (x + x.T) for x in half], grad(Phi, T[1:]))


def paper_mode(net):
    """(P2) in (P1), pulled back from the top: the derivative of <c, W'> in T at T = 0."""
    p, widths = net.p, net.widths
    c = [None] + [torch.randn_like(x) for x in net.W[1:]]

    def eq8(T):
        A, h, new = net.W[1], net.X, [None]
        states = []
        for q in range(1, p):
            y = A @ h
            k = net.sigma(y)
            above = k + T[q] @ k
            z, P = net.inverse(above), torch.linalg.pinv(h)
            new.append(z @ P)
            states.append((A, y, k, h, z, P))
            A, h = net.W[q + 1] - net.W[q + 1] @ T[q], above
        return new + [A], states

    T = [None] + [torch.zeros(widths[q], widths[q]).requires_grad_() for q in range(1, p)]
    expected = grad(sum(dot(a, b) for a, b in zip(c[1:], eq8(T)[0][1:])), T[1:])
    states = eq8([None] + [t.detach() for t in T[1:]])[1]
    E, A_bar, h_bar = [None] * p, c[p], torch.zeros(widths[p - 1], net.n)
    for q in range(p - 1, 0, -1):
        A, y, k, h, z, P = states[q - 1]
        h_bar = h_bar + (c[q] @ P.T) / derivatives(net.sigma, z)[0]
        E[q] = h_bar @ k.T - net.W[q + 1].T @ A_bar
        y_bar = derivatives(net.sigma, y)[0] * h_bar
        A_bar = y_bar @ h.T
        Pt = c[q].T @ z  # the transpose of P_bar
        h_bar = (A.T @ y_bar - P.T @ Pt.T @ P.T + (eye(h.shape[0]) - h @ P) @ Pt @ P @ P.T
                 + P.T @ P @ Pt @ (eye(net.n) - P @ h))
    check("P2", E[1:], expected)


def extended_activations():
    x = torch.linspace(-9, 9, 41).requires_grad_()
    for bounded, low, high in ((torch.tanh, -1.0, 1.0), (torch.sigmoid, 0.0, 1.0)):
        y = bounded(x) + torch.exp(x - N) - torch.exp(-x - N)
        check("N7", y, bounded(x) + 2 * math.exp(-N) * torch.sinh(x))
        left, right = (torch.asinh(0.5 * math.exp(N) * (y - bound)) for bound in (high, low))
        outside = ((left > x) | (x > right)).sum().item()
        check("N8", 1.0 + outside, torch.tensor(1.0))


def low_rank():
    d, r = 9, 3
    elements = []
    for _ in range(3):
        U, V, t = torch.randn(d, r), torch.randn(d, r), 0.3
        A = t * U @ torch.linalg.inv(eye(r) + t * V.T @ U)
        g = eye(d) + t * U @ V.T
        check("G7", eye(d) - A @ V.T, torch.linalg.inv(g))
        elements.append((g, A, V))
    G, P, Q = eye(d), torch.zeros(d, 0), torch.zeros(d, 0)
    for g, A, V in elements:
        G = g @ G
        P, Q = torch.cat([P, A - P @ (Q.T @ A)], 1), torch.cat([Q, V], 1)
        check("G8", eye(d) - P @ Q.T, torch.linalg.inv(G))
    W, X, Y, ell, shift = torch.randn(4, d), torch.randn(d, 2), torch.randn(4, 2), torch.randn(5, d), torch.randn(4, 5)
    moved = (W + shift @ ell) @ torch.linalg.inv(G)
    x = X - P @ (Q.T @ X)
    check("G9", W @ x + shift @ (ell @ x), moved @ X)
    y = W.T @ Y + ell.T @ (shift.T @ Y)
    check("G9", y - Q @ (P.T @ y), moved.T @ Y)
    U, V = torch.randn(d, 4), torch.randn(d, 4)
    basis = torch.linalg.qr(V @ (U.T @ (U @ torch.randn(4, 2))))[0]
    full, cut = U @ V.T, U @ (V.T @ basis) @ basis.T
    check("G10", dot(full, cut), dot(cut, cut))
    h = torch.randn(8, 5)
    lengths = h.norm(dim=0)
    unit = h / lengths
    ell = torch.linalg.inv(unit.T @ unit) @ unit.T + 1e-6 * torch.randn(5, 8)
    ell = (2 * eye(5) - ell @ unit) @ ell
    check("G11", (ell / lengths[:, None]) @ h, eye(5))
