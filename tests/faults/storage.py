# SPDX-License-Identifier: MIT
"""Disks that are full, read-only or gone, damaged files, awkward names."""
import json
import os
import resource
import shutil
import subprocess
import time

from harness import Skip, check, mount, read


def fill(folder):
    """No room is left on the disk of the folder."""
    path = os.path.join(folder, "filler")
    for size in (1 << 16, 1 << 12, 1):
        with open(path, "ab", buffering=0) as file:
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                pass
    return path


def no_half_files(run):
    """Whatever is there is whole."""
    for name in ("summary.json",):
        path = os.path.join(run, name)
        if os.path.exists(path):
            json.loads(read(path))
    for name in ("model.npz", "checkpoint/latest.npz", "checkpoint/previous.npz"):
        path = os.path.join(run, name)
        check(not os.path.exists(path) or read(path)[-22:-18] == b"PK\x05\x06", f"half a {name}")


def disk_full(bench):
    """The disk fills up in the middle of a run: it goes on, prints its result, and can be resumed from the last
    checkpoint once there is room."""
    with bench.small_disk("400k") as disk:
        run = os.path.join(disk, "run")
        process = bench.started(run)
        time.sleep(bench.draw.uniform(0, bench.seconds / 2))
        filler = fill(disk)
        bench.end(process)
        if process.returncode != 0:  # else it had just ended
            bench.expect(1, process, "cannot write")
            check(b"train loss" in process.out, "the result is not printed")
        no_half_files(run)
        os.remove(filler)
        bench.resume_to_whole(run)


def disk_full_at_start(bench):
    with bench.small_disk("64k") as disk:
        fill(disk)
        process = bench.run(bench.train + ["--out", os.path.join(disk, "run")])
        check(process.returncode in (1, 2) and b"No space left" in process.err, f"exit {process.returncode}")
        check(os.listdir(disk) == ["filler"], "left something behind")
        process = bench.run(["optimize", "booth", "--out", os.path.join(disk, "run")])
        check(process.returncode in (1, 2) and b"No space left" in process.err, f"optimize: exit {process.returncode}")


def file_size_limit(bench):
    """No file may grow beyond a few kilobytes (RLIMIT_FSIZE): as a full disk, where nothing can be mounted."""
    run = bench.path()
    process = bench.run(bench.train + ["--out", run],
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)))
    bench.expect(1, process, "cannot write")
    check(b"train loss" in process.out, "the result is not printed")
    no_half_files(run)
    bench.resume_to_whole(run)
    shutil.rmtree(run)


def full_stdout(bench):
    """Results go to /dev/full: the directory is written nevertheless."""
    run = bench.path()
    with open("/dev/full", "wb") as full:
        bench.expect(1, bench.run(bench.train + ["--out", run], stdout=full), "standard output")
    bench.same_as_whole(run)
    shutil.rmtree(run)


def read_only(bench):
    """The file system becomes read-only in the middle of a run, as after a disk error."""
    with bench.small_disk("4m") as disk:
        run = os.path.join(disk, "run")
        process = bench.started(run)
        for _ in range(1000):  # busy while a checkpoint is open for writing
            if subprocess.run(["mount", "-o", "remount,ro", disk], capture_output=True).returncode == 0:
                break
            time.sleep(0.001)
        bench.end(process)
        if process.returncode != 0:
            bench.expect(1, process, "cannot write")
            check(b"train loss" in process.out, "the result is not printed")
        bench.expect(2, bench.run(bench.train + ["--out", os.path.join(disk, "other")]), "Read-only file system")
        at = bench.resume(run)
        check(at.returncode in (1, 2) and b"Read-only file system" in at.err,
              f"resume: exit {at.returncode}: {at.err.decode()[-200:]}")
        mount("-o", "remount,rw", disk)
        bench.resume_to_whole(run)


def vanished(bench):
    """Somebody deletes the run directory."""
    run = bench.path()
    process = bench.started(run)
    shutil.rmtree(run, ignore_errors=True)
    shutil.rmtree(run, ignore_errors=True)
    bench.end(process)
    if process.returncode != 0:
        bench.expect(1, process, "cannot write")
    check(b"train loss" in process.out, "the result is not printed")
    shutil.rmtree(run, ignore_errors=True)


def small_checkpoint(bench):
    run = bench.path()
    words = ["train", "--data", "regression", "--layers", "2,2,1", "--steps", "5", "--teleport", "2", "--quiet"]
    bench.expect(0, bench.run(words + ["--out", run]))
    return run


def reader_trials(bench, what, count):
    """Many damaged forms of one checkpoint, read by the library."""
    if not bench.trials:
        raise Skip("no program for the trials was given")
    run = small_checkpoint(bench)
    file = os.path.join(run, "checkpoint", "latest.npz")
    done = subprocess.run([bench.trials, file, what, str(count)], capture_output=True, text=True)
    check(done.returncode == 0, done.stdout + done.stderr)
    shutil.rmtree(run)
    return int(done.stdout.split()[0])


def damaged(bench, damage):
    """Through the program: with a damaged latest checkpoint it goes on from the one before, to the same bytes, or
    from the latest itself if the damage means nothing; with both damaged it says so and changes nothing."""
    run = bench.path()
    process = bench.started(run)
    process.kill()
    bench.end(process)
    latest, previous = (os.path.join(run, "checkpoint", name) for name in ("latest.npz", "previous.npz"))
    # There is one at least; between two renamings the latest is the one that is missing.
    if not os.path.exists(previous):
        shutil.copy(latest, previous)
    if not os.path.exists(latest):
        shutil.copy(previous, latest)
    good = {path: read(path) for path in (latest, previous)}
    for path in good:
        with open(path, "wb") as file:
            file.write(damage(bench.draw, good[path]))
    model = os.path.exists(os.path.join(run, "model.npz"))
    process = bench.resume(run)
    if process.returncode == 0:
        bench.same_as_whole(run)
    else:
        bench.expect(2, process, "checkpoint/")
        check(os.path.exists(os.path.join(run, "model.npz")) == model, "wrote a model")
        with open(previous, "wb") as file:
            file.write(good[previous])
        bench.resume_to_whole(run)
    shutil.rmtree(run)


def cut(draw, content):
    return content[:draw.randrange(len(content))]


def flip(draw, content):
    changed = bytearray(content)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def odd_name(bench):
    """File names that are not UTF-8."""
    run = os.path.join(os.fsencode(bench.place), b"run-\xff\xfe")
    process = bench.start(bench.longer() + ["--out", run])
    bench.wait_for(os.path.join(run, b"checkpoint", b"latest.npz"), process)
    process.kill()
    bench.end(process)
    data = os.path.join(os.fsencode(bench.place), b"data-\xff.npz")
    shutil.copy(bench.data, data)
    without = list(bench.train)
    without[2] = data
    del without[-2:]
    bench.expect(0, bench.run(without + ["--quiet"]))
    bench.expect(2, bench.run(without + ["--out", bench.path()]), "not UTF-8")
    bench.expect(0, bench.run(["optimize", "booth", "--out", os.path.join(run, b"deeper-\xff")]))
    page = os.path.join(os.fsencode(bench.place), b"page-\xff.html")
    bench.expect(0, bench.run(["report", bench.whole, "--out", page, "--force"]))
    check(read(page).rstrip().endswith(b"</html>"), "half a page")
    shutil.rmtree(run)
    run = os.path.join(os.fsencode(bench.place), b"again-\xff")
    bench.expect(0, bench.run(bench.train + ["--quiet", "--out", run]))
    bench.expect(0, bench.run(["train", "--resume", run, "--quiet"]))
    check(read(os.path.join(run, b"model.npz")) == read(os.path.join(bench.whole, "model.npz")), "another model")
    shutil.rmtree(run)


def long_path(bench):
    """Paths up to and beyond what the system takes: used, or refused before the work is done."""
    cases = 0
    for length in (200, 255, 256, 1000, 4000, 4060, 4085, 4095, 4096, 5000, 100000):
        base = bench.path()
        path = base
        while len(path) < length:
            path = os.path.join(path, "d" * min(200, max(1, length - len(path) - 1)))
        if length in (255, 256):
            path = os.path.join(bench.place, "n" * length)
        process = bench.run(bench.train + ["--quiet", "--out", path] if length < 60000 else
                            ["optimize", "booth", "--out", path])
        if process.returncode == 0:
            bench.same_as_whole(path)
        else:
            said = process.err.decode("utf-8", "replace")
            check(process.returncode in (1, 2) and "name too long" in said, f"{length}: exit {process.returncode}: "
                  + said[-200:])
        if length <= 1000 and length != 256:
            check(process.returncode == 0, f"a path of {length} is refused")
        shutil.rmtree(base, ignore_errors=True)
        cases += 1
    return cases


def add_to(table, bench):
    def times(few, many):
        return many if bench.long else few
    table.add("disk full in the middle of train (tmpfs)", disk_full, times(2, 20), bench)
    table.add("disk full at the start (tmpfs)", disk_full_at_start, times(1, 5), bench)
    table.add("files limited to 3000 bytes (RLIMIT_FSIZE)", file_size_limit, 1, bench)
    table.add("standard output on a full disk (/dev/full)", full_stdout, 1, bench)
    table.add("file system becomes read-only", read_only, times(1, 10), bench)
    table.add("run directory deleted in the middle", vanished, times(1, 10), bench)
    table.add("checkpoint truncated at every length (reader)", reader_trials, 1, bench, "truncate", 0)
    table.add("bit flips in a checkpoint (reader)", reader_trials, 1, bench, "flip", 10000)
    table.add("checkpoints truncated at random, --resume", damaged, times(1, 20), bench, cut)
    table.add("bit flips in both checkpoints, --resume", damaged, times(2, 40), bench, flip)
    table.add("file names that are not UTF-8", odd_name, 1, bench)
    table.add("long paths", long_path, 1, bench)
