# SPDX-License-Identifier: Apache-2.0
"""What must be there before anything is measured: a JDK, the benchmark classes, the limits in C, the stores."""

import os
import platform
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "target/bench"
JAVA_RELEASE = 25
MAIN_CLASS_FILE = "io/penstock/bench/LoaderThroughput.class"
SHARDS_CLASS = "io.penstock.bench.WebDatasetShards"
LOADERS = {"torch": "PyTorch's DataLoader", "torchdata": "torchdata's StatefulDataLoader",
           "webdataset": "the webdataset library", "numpy": "the NumPy loops", "torchvision": "torchvision",
           "PIL": "Pillow, which also makes the pictures", "cv2": "OpenCV"}


# Without importing it: torchvision cannot be where its operators are not compiled for the build of torch.
VERSION = """import sys, importlib.metadata as metadata, importlib.util as util
if not util.find_spec(sys.argv[1]): sys.exit(1)
print(metadata.version(metadata.packages_distributions()[sys.argv[1]][0]))"""


class Unusable(Exception):
    """Something that the person who runs this must do first."""


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=ROOT, **options)
    if done.returncode != 0:
        raise Unusable(f"exit status {done.returncode} from: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def java_release(home):
    try:
        found = re.search(r'JAVA_VERSION="(\d+)', (Path(home) / "release").read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def find_java():
    """JAVA_HOME's java, that on the path, or one in the usual places, if it is new enough."""
    on_path = shutil.which("java")
    homes = [os.environ.get("JAVA_HOME"), on_path and Path(os.path.realpath(on_path)).parents[1],
             *sorted(Path("/usr/lib/jvm").glob("*")), *sorted(Path("/opt").glob("jdk*"))]
    for home in homes:
        if home and java_release(home) >= JAVA_RELEASE:
            return str(Path(home) / "bin/java")
    raise Unusable(f"no JDK {JAVA_RELEASE} found: set JAVA_HOME, or name one with --java")


def jvm_flags():
    """What the launcher passes for speed: the script says it."""
    found = re.search(r'copy_flags="([^"]+)"', (ROOT / "penstock").read_text())
    return tuple(found[1].split()) if found and platform.machine() in ("x86_64", "AMD64") else ()


def newest(*folders):
    return max((f.stat().st_mtime for folder in folders for f in (ROOT / folder).rglob("*") if f.is_file()), default=0)


def build_classes(say):
    """The engine and the benchmarks, unless the classes are younger than all sources."""
    built = ROOT / "bench/target/test-classes" / MAIN_CLASS_FILE
    stamp = FOLDER / ".classes"
    sources = newest("src/main/java", *(str(wing) for wing in ROOT.glob("*/src/main/java")), "bench/java")
    if built.exists() and stamp.exists() and stamp.stat().st_mtime > sources:
        return
    if not shutil.which("mvn"):
        raise Unusable("the benchmark classes are older than the sources, and there is no mvn: build them elsewhere "
                       "and name them with --class-path")
    say("building the benchmark classes")
    run("mvn", "-q", "-B", "-Pbench", "test-compile")
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.touch()


def class_path(folder):
    """The benchmarks, and the classes and tests of all modules; a commit before the wings has the engine's alone."""
    modules = [folder / "bench", folder, *(main.parent.parent for main in sorted(folder.glob("*/src/main")))]
    return os.pathsep.join(str(module / "target" / name) for module in modules for name in ("test-classes", "classes"))


def build_against(commit, say):
    """(the commit's short name, the class path of the engine and the benchmarks as they were then), built once"""
    try:
        short = run("git", "rev-parse", "--short=8", "--verify", f"{commit}^{{commit}}").strip()
    except Unusable as reason:
        raise Unusable(f"--against {commit}: no such commit here; a clone without its history lacks it") from reason
    folder = FOLDER / "against" / short
    classes = class_path(folder)
    if (folder / "target/.built").exists():
        return short, classes
    if not shutil.which("mvn"):
        raise Unusable(f"--against {commit} builds that commit: install Maven first")
    say(f"building commit {short}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = folder / "sources.tar"
    run("git", "archive", "--output", archive, short)
    run("tar", "-xf", archive, "-C", folder)
    archive.unlink()
    run("mvn", "-q", "-B", "-Pbench", "validate", "test-compile", "-f", folder / "pom.xml")
    (folder / "target/.built").touch()
    return short, classes


def make_data(setup, say):
    """The C limits and the stores; nothing that is there is made again, but the limits are compiled."""
    say("compiling the limits, writing stores that are missing")
    run("sh", "bench/prepare.sh")
    shards = setup.folder / "webdataset"
    if not list(shards.glob("*.tar")):
        say("writing the WebDataset shards")
        run(setup.java, "--enable-native-access=ALL-UNNAMED", "-cp", setup.class_path, SHARDS_CLASS, shards)
    if "PIL" in setup.installed and not (setup.folder / "jpegs/pictures.tar").exists():
        say("drawing the pictures")
        run(setup.python, "bench/peers/make_pictures.py", setup.folder / "jpegs")
    for path in [*setup.folder.glob("*.npy"), *setup.folder.glob("documents.*"), setup.folder / "tokens.bin",
                 *shards.glob("*.tar")]:
        warm_up(path)


def warm_up(path):
    """Reads a file once, so that it is in the page cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def installed(python):
    """Which of the peers the interpreter has, with their versions."""
    found = {}
    for module in LOADERS:
        done = subprocess.run([python, "-W", "ignore", "-c", VERSION, module],
                              capture_output=True, text=True)
        if done.returncode == 0:
            found[module] = done.stdout.strip()
    return found


def skipped(found, python):
    return [f"{what}: no `{module}` in the Python that was used" for module, what in LOADERS.items()
            if module not in found]


@dataclass(frozen=True)
class Archive:
    """How a JVM starts from classes that were loaded and linked before: an AOT cache, which wants jars."""

    class_path: str
    flags: tuple


def make_archive(setup, say):
    """An AOT cache of the loader's classes, or None where this JVM makes none."""
    say("making an AOT cache")
    jar, cache = setup.folder / "penstock-bench.jar", setup.folder / "penstock-bench.aot"
    with zipfile.ZipFile(jar, "w") as out:
        names = set()
        for part in filter(None, setup.class_path.split(os.pathsep)):
            for file in sorted(Path(part).rglob("*")):
                name = file.relative_to(part).as_posix()
                if file.is_file() and name not in names and name != "module-info.class":
                    names.add(name)
                    out.write(file, name)
    cache.unlink(missing_ok=True)
    command = [setup.java, "--enable-native-access=ALL-UNNAMED", *setup.jvm_flags, setup.heap,
               f"-XX:AOTCacheOutput={cache}", "-cp", str(jar), "io.penstock.bench.LoaderThroughput", "--serve",
               "--workload", "tokens", "--store", setup.file("tokens.bin"), "--workers", "2"]
    done = subprocess.run(command, input="0.2 0 0\n", capture_output=True, text=True)
    if done.returncode != 0 or not cache.exists():
        return None
    return Archive(str(jar), (f"-XX:AOTCache={cache}",))


def processor():
    """Its name, and its widest vectors, which a virtual machine's name does not tell."""
    try:
        text = Path("/proc/cpuinfo").read_text()
        vectors = " with AVX-512" if " avx512f " in text else " with AVX2" if " avx2 " in text else ""
        return re.search(r"model name\s*: (.*)", text)[1] + vectors
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def machine():
    return {"processor": processor(), "cpus": os.cpu_count(),
            "system": f"{platform.system()} {platform.release().partition('-')[0]}"}


def versions(setup, found):
    """Of all that is measured."""
    java = subprocess.run([setup.java, "-version"], capture_output=True, text=True).stderr.splitlines()
    compiler = subprocess.run([os.environ.get("CC", "gcc"), "-dumpfullversion"], capture_output=True, text=True)
    python = subprocess.run([setup.python, "-c", "import platform; print(platform.python_version())"],
                            capture_output=True, text=True)
    return [java[1].partition("(build ")[2].rstrip(")") and f"JVM {java[1].partition('(build ')[2].rstrip(')')}",
            f"gcc {compiler.stdout.strip()} -O3 -march=native", f"Python {python.stdout.strip()}",
            *(f"{module} {version}" for module, version in found.items())]
