# SPDX-License-Identifier: MIT
"""The files that the playground's module is compiled from: what a run computes. Left out are files,
threads, versions and what a page has no use for."""
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDERS = ["src/core", "src/objectives", "src/optimizers", "src/schedules", "src/search", "src/symmetries",
           "src/training", "lab/options", "web/playground", "web/playground/platform"]
LEFT_OUT = ["src/core/blas_buffer", "src/core/eigen_kernels", "src/core/memory", "src/core/pool", "src/core/version",
            "src/objectives/linear_model", "src/symmetries/linear_data", "src/training/batch_source",
            "src/training/best_learning_rate", "src/training/checkpoint", "src/training/checkpoint_fields",
            "src/training/evaluate", "src/training/image_source", "src/training/mlp_file",
            "src/training/standardized_source", "src/training/train_minibatch",
            "src/training/train_with_data", "lab/options/threads"]
OTHERS = ["src/data/batches", "src/data/synthetic", "lab/config/config_value", "lab/data/catalog",
          "lab/data/data_source", "lab/data/data_tables", "lab/report/contours", "lab/runs/function_run",
          "lab/runs/network_run_spec", "lab/text/parse_numbers", "lab/text/suggestion"]


def compiled():
    """Their names, from the root of the repository."""
    found = [file.relative_to(ROOT).with_suffix("").as_posix()
             for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.cpp"))]
    return [f"{name}.cpp" for name in [*found, *OTHERS] if name not in LEFT_OUT]


def with_headers():
    """The compiled files and what they include of the repository."""
    waiting = [ROOT / name for name in compiled()] + sorted((HERE / "platform").rglob("*.h*"))
    folders = [HERE / "platform", ROOT / "include", ROOT / "src", ROOT]
    found = set()
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        for name in re.findall(r'^#include ["<]([^">]+)[">]', file.read_text(), re.M):
            for folder in [file.parent, *folders]:
                if (folder / name).is_file():
                    waiting.append((folder / name).resolve())
                    break
    return found
