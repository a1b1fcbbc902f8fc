# SPDX-License-Identifier: MIT
"""A round trip of one weight in NumPy, written from the formulas of docs/mathematics/round_trips.md
and sharing nothing with symport.torch. Everything is double precision."""

from __future__ import annotations

import numpy as np


class GradientDescent:
    def __init__(self, rate=0.1, momentum=0.0):
        self.rate, self.momentum, self.M = rate, momentum, None

    def step(self, G):
        self.M = G.copy() if self.M is None else self.momentum * self.M + G
        return -self.rate * self.M


class Adam:
    def __init__(self, rate=0.1, beta1=0.9, beta2=0.99, eps=1e-8):
        self.rate, self.beta1, self.beta2, self.eps = rate, beta1, beta2, eps
        self.M, self.V, self.t = None, 0.0, 0

    def step(self, G):
        self.t += 1
        self.M = (0 if self.M is None else self.beta1 * self.M) + (1 - self.beta1) * G
        self.V = self.beta2 * self.V + (1 - self.beta2) * G**2
        m, v = self.M / (1 - self.beta1**self.t), self.V / (1 - self.beta2**self.t)
        return -self.rate * m / (np.sqrt(v) + self.eps)

    def cut(self):
        """|m| <= K sqrt(v) for the moments of any sequence of gradients."""
        b1, b2 = self.beta1, self.beta2
        K = (1 - b1) / np.sqrt((1 - b2) * (1 - b1**2 / b2))
        self.M = np.sign(self.M) * np.minimum(np.abs(self.M), K * np.sqrt(self.V))


class Muon:
    """Steps along the orthogonal factor of the momentum, exactly."""

    def __init__(self, rate=0.1, momentum=0.9):
        self.rate, self.momentum, self.M = rate, momentum, None

    def step(self, G):
        self.M = G.copy() if self.M is None else self.momentum * self.M + G
        U, _, V = np.linalg.svd(self.M, full_matrices=False)
        return -self.rate * U @ V


class RoundTrip:
    def __init__(self, rule, power, kept, damping=0.1, refresh=10, decay=0.95):
        self.rule, self.power, self.kept = rule, power, kept
        self.damping, self.refresh, self.decay = damping, refresh, decay
        self.S, self.n, self.g, self.t = 0.0, 0.0, None, 0

    def step(self, W, G, H):
        """W after the step with the gradient G and the rows H of the layer's input."""
        self.S = self.decay * self.S + H.T @ H
        self.n = self.decay * self.n + len(H)
        if self.t in (0, 1, 2, 4, 8) and self.t < self.refresh or self.t % self.refresh == 0:
            d = H.shape[1]
            A = self.S / self.n
            ridge = (self.damping + d / self.n) * np.trace(A) / d
            values, vectors = np.linalg.eigh(A + ridge * np.eye(d))
            g = vectors @ np.diag(values**-self.power) @ vectors.T
            if self.kept:
                g = g * np.sqrt(np.trace(A) / np.trace(g @ A @ g))
            if self.g is not None and self.rule.M is not None:
                self.rule.M = self.rule.M @ np.linalg.inv(self.g) @ g
                if hasattr(self.rule, "cut"):
                    self.rule.cut()
            self.g = g
        self.t += 1
        return W + self.rule.step(G @ self.g) @ self.g
