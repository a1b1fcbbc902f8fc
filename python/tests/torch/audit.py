# SPDX-License-Identifier: MIT
"""The invariance audit: every architecture, every group found, random finite elements.

Prints the page docs/python/audit.md, which names the command.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import torch
from models import GPT, MLP, VGG, DenseNet, Encoder, Llama, ResNet, add_lora
from torch import Tensor, nn

from symport.torch import Element, Group, Symmetries, find_symmetries

MODELS: dict[str, Callable[[], nn.Module]] = {
    "MLP, ReLU": lambda: MLP(5, 8, 6, 3),
    "MLP, squared ReLU": lambda: MLP(5, 8, 6, 3, activation="squared_relu"),
    "MLP, linear": lambda: MLP(5, 8, 6, 3, activation="identity"),
    "MLP, GELU": lambda: MLP(5, 8, 6, 3, activation="gelu"),
    "MLP, ReLU6": lambda: MLP(5, 8, 6, 3, activation="relu6"),
    "VGG-like": lambda: VGG(dropout=0.2),
    "ResNet, train": lambda: ResNet(),
    "ResNet, eval": lambda: warmed(ResNet()).eval(),
    "DenseNet-like": lambda: DenseNet(),
    "GPT-like, fused qkv": lambda: GPT(),
    "GPT-like, tied head": lambda: GPT(tied=True),
    "Llama-like, RoPE, GQA, SwiGLU": lambda: Llama(),
    "Llama-like, interleaved RoPE": lambda: Llama(rope="interleaved"),
    "Llama-like, norms of Q and K": lambda: Llama(qk_norm=True),
    "Llama-like, norms without gains": lambda: Llama(gain=False, tied=True),
    "nn.TransformerEncoder, train": lambda: Encoder(),
    "nn.TransformerEncoder, eval": lambda: Encoder(norm_first=True).eval(),
    "LoRA on GPT-like": lambda: trained(add_lora(GPT())),
    "LoRA on Llama-like": lambda: trained(add_lora(Llama(), only=("q_proj", "v_proj"))),
}


def warmed(model: nn.Module) -> nn.Module:
    """Running statistics away from 0 and 1."""
    for _ in range(3):
        model(3 * model.example() + 1)
    return model


def trained(model: nn.Module) -> nn.Module:
    """LoRA's B away from zero."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("lora_B"):
                parameter.normal_(0, 0.1)
    return model


def output(model: nn.Module, x: Tensor) -> Tensor:
    """With the same dropout masks and running statistics in every call."""
    model = deepcopy(model)
    torch.manual_seed(0)
    with torch.no_grad():
        return model(x)


def change(model: nn.Module, x: Tensor, groups: list[Group], element: Element) -> float:
    """Largest change of the output relative to its largest entry."""
    moved = deepcopy(model)
    Symmetries(moved, groups).act(element)
    before, after = output(model, x), output(moved, x)
    return ((after - before).abs().max() / before.abs().max()).item()


@dataclass
class Row:
    model: str
    group: Group
    count: int
    noether: float
    double: float
    single: float
    powers_of_two: bool


def audit(name: str) -> tuple[list[Row], Symmetries]:
    """Every group of the model alone; groups of one layer that differ by head only are one row."""
    torch.manual_seed(0)
    model = MODELS[name]()
    x = model.example()
    symmetries = find_symmetries(model, x)
    wide = deepcopy(model).double()
    x_wide = x.double() if x.is_floating_point() else x
    rows: dict[tuple[str, str], Row] = {}
    for number, group in enumerate(symmetries.groups):
        alone = Symmetries(model, [group])
        element = alone.random_element(seed=number, size=0.3)
        dyadic = alone.powers_of_two(alone.random_element(seed=number, size=1.5))
        row = Row(
            name,
            group,
            1,
            group.residual,
            change(wide, x_wide, [group], element),
            change(model, x, [group], element),
            change(model, x, [group], dyadic) == 0.0,
        )
        key = (group.name, group.where)
        if key in rows:
            old = rows[key]
            row = Row(
                name,
                group,
                old.count + 1,
                max(old.noether, row.noether),
                max(old.double, row.double),
                max(old.single, row.single),
                old.powers_of_two and row.powers_of_two,
            )
        rows[key] = row
    return list(rows.values()), symmetries


def main() -> None:
    print("# The invariance audit")
    print()
    print(
        "Every symmetry that `find_symmetries` reports in the test models, and what finite elements"
        " of it do to the\noutputs: the largest change relative to the largest output, for a random"
        " element (`size=0.3`) in double and in\nsingle precision, and whether an element made of"
        " powers of two changes any bit in single precision (rotations\nhave none). `proof` is the"
        " Noether residual. The same numbers are checked by `python/tests/torch/test_audit.py`.\n"
        "This page is the output of"
    )
    print()
    print("    PYTHONPATH=python python python/tests/torch/audit.py > docs/python/audit.md")
    print()
    print("| model | group | where | dimension | proof | double | single | powers of two |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | --- |")
    refusals = []
    for name in MODELS:
        rows, symmetries = audit(name)
        for row in rows:
            count = f" x{row.count}" if row.count > 1 else ""
            exact = (
                "–"
                if row.group.kind == "orthogonal"
                else "same bits"
                if row.powers_of_two
                else "no"
            )
            print(
                f"| {name} | {row.group.name}{count} | {row.group.where} |"
                f" {row.count * row.group.dimension} | {row.noether:.0e} | {row.double:.0e} |"
                f" {row.single:.0e} | {exact} |"
            )
        if not rows:
            print(f"| {name} | none | | 0 | | | | |")
        for refusal in symmetries.refused:
            entry = (name, refusal.name, refusal.where, refusal.reason)
            if "frozen" not in refusal.reason and entry not in refusals:
                refusals.append(entry)
    print()
    print("## What is refused")
    print()
    print("| model | group | where | reason |")
    print("| --- | --- | --- | --- |")
    for name, group, where, reason in refusals:
        print(f"| {name} | {group} | {where} | {reason} |")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
