# SPDX-License-Identifier: MIT
"""Standard streams that are closed, full or no terminal."""
import fcntl
import os
import pty
import select
import shutil
import subprocess
import time

from harness import TIMEOUT, Lost, check


def reader_goes_away(bench):
    """symport train --out RUN | head -c 10"""
    run = bench.path()
    process = bench.start(bench.train + ["--json", "--out", run])
    os.read(process.stdout.fileno(), 10)
    process.stdout.close()
    process.stdout = None
    bench.expect(0, bench.end(process))
    bench.same_as_whole(run)
    shutil.rmtree(run)


def closed(bench, which):
    """Started with a stream closed, as by >&- in a shell: no file takes its number."""
    run = bench.path()
    process = bench.run(bench.train + ["--quiet", "--out", run], preexec_fn=lambda: os.close(which),
                        **({"stderr": None} if which == 2 else {}))
    bench.expect(0, process)
    bench.same_as_whole(run)
    shutil.rmtree(run)


def full_stderr(bench):
    """Nobody reads stderr, and its pipe is full: the run goes on."""
    run = bench.path()
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    try:
        while True:
            os.write(writer, b"x")
    except BlockingIOError:
        pass
    fcntl.fcntl(writer, fcntl.F_SETFL, 0)
    process = bench.start(bench.train + ["--out", run], stderr=writer)
    os.close(writer)
    # The last line, "Written to", may wait for a reader; all else is done by then.
    began = time.monotonic()
    while process.poll() is None and not os.path.exists(os.path.join(run, "summary.json")):
        if time.monotonic() - began > TIMEOUT:
            process.kill()
            raise Lost("hangs")
        time.sleep(0.01)
    process.stdout.read(10)
    while process.poll() is None:
        if select.select([reader], [], [], 0.1)[0]:
            os.read(reader, 65536)
    os.close(reader)
    check(process.wait() == 0, f"exit {process.returncode}")
    process.stdout.close()
    bench.same_as_whole(run)
    shutil.rmtree(run)


def no_terminal(bench):
    """In a session of its own, without a terminal, a home or a locale."""
    run = bench.path()
    # What chooses the kernels of the linear algebra stays: other kernels round differently.
    kernels = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    bench.expect(0, bench.run(bench.train + ["--out", run], start_new_session=True,
                              env={"PATH": "/nowhere", **kernels}))
    bench.same_as_whole(run)
    shutil.rmtree(run)


def on_terminal(bench, kind):
    """All that the program says on a terminal of this kind."""
    run = bench.path()
    control, terminal = pty.openpty()
    process = subprocess.Popen([bench.program, *bench.longer(2000), "--out", run], stdin=terminal, stdout=terminal,
                               stderr=terminal, env={**os.environ, "TERM": kind})
    os.close(terminal)
    said, began = b"", time.monotonic()
    while time.monotonic() - began < 1.5:
        if select.select([control], [], [], 0.1)[0]:
            said += os.read(control, 65536)
    process.terminate()
    while True:
        try:
            part = os.read(control, 65536)
        except OSError:  # the terminal is closed
            break
        if not part:
            break
        said += part
    code = process.wait()
    os.close(control)
    check(code in (0, 130), f"exit {code}")
    shutil.rmtree(run)
    return said


def dumb_terminal(bench):
    check(b"\033" in on_terminal(bench, "xterm"), "no control sequences on an xterm: this test sees nothing")
    check(b"\033" not in on_terminal(bench, "dumb"), "control sequences on a dumb terminal")


def add_to(table, bench):
    def times(few, many):
        return many if bench.long else few
    table.add("reader of stdout goes away (| head)", reader_goes_away, times(1, 10), bench)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        table.add(f"{name} closed at the start", closed, times(1, 10), bench, number)
    table.add("stderr is a full pipe", full_stderr, times(1, 10), bench)
    table.add("no terminal, no home, no locale", no_terminal, times(1, 10), bench)
    table.add("TERM=dumb", dumb_terminal, times(1, 5), bench)
