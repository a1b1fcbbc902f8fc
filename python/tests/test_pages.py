# SPDX-License-Identifier: MIT
"""The programs in Python on the pages: each page's blocks, one after the other, are one program."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGES = [
    "docs/start/pytorch.md",
    "docs/python/index.md",
    "docs/python/pytorch.md",
    "docs/python/round_trips.md",
    "docs/python/symmetries.md",
]


def program(page: Path) -> str:
    """All blocks of a page, at the lines where they are: an error names the line of the page."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = not inside and line == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines)


def write_safetensors(path: Path, tensors: dict[str, np.ndarray]) -> None:
    head, data = {}, b""
    for name, tensor in tensors.items():
        end = len(data) + tensor.nbytes
        head[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [len(data), end]}
        data += tensor.tobytes()
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def at_hand(page: Path, folder: Path) -> dict[str, Any]:
    """What a page takes for granted: a model with its loop, tensors with their gauge file."""
    rng = np.random.default_rng(0)
    shapes = {"fc1.weight": (64, 20), "fc1.bias": (64,), "fc2.weight": (3, 64)}
    tensors = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    write_safetensors(folder / "model.safetensors", tensors)
    gauge = re.search(r"```json\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    if gauge:
        (folder / "gauge.json").write_text(gauge.group(1), encoding="utf-8")
    names: dict[str, Any] = {"__name__": "page", "tensors": tensors}
    if "symport.torch" in program(page):
        torch = pytest.importorskip("torch")
        torch.manual_seed(0)
        x, y = torch.randn(64, 20), torch.randint(3, (64,))
        model = torch.nn.Sequential(
            torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3)
        )
        names |= {
            "model": model,
            "optimizer": torch.optim.SGD(model.parameters(), lr=0.1),
            "loss_fn": torch.nn.functional.cross_entropy,
            "batch": x[:8],
            "loader": [(x, y)],
        }
    return names


@pytest.mark.parametrize("page", PAGES)
def test_programs_on_pages_run(
    page: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = program(root / page)
    assert text.strip(), "no program"
    monkeypatch.chdir(tmp_path)
    exec(compile(text, str(root / page), "exec"), at_hand(root / page, tmp_path))


def test_pages_with_programs_are_listed(root: Path) -> None:
    found = {
        str(page.relative_to(root))
        for page in (root / "docs").rglob("*.md")
        if re.search(r"^```python$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert found == set(PAGES)
