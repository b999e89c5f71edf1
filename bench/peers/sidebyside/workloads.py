# SPDX-License-Identifier: Apache-2.0
"""What is measured: each workload's sides, and what they are asked."""

from dataclasses import dataclass, field
from pathlib import Path

from .sides import Side

HERE = Path(__file__).resolve().parents[1]
MAIN_CLASS = "io.penstock.bench.LoaderThroughput"
STEPS_CLASS = "io.penstock.bench.AugmentRates"
STEP_MS = 5


def at_commit(commit):
    """What the name of a configuration of an older Penstock ends with."""
    return f" at {commit}"


@dataclass(frozen=True)
class Setup:
    """Where everything is, and what there is."""

    java: str
    jvm_flags: tuple
    heap: str
    class_path: str
    python: str
    installed: frozenset
    folder: Path
    cpus: int
    turbojpeg: str = ""
    against: str = ""
    against_class_path: str = ""

    def file(self, name):
        return str(self.folder / name)

    def worker_counts(self):
        """1, 2, 4, … threads, as many as there are processors, and never fewer than 2."""
        counts = [1, 2]
        while counts[-1] * 2 <= self.cpus:
            counts.append(counts[-1] * 2)
        return counts


@dataclass
class Workload:
    """Sides that are measured by turns. `tokens` is how many a sample has, where a sample is of tokens."""

    name: str
    title: str
    unit: str = "samples"
    tokens: int = 0
    sides: list = field(default_factory=list)

    def add(self, setup, group, config, command, needs=(), **more):
        """Adds a side, if what it needs is installed."""
        if setup.installed.issuperset(needs):
            self.sides.append(Side(group, config, tuple(map(str, command)), **more))

    def java(self, setup, config, main, *options, flags=(), class_path=None, **more):
        def side(name, classes, **rest):
            self.add(setup, "penstock", name,
                     [setup.java, "--enable-native-access=ALL-UNNAMED", *setup.jvm_flags, setup.heap, *flags, "-cp",
                      classes, main, "--serve", *options], **{**more, **rest})

        side(f"Penstock {config}", class_path or setup.class_path)
        if setup.against and not class_path:
            side(f"Penstock {config}{at_commit(setup.against)}", setup.against_class_path, optional=True)

    def penstock(self, setup, config, store, workload, *options, **more):
        self.java(setup, config, MAIN_CLASS, "--workload", workload, "--store", store, *options, **more)

    def c(self, setup, config, store, mode, threads, ring_of="Penstock w1", **more):
        self.add(setup, "c", f"C {config}", [setup.folder / "limits", "--store", store, "--mode", mode, "--threads",
                                             threads], ring_of=ring_of, **more)

    def torch(self, setup, config, store, workload, *options, needs=("torch",), **more):
        self.add(setup, "torch", f"PyTorch {config}",
                 [setup.python, HERE / "torch_loader.py", "--workload", workload, "--store", store, *options],
                 needs=needs, **more)


def tokens(setup, mode):
    """Windows of 1024+1 tokens, batch 32."""
    out = "as stored (narrow)" if mode == "narrow" else f"widened to {mode} ids and labels"
    made = Workload(f"tokens-{mode}", f"Token windows 1024+1, batch 32, {out}", "windows", 1024)
    store = setup.file("tokens.bin")
    steps = ("step",) if mode == "i64" else ()
    for workers in (0, *setup.worker_counts()):
        made.penstock(setup, f"w{workers}", store, "tokens", "--mode", mode, "--workers", workers,
                      kinds=("saturated", *(("read",) if workers else ()), *(steps if workers in (1, 2) else ())))
    for threads in setup.worker_counts():
        made.c(setup, f"{threads} thread{'s' * (threads > 1)}", store, mode, threads)
    options = ("--mode", mode)
    both = ("saturated", "read")
    made.torch(setup, "item w0", store, "tokens", *options, kinds=both)
    made.torch(setup, "item w0, 1 thread", store, "tokens", *options, "--threads", 1, kinds=(*both, *steps))
    for workers in setup.worker_counts():
        made.torch(setup, f"item w{workers}", store, "tokens", *options, "--workers", workers, quick=workers == 2,
                   kinds=(*both, *steps) if workers == 2 else ("saturated",))
    made.torch(setup, "item w2, file_descriptor", store, "tokens", *options, "--workers", 2, "--sharing",
               "file_descriptor", quick=False)
    for fetch in ("rows", "take"):
        made.torch(setup, f"{fetch} w0, 1 thread", store, "tokens", *options, "--fetch", fetch, "--threads", 1,
                   kinds=both)
        made.torch(setup, f"{fetch} w2", store, "tokens", *options, "--fetch", fetch, "--workers", 2, quick=False,
                   kinds=both)
    for workers in (0, 2):
        made.torch(setup, f"StatefulDataLoader item w{workers}", store, "tokens", *options, "--workers", workers,
                   "--loader", "StatefulDataLoader", needs=("torch", "torchdata"), quick=False)
    for loop in ("plain", "tuned"):
        made.add(setup, "numpy", f"NumPy loop, {loop}", [setup.python, HERE / "numpy_loop.py", "--store", store,
                                                        *options, "--loop", loop], needs=("numpy",), kinds=both,
                 quick=loop == "tuned")
    return made


def images(setup, size, mode):
    """Images of bytes, batch 64, stacked or normalized."""
    out = "stacked as u8" if mode == "u8" else "normalized to f32"
    made = Workload(f"images-{size}-{mode}", f"Images u8[3, {size}, {size}], batch 64, {out}", "images")
    store = setup.file(f"images-{size}.npy")
    for workers in (0, 1, 2):
        made.penstock(setup, f"w{workers}", store, "images", "--mode", mode, "--workers", workers,
                      quick=mode == "u8" or workers == 1)
    made.c(setup, "1 thread", store, mode, 1)
    options = ("--mode", mode)
    made.torch(setup, "item w0", store, "images", *options)
    made.torch(setup, "item w0, 1 thread", store, "images", *options, "--threads", 1, quick=False)
    made.torch(setup, "item w2", store, "images", *options, "--workers", 2, quick=False)
    made.torch(setup, "rows w0", store, "images", *options, "--fetch", "rows", quick=False)
    made.torch(setup, "rows w0, 1 thread", store, "images", *options, "--fetch", "rows", "--threads", 1,
               quick=mode == "u8")
    return made


def pictures(setup, mode):
    """JPEG files, decoded, cropped, resized and normalized by one thread. The other modes add a step to `rrc`."""
    titles = {"rrc": "RandomResizedCrop 224, flip", "eval": "shorter side 256, middle 224",
              "rrc-jitter": "RandomResizedCrop 224, flip, ColorJitter of four",
              "rrc-rotate": "RandomResizedCrop 224, flip, rotation, bilinear",
              "rrc-randaugment": "RandomResizedCrop 224, flip, RandAugment"}
    made = Workload(f"pictures-{mode}", f"JPEG files of about 500×375, {titles[mode]}, normalized to f32", "images")
    folder, base = setup.file("jpegs"), mode in ("rrc", "eval")
    libraries = [("w0", "", ()), *([("w0, parts", setup.turbojpeg, ("--part",))] if setup.turbojpeg else [])]
    for config, library, part in libraries:
        made.penstock(setup, config, f"{folder}/pictures.tar", "pictures", "--mode", mode, "--workers", 0,
                      "--leases", "reused", flags=[f"-Dpenstock.turbojpeg={library}"] * bool(library),
                      optional=bool(part))
        if base:
            made.add(setup, "c", f"C {'parts' if part else 'whole'}, 1 thread",
                     [setup.folder / "pictures", "--store", folder, "--mode", mode, *part,
                      *(["--library", library] if library else [])], ring_of=f"Penstock {config}", optional=bool(part))
    for via, name, needs in (("tensors", "torchvision tensors", "torchvision"),
                             ("pil", "torchvision PIL", "torchvision"), ("opencv", "OpenCV, no antialiasing", "cv2")):
        if base or via != "opencv":
            made.add(setup, "torch", name, [setup.python, HERE / "torch_pictures.py", "--store", folder, "--mode", mode,
                                            "--via", via], needs=("torch", "PIL", needs))
    return made


def steps(setup):
    """Steps of augmentation on a decoded image, by one thread: what each adds to a copy."""
    made = Workload("augment-steps", "Steps of augmentation, 224×224 RGB, one thread, without a copy", "images")
    for name in ("colorJitter", "rotate BILINEAR", "affine BILINEAR", "perspective BILINEAR", "randAugment NEAREST",
                 "not fused crop and warps", "fused crop and warps"):
        made.java(setup, name, STEPS_CLASS, "--step", name)
    return made


def documents(setup):
    """Documents of different lengths, batch 32, padded to the longest with a mask."""
    made = Workload("documents", "Documents of 16 to 2048 tokens, batch 32, padded to i64 with a mask", "documents")
    prefix, both = setup.file("documents"), ("saturated", "read")
    for workers in (0, 1, 2):
        made.penstock(setup, f"w{workers}", prefix + ".idx", "documents", "--mode", "i64", "--workers", workers,
                      kinds=both if workers else ("saturated",))
    made.c(setup, "1 thread", prefix, "pad-i64", 1)
    made.torch(setup, "pad_sequence w0", prefix, "documents", kinds=both)
    made.torch(setup, "pad_sequence w0, 1 thread", prefix, "documents", "--threads", 1, kinds=both)
    for workers in (1, 2):
        made.torch(setup, f"pad_sequence w{workers}", prefix, "documents", "--workers", workers, quick=workers == 2,
                   kinds=both if workers == 2 else ("saturated",))
    made.torch(setup, "rows w0, 1 thread", prefix, "documents", "--fetch", "rows", "--threads", 1, kinds=both,
               quick=False)
    return made


def webdataset(setup):
    """Samples of 8 tar shards, shuffled, batch 64."""
    made = Workload("webdataset", "WebDataset shards, samples of 20 KB, batch 64, shuffled")
    store, both = setup.file("webdataset"), ("saturated", "read")
    for workers in (1, 2):
        made.penstock(setup, f"w{workers}", store, "webdataset", "--mode", "blocks", "--workers", workers, kinds=both)
    made.penstock(setup, "w2, all samples shuffled", store, "webdataset", "--mode", "full", "--workers", 2,
                  kinds=both, quick=False)
    made.penstock(setup, "tar stream, w1", store, "tar-stream", "--workers", 1, quick=False)
    made.c(setup, "tar walk, not shuffled, 1 thread", store, "tar", 1)
    for fetch in ("bytes", "array"):
        for workers in (0, 1, 2):
            needs = ("numpy", "webdataset", *(("torch",) if workers else ()))
            made.add(setup, "webdataset", f"webdataset {fetch} w{workers}",
                     [setup.python, HERE / "webdataset_loader.py", "--store", store, "--fetch", fetch, "--workers",
                      workers], needs=needs, quick=workers == 0 or (fetch, workers) == ("bytes", 2), kinds=both)
    return made


def empty(setup):
    """Batches of nothing, in order: what is left is the loader's own."""
    made = Workload("empty", "Empty work: batches of 64 samples that nothing is read or written for", "batches")
    for workers in (0, 1, 2):
        made.penstock(setup, f"w{workers}", setup.file("tokens.bin"), "empty", "--workers", workers)
    made.penstock(setup, "w1, leases reused", setup.file("tokens.bin"), "empty", "--workers", 1, "--leases", "reused")
    for workers in (0, 2):
        made.torch(setup, f"constants w{workers}", "", "empty", "--workers", workers)
        made.torch(setup, f"ready batch w{workers}", "", "empty", "--fetch", "ready", "--workers", workers)
        made.torch(setup, f"StatefulDataLoader constants w{workers}", "", "empty", "--workers", workers, "--loader",
                   "StatefulDataLoader", needs=("torch", "torchdata"), quick=False)
    return made


def first(setup, archive):
    """From the start of a process to its first batch. `archive` gives the flags for an AOT cache of classes."""
    made = Workload("first", "Process start to the first batch: token windows, i64, 2 workers")
    store = setup.file("tokens.bin")
    options = ("--mode", "i64", "--workers", 2)
    made.penstock(setup, "java -cp", store, "tokens", *options)
    if archive:
        made.penstock(setup, "with an AOT cache", store, "tokens", *options, flags=archive.flags,
                      class_path=archive.class_path)
    for workers in (0, 2):
        made.torch(setup, f"item w{workers}", store, "tokens", "--workers", workers)
    return made


def memory(setup):
    """What a loader's processes hold beside the pages of the store."""
    made = Workload("memory", f"Memory above the mapped store (PSS): token windows, i64, JVM with {setup.heap}")
    store = setup.file("tokens.bin")
    for workers in (1, 2):
        made.penstock(setup, f"w{workers}", store, "tokens", "--mode", "i64", "--workers", workers, maps=(store,))
    for workers in (0, 2):
        made.torch(setup, f"item w{workers}", store, "tokens", "--workers", workers, maps=(store,))
    return made
