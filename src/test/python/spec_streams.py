# SPDX-License-Identifier: Apache-2.0
"""The second implementation of docs/spec/streams.md, written from the page.

    python3 src/test/python/spec_streams.py STATE FILE... continues a run over files of lines: it prints the records
    that follow a saved state, of a stream that is not live.
"""
import json
import pathlib
import struct
import sys

from spec_packing import best_fit, first_fit, packing
from spec_permutation import Permutation


class Lane:
    """All records of a lane, what precedes each, and which partitions ended before which."""

    def __init__(self, case, number):
        sizes = case["partitions"][number::case["lanes"]]
        self.partitions = list(range(number, len(case["partitions"]), case["lanes"]))
        given = [0] * len(sizes)
        self.records = []
        self.before = []
        self.ends = {}
        turn = 0
        while True:
            self.before.append((turn, list(given)))
            for _ in sizes:
                if given[turn] < sizes[turn]:
                    break
                self.ends.setdefault(turn, len(self.records))
                turn = (turn + 1) % len(sizes)
            else:
                return
            self.records.append([self.partitions[turn], given[turn]])
            given[turn] += 1
            turn = (turn + 1) % len(sizes)

    def place(self, case, number, place):
        if case["window"] == 0:
            return self.records[place]
        first = place // case["window"] * case["window"]
        size = min(case["window"], len(self.records) - first)
        permutation = Permutation(size, case["seed"], first * case["lanes"] + number)
        return self.records[first + permutation.at(place - first)]

    def log(self, first, window):
        """The turn log of a window: what ended before it comes first, by partition."""
        records = self.records[first:first + window]
        ends = [(max(record - first, 0), partition) for partition, record in self.ends.items()
                if record < first + window]
        before = sorted(partition for partition, record in self.ends.items() if record < first)
        entries = [(0, partition) for partition in before] + [end for end in ends if end[1] not in before]
        if not entries:
            return {}
        data = b"".join(struct.pack("<qq", *record) for record in records)
        return {"log": "".join("%dx%d " % entry for entry in entries) + "%d=%08x" % (len(records), crc32c(data))}


def order(case):
    lanes = [Lane(case, number) for number in range(case["lanes"])]
    places = []
    while True:
        number, place = len(places) % case["lanes"], len(places) // case["lanes"]
        if place >= len(lanes[number].records):
            return places
        places.append(lanes[number].place(case, number, place))


def state(case):
    result = []
    for number in range(case["lanes"]):
        lane = Lane(case, number)
        place = -((number - case["position"]) // case["lanes"])
        first = place // case["window"] * case["window"]
        if place >= len(lane.records):
            first = len(lane.records)
        turn, given = lane.before[first]
        log = lane.log(first, case["window"]) if place > first else {}
        result.append({"lane": number, "from": first, "turn": turn, "cursors": [str(count) for count in given]} | log)
    return result


def lines(data, cursor):
    """The lines of a file from a cursor on."""
    for line in data[int(cursor or 0):].split(b"\n"):
        line = line[:-1] if line.endswith(b"\r") else line
        if line:
            yield line


def resume(text, files):
    """The records that follow a state of a run over files of lines, which are given as bytes."""
    state = json.loads(text)
    assert state["penstock_state"] == 2
    sampler = dict(word.split("=") for word in state["sampler"].split(" ") if "=" in word)
    lanes, window = int(sampler["lanes"]), int(sampler.get("window", 0))
    records, firsts, covers = [], [], []
    for lane in state["lanes"]:
        readers = [lines(data, cursor) for data, cursor in zip(files[lane["lane"]::lanes], lane["cursors"])]
        merged, turn, ended = [], lane["turn"], set()
        *entries, covered = lane.get("log", "0").split(" ")
        covered, _, checksum = covered.partition("=")
        while len(merged) < int(covered):
            told = {int(entry.split("x")[1]) for entry in entries if int(entry.split("x")[0]) <= len(merged)}
            if turn not in told:
                merged.append(next(readers[turn]))
            turn = (turn + 1) % len(readers)
        assert not checksum or crc32c(b"".join(merged)) == int(checksum, 16)
        while len(ended) < len(readers):
            record = next(readers[turn], None) if turn not in ended else None
            if record is None:
                ended.add(turn)
            else:
                merged.append(record)
            turn = (turn + 1) % len(readers)
        records.append(merged)
        firsts.append(lane["from"])
        covers.append(int(covered))
    place = state["epoch"] * int(sampler.get("epoch", 1 << 62)) + state["position"]
    while True:
        lane = place % lanes
        at, merged = place // lanes - firsts[lane], records[lane]
        if at >= len(merged):
            return
        if window > 0:
            cut = covers[lane]                  # the window that the state is in, which may be the lane's last one
            begin = cut + (at - cut) // window * window if at >= cut else 0
            size = cut if at < cut else min(window, len(merged) - begin)
            permutation = Permutation(size, int(sampler["seed"]),
                                      (firsts[lane] + begin) * lanes + lane)
            at = begin + permutation.at(at - begin)
        yield merged[at]
        place += 1


def live(case):
    """The records of a window with a turn log."""
    state, sizes = case["state"], case["partitions"]
    given = [int(cursor) for cursor in state["cursors"]]
    *entries, covered = state["log"].split(" ")
    assert int(covered) == case["window"]
    aside, records, turn = set(), [], state["turn"]
    while len(records) < case["window"]:
        for entry in entries:
            sign = "-" if "-" in entry else "+"
            record, partition = map(int, entry.split(sign))
            if record == len(records):
                aside = aside | {partition} if sign == "-" else aside - {partition}
        while turn in aside or given[turn] == sizes[turn]:
            turn = (turn + 1) % len(sizes)
        records.append([turn, given[turn]])
        given[turn] += 1
        turn = (turn + 1) % len(sizes)
    return records


def packed(case):
    """The tokens of the pieces of each sequence, and the cursor behind it."""
    method = {"best-fit": best_fit, "first-fit": first_fit}[case["method"]]
    count, window = len(case["documents"]), case["window"]
    pieces, cursors = [], []
    for first in range(0, count, window):
        end = min(count, first + window)
        run = packing(case["documents"][first:end], case["capacity"], window, method)
        for given, sequence in enumerate(run, 1):
            pieces.append([tokens for _, _, tokens in sequence])
            cursors.append("%d,%d:%d" % (given, end - first, first) if given < len(run) else "0,0:%d" % end)
    return pieces, cursors


def mixture(case):
    """The cursor behind each record of a partition."""
    sources = [sizes[case["partition"]::case["partitions"]] for sizes in case["sources"]]
    given = [[0] * len(sizes) for sizes in sources]
    turns = [0] * len(sources)
    weights, drawn = case["weights"], [0] * len(sources)
    cursors = []
    while True:
        draw = len(cursors)
        errors = [weight * max(draw, 1) - sum(weights) * count for weight, count in zip(weights, drawn)]
        source = max((s for s in range(len(sources)) if weights[s] > 0), key=lambda s: (errors[s], -s))
        drawn[source] += 1
        sizes, done, turn = sources[source], given[source], turns[source]
        for _ in sizes:
            if done[turn] < sizes[turn]:
                break
            turn = (turn + 1) % len(sizes)
        else:
            return cursors
        done[turn] += 1
        turns[source] = (turn + 1) % len(sizes)
        cursors.append(json.dumps([draw + 1] + [[turns[s]] + [str(count) for count in given[s]]
                                                for s in range(len(sources))], separators=(",", ":")))


def tars(case):
    """The shards of each partition."""
    shards = case["shards"]
    places = []
    for number in range(shards * case["passes"]):
        order = Permutation(shards, case["seed"], number // shards).at if "seed" in case else lambda place: place
        places.append(order(number % shards))
    return [places[partition::case["partitions"]] for partition in range(case["partitions"])]


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def spool(case):
    """The bytes of a spool, and the cursor behind each record."""
    data, cursors = b"", []
    for record in map(bytes.fromhex, case["records"]):
        length = struct.pack("<i", len(record))
        data += length + struct.pack("<I", crc32c(length + record)) + record
        cursors.append(str(len(data)))
    return data.hex(), cursors


def check_streams(vectors, check, budget_batches):
    for case in vectors["mixtures"]:
        check("mixture of streams", mixture(case), case["cursors"])
    for case in vectors["tars"]:
        check("shards of a stream", tars(case), case["order"])
    for case in vectors["spools"]:
        check("spool", spool(case), (case["bytes"], case["cursors"]))
    for case in vectors["orders"]:
        check("order of a stream", order(case), case["order"])
    for case in vectors["states"]:
        check("state of a stream", state(case), case["state"])
    for case in vectors["resumes"]:
        files = [text.encode() for text in case["files"]]
        check("stream that resumes", [line.decode() for line in resume(case["state"], files)], case["records"])
    for case in vectors["lives"]:
        check("live order of a stream", live(case), case["order"])
    for case in vectors["packed"]:
        check("packing of a stream", packed(case), (case["sequences"], case["cursors"]))
    for case in vectors["budgets"]:
        run = dict(case, chosen=list(range(len(case["lengths"]))), seed=0, tail="drop", drop_last=False)
        check("budget of a stream", [end - begin for begin, end in budget_batches(run, 0, 0)[1]], case["counts"])


if __name__ == "__main__":
    state_file, *names = map(pathlib.Path, sys.argv[1:])
    for record in resume(state_file.read_text(), [name.read_bytes() for name in names]):
        sys.stdout.buffer.write(record + b"\n")
