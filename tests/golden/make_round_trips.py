#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes steps in a borrowed gauge and writes where they lead to round_trips.json.

    python make_round_trips.py --check    compare with the file; exit 1 where a number differs
    python make_round_trips.py --write    rewrite the file

The steps are those of python/tests/torch/round_trip/round_trip_reference.py, written in NumPy from
the formulas of docs/mathematics/round_trips.md: none of the library's code is involved. The tests of
PyTorch's RoundTrip follow the same reference. README.md says what each number is.
"""
import argparse
import json
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "python/tests/torch/round_trip"))
import round_trip_reference as reference  # noqa: E402

STEPS, OUTPUTS, INPUTS, ROWS, REFRESH = 5, 4, 6, 9, 3
RULES = {
    "gd": reference.GradientDescent,
    "momentum": lambda: reference.GradientDescent(momentum=0.9),
    "adam": reference.Adam,
    "muon": reference.Muon,
}


def make():
    random = np.random.default_rng(4)
    mix = random.normal(size=(INPUTS, INPUTS))  # far from white
    W = random.normal(size=(OUTPUTS, INPUTS))
    steps = [(random.normal(size=W.shape), random.normal(size=(ROWS, INPUTS)) @ mix)
             for _ in range(STEPS)]
    runs = []
    for rule, rule_of in RULES.items():
        for length in ("kept", "metric"):
            for power in (0.25, 0.5):
                trip = reference.RoundTrip(rule_of(), power, length == "kept", refresh=REFRESH)
                points = [W]
                for G, H in steps:
                    points.append(trip.step(points[-1], G, H))
                runs.append({"rule": rule, "length": length, "power": power,
                             "points": [p.tolist() for p in points[1:]]})
    return {"rate": 0.1, "refresh": REFRESH, "W": W.tolist(),
            "steps": [{"G": G.tolist(), "H": H.T.tolist()} for G, H in steps], "runs": runs}


def main():
    parser = argparse.ArgumentParser()
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--check", action="store_true")
    choice.add_argument("--write", action="store_true")
    made, file = make(), FOLDER / "round_trips.json"
    if parser.parse_args().write:
        file.write_text(json.dumps(made) + "\n")
        return
    there, worst = json.loads(file.read_text()), 0.0
    for a, b in zip(made["runs"], there["runs"], strict=True):
        A, B = np.array(a["points"]), np.array(b["points"])
        worst = max(worst, np.abs(A - B).max() / np.abs(B).max())
    print(f"round_trips.json: largest relative deviation {worst:.2g}")
    sys.exit(worst > 1e-10)


if __name__ == "__main__":
    main()
