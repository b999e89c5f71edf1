# SPDX-License-Identifier: Apache-2.0
"""Makes a corpus of JSON lines from what an installed system has: manual pages in many languages, documentation, code.

    python3 bench/peers/text_corpus.py --out target/bench/text.jsonl --megabytes 40
    python3 bench/peers/text_corpus.py --out target/bench/gigabyte.jsonl --packages target/bench/packages
    python3 bench/peers/text_corpus.py --out target/bench/fuzzed.jsonl --fuzzed 1000000

A fifth each: English documentation; manual pages in Latin scripts; manual pages in other scripts; Python and Perl
source; C headers and markup. The same system gives the same corpus: files are taken in the order of their paths.
With --packages it takes, besides, all texts of packages of Debian, which it downloads to that folder and unpacks there
(170 MB, 1.2 GB): handbooks in 16 languages, handbooks of which each page is in many, the locales of Unicode, and the
source of a JDK. With --fuzzed it makes short random texts instead, after texts with each code point beside letters,
digits and spaces.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import zipfile
from random import Random

SHARE = pathlib.Path("/usr/share")
OTHER_SCRIPTS = ("ja", "ko", "ru", "uk", "sr", "zh_CN", "zh_TW", "el", "ar", "he")


def manuals(languages):
    for language in languages:
        yield from sorted((SHARE / "man" / language).rglob("*.gz"))


def kinds():
    languages = sorted(p.name for p in (SHARE / "man").iterdir() if p.is_dir() and not p.name.startswith("man"))
    latin = [language for language in languages if language not in OTHER_SCRIPTS]
    other = [language for language in languages if language in OTHER_SCRIPTS]
    prose = (p for p in sorted((SHARE / "doc").rglob("*")) if p.suffix in (".gz", ".txt", ".md", ".rst", ""))
    code = (p for root in ("/usr/lib/python3", "/usr/lib/python3.11", "/usr/share/perl", "/usr/share/perl5")
            for p in sorted(pathlib.Path(root).rglob("*")) if p.suffix in (".py", ".pm"))
    markup = (p for root in ("/usr/include", "/usr/share")
              for p in sorted(pathlib.Path(root).rglob("*")) if p.suffix in (".h", ".html", ".xml", ".css"))
    # an equal share of each script, not only the first
    return [interleaved([prose]), interleaved([manuals([one]) for one in latin]),
            interleaved([manuals([one]) for one in other]), interleaved([code]), interleaved([markup])]


def interleaved(iterators):
    iterators = [iter(one) for one in iterators]
    while iterators:
        for one in list(iterators):
            path = next(one, None)
            if path is None:
                iterators.remove(one)
            else:
                yield path


def text(path):
    if not path.is_file() or path.is_symlink() or path.stat().st_size > 2 << 20:
        return None
    raw = path.read_bytes()
    try:
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    except (UnicodeDecodeError, OSError, EOFError):
        return None


PACKAGES = [f"libreoffice-help-{language}" for language in (
    "de", "dz", "el", "en-us", "es", "fr", "hi", "ja", "km", "ko", "pl", "ru", "tr", "vi", "zh-cn", "zh-tw")] + [
    "debian-handbook", "gnome-user-docs", "unicode-cldr-core", "python3.11-doc", "openjdk-17-source"]
SUFFIXES = (".html", ".xml", ".page", ".txt", ".java", ".js", ".css", ".svg")


def unpacked(folder, package):
    """The folder with the files of a package, downloaded and unpacked if it is not there."""
    files = folder / package
    if not files.exists():
        if not list(folder.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True)
        part = folder / (package + ".part")
        subprocess.run(["dpkg-deb", "-x", next(folder.glob(f"{package}_*.deb")), part], check=True)
        for archive in part.rglob("*.zip"):
            zipfile.ZipFile(archive).extractall(archive.with_suffix(""))
        part.rename(files)
    return files


def of_packages(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        yield from (p for p in sorted(unpacked(folder, package).rglob("*")) if p.suffix in SUFFIXES)


ATOMS = [
    "a", "b", "the", "S", "LL", "'s", "'ll", "'S", "'Re", "'\u017f", "'", "\u2019", "\xe9", "e\u0301", "\u0301",
    "\xdf", "\u0416\u0443\u043a", "\u4f60", "\u306e", "\ud55c", "\u0627", "\u0928", "\u0940", "\u01c5",
    "\u02b0", "1", "23", "4567", "\u2167", "\xbd", " ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "\xa0",
    "\u3000", "\x85", "\u2028", "\x0b", "\x1c", "\u180e", "\u200b", "\ufeff", "\0", ",", ".", "\uff0c", "!",
    "?!", "/", "//", "/\n", "-", "----", "_", "(", ");\n", "\U0001f600", "\U0001f469\u200d\U0001f680",
    "\U0001d504", "\u20dd", "<|endoftext|>", "\ufffd", "==", "camelCase", "HTTPServer", "getX2Y",
]
BLOCKS = [(0x20, 0x7e), (0xa0, 0x24f), (0x300, 0x36f), (0x370, 0x3ff), (0x400, 0x4ff), (0x530, 0x58f), (0x590, 0x5ff),
          (0x600, 0x6ff), (0x900, 0x97f), (0x980, 0x9ff), (0xb80, 0xbff), (0xe00, 0xe7f), (0x10a0, 0x10ff),
          (0x1200, 0x137f), (0x1e00, 0x1eff), (0x2000, 0x206f), (0x2100, 0x218f), (0x3000, 0x303f), (0x3040, 0x30ff),
          (0x4e00, 0x9fff), (0xac00, 0xd7a3), (0xff00, 0xffef), (0x10400, 0x1044f), (0x1d400, 0x1d7ff),
          (0x1f300, 0x1f6ff), (0, 0xd7ff), (0xe000, 0x10ffff)]


def code_points(step=1):
    """A text with each code point beside letters, digits and spaces."""
    for point in range(0, 0x110000, step):
        if not 0xd800 <= point < 0xe000:
            c = chr(point)
            yield f"x{c}X1{c} {c}{c}a"


def random_texts(count):
    random = Random(20261122)
    for _ in range(count):
        low, high = random.choice(BLOCKS)
        kind = random.randrange(3)
        yield "".join(random.choice(ATOMS) if kind == 0 or kind == 2 and random.random() < 0.5
                      else chr(random.randint(low, high)) for _ in range(random.randrange(25)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--megabytes", type=float, default=40)
    parser.add_argument("--packages", type=pathlib.Path)
    parser.add_argument("--fuzzed", type=int, default=0)
    options = parser.parse_args()
    if options.fuzzed:
        with open(options.out, "w", encoding="utf-8") as out:
            for texts in (code_points(), random_texts(options.fuzzed)):
                out.writelines(json.dumps({"text": one}) + "\n" for one in texts)
        return
    with open(options.out, "w", encoding="utf-8") as out:
        shares = [(paths, options.megabytes * 1e6 / 5) for paths in kinds()]
        if options.packages:
            shares.append((of_packages(options.packages), float("inf")))
        for paths, left in shares:
            for path in paths:
                document = text(path)
                if document and "\0" not in document:
                    out.write(json.dumps({"text": document}, ensure_ascii=False) + "\n")
                    left -= len(document.encode())
                if left < 0:
                    break


if __name__ == "__main__":
    main()
