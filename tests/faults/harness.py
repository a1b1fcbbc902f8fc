# SPDX-License-Identifier: MIT
"""What the faults have in common: a run to disturb, ways to start the program, and the table."""
import contextlib
import csv
import json
import os
import random
import shutil
import struct
import subprocess
import tempfile
import time
import zipfile

TIMEOUT = 120  # seconds: nothing here takes long, so a program that is still there hangs


class Lost(Exception):
    """The program lost something; the message says what."""


class Skip(Exception):
    """This machine cannot make the fault."""


def check(condition, what):
    if not condition:
        raise Lost(what)


def npy(shape, kind, values):
    """An array in NumPy's format; kind is struct's d or q."""
    descr = {"d": "<f8", "q": "<i8"}[kind]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}{kind}", *values))


def write_data(path, samples=400, features=12, classes=4):
    """Noisy clusters, as an .npz file."""
    draw = random.Random(1)
    centres = [[draw.gauss(0, 1) for _ in range(features)] for _ in range(classes)]
    X, y = [], []
    for _ in range(samples):
        y.append(draw.randrange(classes))
        X += [centre + draw.gauss(0, 1) for centre in centres[y[-1]]]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", npy((samples, features), "d", X))
        archive.writestr("y.npy", npy((samples,), "q", y))


def timeless(path):
    """The rows of a trace without the columns that hold times, which are known by name."""
    with open(path, newline="", encoding="utf-8") as file:
        return [{name: cell for name, cell in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def mount(*words):
    done = subprocess.run(["mount", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skip("mount is not permitted: " + done.stderr.strip())


class Bench:
    """A place to work in, and a training run whose unbroken result is known."""

    def __init__(self, program, trials, long):
        self.program, self.trials, self.long = os.path.abspath(program), trials, long
        self.draw = random.Random(20220524)
        self.place = tempfile.mkdtemp(prefix="symport-faults-")
        self.data = os.path.join(self.place, "data.npz")
        write_data(self.data)
        self.train = ["train", "--data", self.data, "--layers", "12,16,16,4", "--batch", "10", "--epochs", "40",
                      "--lr", "0.01", "--optimizer", "adam", "--validation", "80", "--seed", "3", "--teleport",
                      "every:3", "--symmetry", "rescale", "--checkpoint-every", "20"]
        self.whole = self.path("whole")
        began = time.monotonic()
        self.expect(0, self.run(self.train + ["--quiet", "--out", self.whole]))
        self.seconds = time.monotonic() - began

    def close(self):
        shutil.rmtree(self.place, ignore_errors=True)

    def path(self, name=None):
        """A new path in the place."""
        return os.path.join(self.place, name) if name else tempfile.mktemp(dir=self.place)

    def start(self, words, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([self.program, *words], **how)

    def end(self, process):
        try:
            process.out, process.err = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired as late:
            process.kill()
            process.communicate()
            raise Lost(f"hangs: {process.args[1:3]}") from late
        return process

    def run(self, words, **how):
        return self.end(self.start(words, **how))

    def expect(self, code, process, saying=""):
        said = (process.err or b"").decode("utf-8", "replace")
        check(process.returncode == code, f"exit {process.returncode} instead of {code}: {said[-300:]}")
        check(saying in said, f"does not say '{saying}': {said[-300:]}")

    def same_as_whole(self, run):
        check(read(os.path.join(run, "model.npz")) == read(os.path.join(self.whole, "model.npz")), "another model")
        check(timeless(os.path.join(run, "trace.csv")) == timeless(os.path.join(self.whole, "trace.csv")),
              "another trace")
        check(json.loads(read(os.path.join(run, "summary.json")))["status"] == "step_limit", "not complete")
        for folder, _, names in os.walk(run):
            for name in names:
                check(not name.startswith("."), f"left {folder}/{name} behind")

    def resume(self, run, words=(), **how):
        return self.run(["train", "--resume", run, "--quiet", *words], **how)

    def resume_to_whole(self, run):
        """The run in the directory goes on, or is started again if it never began, to the same bytes."""
        if os.path.exists(os.path.join(run, "config.toml")):
            self.expect(0, self.resume(run))
        else:
            self.expect(0, self.run(self.train + ["--quiet", "--force", "--out", run]))
        self.same_as_whole(run)

    def started(self, run, words=None, **how):
        """A run that is under way: its first checkpoint is there."""
        process = self.start((words or self.train) + ["--out", run], **how)
        self.wait_for(os.path.join(run, "checkpoint", "latest.npz"), process)
        return process

    def wait_for(self, path, process):
        began = time.monotonic()
        while not os.path.exists(path):
            check(process.poll() is None and time.monotonic() - began < TIMEOUT, f"no {path}")
            time.sleep(0.001)

    def longer(self, epochs=100000):
        """The same run, too long to end by itself."""
        words = list(self.train)
        words[words.index("--epochs") + 1] = str(epochs)
        return words

    @contextlib.contextmanager
    def small_disk(self, size):
        """A directory on a file system of its own."""
        where = self.path()
        os.mkdir(where)
        mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", where)
        try:
            yield where
        finally:
            subprocess.run(["umount", "--lazy", where], check=False)


def whole_json(path):
    if os.path.exists(path):
        json.loads(read(path))


class Table:
    """fault, times, survived, lost: printed as the faults are done."""

    def __init__(self):
        self.lost = 0
        print(f"{'fault':<58}{'times':>7}{'survived':>10}{'lost':>6}   seconds", flush=True)

    def add(self, name, trial, times, *arguments):
        """trial() once for each time; it raises Lost, or returns how many cases it was (nothing: one)."""
        began, done, survived, complaints = time.monotonic(), 0, 0, []
        try:
            for _ in range(times):
                try:
                    cases = trial(*arguments) or 1
                    done, survived = done + cases, survived + cases
                except (Lost, OSError, ValueError) as complaint:  # also a file that should be there
                    done += 1
                    complaints.append(str(complaint))
        except Skip as reason:
            print(f"{name:<58}  skipped: {reason}", flush=True)
            return
        lost = done - survived
        self.lost += lost
        print(f"{name:<58}{done:>7}{survived:>10}{lost:>6}{time.monotonic() - began:>10.1f}", flush=True)
        for complaint in complaints[:3]:
            print("    " + complaint.replace("\n", "\n    "), flush=True)
