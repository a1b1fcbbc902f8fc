# SPDX-License-Identifier: MIT
"""What a proof was made for: the modules of a model, the mode (train or eval) of each, and the way
the values took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd

if TYPE_CHECKING:
    from .symmetries import Group

#: Settings that leave the symmetries alone, or that wrappers set.
_IGNORED = ("training", "momentum", "inplace", "forward")
_BY_MODE = (
    _NormBase,
    _DropoutNd,
    nn.RReLU,
    nn.RNNBase,
    nn.MultiheadAttention,
    nn.TransformerEncoderLayer,
    nn.TransformerDecoderLayer,
)


@dataclass(frozen=True)
class ProvedFor:
    """By the path of each module: what it is, and whether it was in train mode.

    departures: modules in which Python saw values of tensors; what it did with them is known for
    the recorded pass only.
    operations: what each module computed, itself and not by its children.
    carried: how the proof came from a smaller model; empty for one that was made on this model.
    """

    structure: Mapping[str, str]
    modes: Mapping[str, bool]
    departures: tuple[str, ...] = ()
    operations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    carried: str = ""

    @classmethod
    def of(
        cls,
        model: nn.Module,
        departures: Sequence[str] = (),
        operations: Mapping[str, tuple[str, ...]] | None = None,
    ) -> ProvedFor:
        modes = {path: module.training for path, module in model.named_modules()}
        return cls(structure_of(model), modes, tuple(departures), operations or {})

    def proof(self, residual: float) -> str:
        """In a few words, with the worst residual of the groups in question."""
        if self.carried:
            return f"{self.carried}; worst residual there {residual:.1e}"
        return f"proved, worst residual {residual:.1e}"

    @property
    def data(self) -> str:
        """The data that the proof holds for."""
        if not self.departures:
            return "all data"
        names = ", ".join(name or "the model" for name in self.departures[:3])
        more = ", ..." if len(self.departures) > 3 else ""
        return f"data that take the recorded branch, as values leave the graph in {names}{more}"

    def change(self, model: nn.Module) -> str:
        """What is no longer as it was; empty if nothing."""
        now = structure_of(model)
        for path in [*self.structure, *now]:
            before, after = self.structure.get(path), now.get(path)
            if before == after:
                continue
            name = path or "the model"
            if after is None:
                return f"{name}, {before}, is gone"
            return f"{name} is new: {after}" if before is None else f"{name}: {before} -> {after}"
        return ""


def structure_of(model: nn.Module) -> dict[str, str]:
    """Of every module its type, the settings of its function, and the shapes of its parameters."""
    first: dict[int, str] = {}
    structure = {}
    for path, module in model.named_modules():
        parts = _settings(module)
        for name, parameter in module._parameters.items():
            if parameter is not None:
                own = f"{path}.{name}"
                tied = first.setdefault(id(parameter), own)
                shape = "x".join(str(n) for n in parameter.shape)
                parts.append(f"{name}={shape}" + (f" tied to {tied}" if tied != own else ""))
        structure[path] = f"{type(module).__name__}({', '.join(parts)})"
    return structure


def _settings(module: nn.Module) -> list[str]:
    """Numbers and texts of torch's modules and of one's own without children, and functions; a
    number in a module with children is as often a counter."""
    torchs = type(module).__module__.startswith("torch.nn.")
    leaf = not module._modules
    found = []
    for key, value in vars(module).items():
        if key.startswith("_") or key in _IGNORED:
            continue
        if isinstance(module, _DropoutNd) and key == "p":
            found.append("p>0" if value > 0 else "p=0")
        elif (torchs and _is_plain(value)) or (leaf and isinstance(value, (float, str))):
            found.append(f"{key}={value}")
        elif callable(value) and hasattr(value, "__name__"):
            found.append(f"{key}={value.__name__}")
    return found


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(_is_plain(v) for v in value)
    return value is None or isinstance(value, (bool, int, float, str))


def depends_on_mode(module: nn.Module) -> bool:
    """Whether train() and eval() may be different functions; unknown modules may."""
    return isinstance(module, _BY_MODE) or not type(module).__module__.startswith(
        "torch.nn.modules."
    )


def moves_statistics(group: Group, model: nn.Module) -> list[str]:
    """The norms whose running statistics the group moves: in train mode they are not used."""
    paths = [slot.tensor.rpartition(".") for slot in group.slots]
    return [
        path
        for path, _, name in paths
        if name.startswith("running_") and isinstance(model.get_submodule(path), _NormBase)
    ]


def wrong_mode(group: Group, model: nn.Module, modes: Mapping[str, bool] | None) -> str:
    """Why the group is no symmetry in the present mode; empty if it is one.

    modes: those of the proof; None: all modules as `group.mode` says.
    """
    for path in moves_statistics(group, model):
        if model.get_submodule(path).training:
            return f"holds in eval mode only, and {path or 'the model'} is in train mode"
    if group.mode:
        for path, module in model.named_modules():
            proved = (modes or {}).get(path, group.mode == "train")
            if module.training != proved and depends_on_mode(module):
                now = "train" if module.training else "eval"
                return (
                    f"holds in {group.mode} mode only, and {path or 'the model'} is in {now} mode"
                )
    return ""
