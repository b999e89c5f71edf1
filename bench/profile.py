# SPDX-License-Identifier: Apache-2.0
"""What `perf script` tells, as a table of costs a thread, as folded stacks and as a flame graph.

    perf script -F comm,tid,ip,sym,dso | python3 bench/profile.py --folded FILE --svg FILE

Threads of one name are taken together. "Self" is where the processor was; it is a share of that thread's samples.
"""

import argparse
import collections
import html
import re
import sys

HEADER = re.compile(r"^(\S.*?)\s+(\d+)\s*$")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.+) \((.+)\)$")
JAVA_MAP = re.compile(r"perf-\d+\.map")
UNKNOWN = "n_unknown"
STUBS = "n_JVM stubs (copies, fills)"
ROW_PIXELS = 17
WIDTH_PIXELS = 1200
NARROWEST = 0.4  # pixels
LETTER_PIXELS = 6.6


def frame_name(symbol, library):
    """A frame as people say it, with its kind in front: j_ Java, p_ the engine, n_ native, k_ the kernel."""
    if symbol == "[unknown]":
        return UNKNOWN
    if JAVA_MAP.search(library):
        if "(" not in symbol:
            return "j_" + symbol
        if symbol.startswith("StubRoutines"):
            return STUBS
        name = symbol.split("(")[0].split(" ")[-1]
        return ("p_" + name.removeprefix("io.penstock.")) if name.startswith("io.penstock.") else "j_" + name
    if "kernel" in library or library == "[guest.kernel.kallsyms]":
        return "k_" + symbol
    return "n_" + symbol.split("(")[0] + " (" + library.rsplit("/", 1)[-1].strip("[]") + ")"


def from_java_on(frames):
    """Outermost first, without what leads from the thread's start into Java, and a frame that calls itself once."""
    frames = frames[::-1] or [UNKNOWN]
    java = next((i for i, frame in enumerate(frames) if frame[:2] in ("j_", "p_")), 0)
    return [frame for i, frame in enumerate(frames) if i >= java and (i == java or frame != frames[i - 1])]


def stacks(lines):
    """Yields a thread's name and its frames, outermost first; frames without a name are left out."""
    thread, frames = None, []
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if thread is not None:
                yield thread, from_java_on(frames)
            thread, frames = None, []
        elif thread is None:
            header = HEADER.match(line)
            thread = header.group(1) if header else line.strip()
        else:
            frame = FRAME.match(line)
            name = frame_name(re.sub(r"\+0x[0-9a-f]+$", "", frame.group(1)), frame.group(2)) if frame else UNKNOWN
            if name != UNKNOWN and (name != STUBS or not frames):  # a stub that calls is how the JVM enters Java
                frames.append(name)
    if thread is not None:
        yield thread, from_java_on(frames)


def print_table(counts, rows):
    total = sum(counts.values())
    threads = collections.Counter()
    own = collections.defaultdict(collections.Counter)
    under = collections.defaultdict(collections.Counter)
    for (thread, *frames), count in counts.items():
        threads[thread] += count
        own[thread][frames[-1]] += count
        for frame in set(frames):
            under[thread][frame] += count
    print(f"{total} samples\n\n| thread | of all | self | with callees | where |\n|---|---:|---:|---:|---|")
    for thread, samples in threads.most_common():
        if samples < total / 100:
            continue
        for i, (frame, count) in enumerate(own[thread].most_common(rows)):
            if count < samples / 100:
                break
            first = f"| {thread} | {samples / total:.1%}" if i == 0 else "| |"
            kind = " [kernel]" if frame.startswith("k_") else ""
            print(f"{first} | {count / samples:.1%} | {under[thread][frame] / samples:.1%} | {frame[2:]}{kind} |")


class Node:
    def __init__(self):
        self.count, self.children = 0, {}

    def add(self, frames, count):
        node = self
        node.count += count
        for frame in frames:
            node = node.children.setdefault(frame, Node())
            node.count += count

    def depth(self, least):
        """Rows to the highest frame of at least so many samples."""
        return 1 + max((child.depth(least) for child in self.children.values() if child.count >= least), default=0)


COLOURS = {"p_": "#f4a742", "j_": "#f2d98b", "n_": "#b9cfe8", "k_": "#e3a3a0", "t_": "#d0d0d0"}


def draw(node, name, x, scale, row, rows, total, out):
    width = node.count * scale
    if width < NARROWEST:
        return
    y = (rows - row) * ROW_PIXELS + 24
    label = name[2:]
    letters = int(width / LETTER_PIXELS) - 1
    shown = label if len(label) <= letters else label[:letters - 1] + "…" if letters > 3 else ""
    out.append(f'<g><title>{html.escape(label)}: {node.count / total:.2%}</title><rect x="{x:.2f}" y="{y}" '
               f'width="{max(width - 0.3, 0.3):.2f}" height="{ROW_PIXELS - 1}" fill="{COLOURS[name[:2]]}"/>'
               f'<text x="{x + 3:.2f}" y="{y + 12}">{html.escape(shown)}</text></g>')
    for child in sorted(node.children):
        draw(node.children[child], child, x, scale, row + 1, rows, total, out)
        x += node.children[child].count * scale


def flame_graph(counts, title):
    root = Node()
    for (thread, *frames), count in counts.items():
        root.add(["t_" + thread, *frames], count)
    rows = root.depth(NARROWEST * root.count / WIDTH_PIXELS)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH_PIXELS}" height="{(rows + 1) * ROW_PIXELS + 30}" '
           f'font-family="monospace" font-size="11"><rect width="100%" height="100%" fill="white"/>'
           f'<text x="8" y="16" font-size="13">{html.escape(title)}: {root.count} samples; orange: the engine, '
           f'yellow: other Java, blue: native, red: kernel, grey: threads</text>']
    draw(root, "t_all", 0, WIDTH_PIXELS / root.count, 1, rows, root.count, out)
    return "\n".join([*out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--title", default="profile")
    parser.add_argument("--folded")
    parser.add_argument("--svg")
    parser.add_argument("--rows", type=int, default=10, help="costs listed a thread")
    options = parser.parse_args()
    counts = collections.Counter((thread, *frames) for thread, frames in stacks(sys.stdin))
    if not counts:
        sys.exit("profile: no samples: did the program run longer than perf waited?")
    print_table(counts, options.rows)
    if options.folded:
        with open(options.folded, "w", encoding="utf-8") as file:
            for stack, count in sorted(counts.items()):
                file.write(";".join([stack[0], *(frame[2:] for frame in stack[1:])]) + f" {count}\n")
    if options.svg:
        with open(options.svg, "w", encoding="utf-8") as file:
            file.write(flame_graph(counts, options.title))


if __name__ == "__main__":
    main()
