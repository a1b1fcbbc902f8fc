# SPDX-License-Identifier: MIT
"""Losses of multi-layer perceptrons and their derivatives, in long double (64 bits of mantissa).

Written from the definitions in docs/networks.md and docs/mathematics, for judging what the program says: it shares no
code with the library. Columns are samples. A network is a list of (W, b), b None without biases.
"""
import math

import numpy as np

Real = np.longdouble


def _tanh_slope(x):
    e = np.exp(-2 * np.abs(x))
    return 4 * e / (1 + e) ** 2


def _sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x > 0, Real(1), e) / (1 + e)


def _sigmoid_slope(x):
    e = np.exp(-np.abs(x))
    return e / (1 + e) ** 2


# The complement of the error function is known to double precision only.
_normal_share = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2, otypes=[np.float64])


def _normal_density(x):
    return np.exp(-x * x / 2) / np.sqrt(2 * Real(np.pi))


class Activation:
    """value, slope and second derivative of an activation by the name that the program uses."""

    def __init__(self, name):
        kind, _, number = name.partition(":")
        self.kind = kind
        # The program reads a double.
        self.parameter = Real(float(number)) if number else {"leaky_relu": Real(0.1)}.get(kind, Real(10))

    def _wings(self, x):
        n = self.parameter
        # e^(x-N) - e^(-x-N), by the series of sinh where the difference would lose digits
        return 2 * np.exp(-n) * np.sinh(x), np.exp(x - n) + np.exp(-x - n)

    def __call__(self, x):
        kind = self.kind
        one, zero = np.ones_like(x), np.zeros_like(x)
        if kind == "linear":
            return x, one, zero
        if kind in ("leaky_relu", "relu"):
            slope = np.where(x > 0, Real(1), self.parameter if kind == "leaky_relu" else Real(0))
            return slope * x, slope, zero
        if kind == "asinh":
            c = 1 / np.sqrt(1 + x * x)
            return np.arcsinh(x), c, -x * c ** 3
        if kind == "gelu":
            p, q = _normal_share(x.astype(np.float64)).astype(Real), _normal_density(x)
            return x * p, p + x * q, q * (2 - x * x)
        if kind.startswith("tanh"):
            value, slope = np.tanh(x), _tanh_slope(x)
            second = -2 * value * slope
        else:
            value, slope = _sigmoid(x), _sigmoid_slope(x)
            second = -slope * np.tanh(x / 2)
        if kind.endswith("_extended"):
            wing, wing_slope = self._wings(x)
            return value + wing, slope + wing_slope, second + wing
        return value, slope, second


class Loss:
    def __init__(self, name, outputs):
        self.kind, _, self.reduction = name.partition(":")
        self.outputs = outputs

    def _factor(self, samples):
        factor = Real(2) / self.outputs if self.kind == "mean_squares" else Real(1)
        return factor / samples if self.reduction == "mean" else factor

    def of_samples(self, Z, targets):
        """The share of every sample, before the factor of the reduction."""
        if self.kind != "cross_entropy":
            return 0.5 * np.sum((Z - targets) ** 2, axis=0)
        columns = np.arange(Z.shape[1])
        others = Z - Z[targets, columns]  # differences to the sample's own class
        others[targets, columns] = -np.inf
        top = np.maximum(others.max(axis=0), 0) if Z.shape[0] > 1 else np.zeros(Z.shape[1], Real)
        rest = np.sum(np.exp(others - top), axis=0)
        # log(1 + sum e^d) = top + log(e^-top + sum e^(d - top)), without losing a small loss
        return np.where(top > 0, top + np.log(rest + np.exp(-top)), np.log1p(rest))

    def value(self, Z, targets):
        return self._factor(Z.shape[1]) * np.sum(self.of_samples(Z, targets))

    def _shares(self, Z):
        e = np.exp(Z - Z.max(axis=0))
        return e / e.sum(axis=0)

    def delta(self, Z, targets):
        factor = self._factor(Z.shape[1])
        if self.kind != "cross_entropy":
            return factor * (Z - targets)
        columns = np.arange(Z.shape[1])
        shares = self._shares(Z)
        own = shares.copy()
        own[targets, columns] = 0
        shares[targets, columns] = -own.sum(axis=0)
        return factor * shares

    def bend(self, Z, R):
        """<R, L'' R>"""
        factor = self._factor(Z.shape[1])
        if self.kind != "cross_entropy":
            return factor * np.sum(R * R)
        p = self._shares(Z)
        centred = R - R[Z.argmax(axis=0), np.arange(Z.shape[1])]
        mean = np.sum(p * centred, axis=0)
        return factor * np.sum(p * (centred - mean) ** 2)


class Problem:
    """The loss of a network on samples, as a function of its parameters."""

    def __init__(self, activation, loss, X, targets, outputs):
        self.activation = Activation(activation)
        self.loss = Loss(loss, outputs)
        self.X = X.astype(Real)
        self.targets = targets if targets.dtype.kind in "iu" else targets.astype(Real)

    def part(self, samples):
        other = Problem.__new__(Problem)
        other.activation, other.loss = self.activation, self.loss
        other.X, other.targets = self.X[:, samples], self.targets[..., samples]
        return other

    def _forward(self, layers):
        """Inputs and slopes of every layer; the outputs."""
        h, states = self.X, []
        for m, (W, b) in enumerate(layers):
            z = W @ h if b is None else W @ h + b[:, None]
            if m + 1 == len(layers):
                states.append((h, z, None, None))
                return states, z
            value, slope, second = self.activation(z)
            states.append((h, z, slope, second))
            h = value

    def hidden(self, layers, X):
        """The states of the hidden layers for inputs X."""
        h, states = X, []
        for W, b in layers[:-1]:
            h = self.activation(W @ h if b is None else W @ h + b[:, None])[0]
            states.append(h)
        return states

    def value(self, layers):
        return self.loss.value(self._forward(layers)[1], self.targets)

    def sample_losses(self, layers):
        return self.loss.of_samples(self._forward(layers)[1], self.targets)

    def gradient(self, layers):
        states, Z = self._forward(layers)
        delta = self.loss.delta(Z, self.targets)
        gradient = []
        for m in range(len(layers) - 1, -1, -1):
            W, b = layers[m]
            gradient.append((delta @ states[m][0].T, None if b is None else delta.sum(axis=1)))
            if m > 0:
                delta = states[m - 1][2] * (W.T @ delta)
        return gradient[::-1]

    def curvature(self, layers, direction):
        """d'Hd: the second derivative of t -> L(w + t d) at 0."""
        states, Z = self._forward(layers)
        first = second = None
        for m, ((W, _), (D, e)) in enumerate(zip(layers, direction)):
            h, _, slope, bend = states[m]
            z1 = D @ h if e is None else D @ h + e[:, None]
            z2 = np.zeros_like(z1)
            if m > 0:
                z2 = 2 * (D @ first) + W @ second
                z1 = z1 + W @ first
            if m + 1 < len(layers):
                first, second = slope * z1, bend * z1 * z1 + slope * z2
        return self.loss.bend(Z, z1) + np.sum(self.loss.delta(Z, self.targets) * z2)


def arrays(layers):
    return [a for layer in layers for a in layer if a is not None]


def dot(a, b):
    return sum(np.sum(x * y) for x, y in zip(arrays(a), arrays(b)))


def mapped(function, *networks):
    return [tuple(None if parts[0] is None else function(*parts) for parts in zip(*layers)) for layers in zip(*networks)]
