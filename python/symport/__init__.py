# SPDX-License-Identifier: MIT
"""Symmetry teleportation on NumPy arrays.

An optimizer that now and then jumps along a symmetry of the loss, to a point with the same loss
from which the next steps go down faster. For PyTorch models: ``import symport.torch``, which this
module never imports.
"""

__all__: list[str] = []
