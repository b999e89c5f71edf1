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


def by_turns(sizes):
    """The lane that gives each place, of lanes of so many records."""
    given, turn = [0] * len(sizes), 0
    while given != sizes:
        if given[turn] < sizes[turn]:
            given[turn] += 1
            yield turn
        turn = (turn + 1) % len(sizes)


def order(case):
    lanes = [Lane(case, number) for number in range(case["lanes"])]
    given, places = [0] * len(lanes), []
    for number in by_turns([len(lane.records) for lane in lanes]):
        places.append(lanes[number].place(case, number, given[number]))
        given[number] += 1
    return places


def state(case):
    result = []
    lanes = [Lane(case, number) for number in range(case["lanes"])]
    turns = list(by_turns([len(lane.records) for lane in lanes]))[:case["position"]]
    whose = (turns[-1] + 1) % case["lanes"] if turns else 0
    for number, lane in enumerate(lanes):
        place = turns.count(number)
        at = {"place": place, "after": (number - whose) % case["lanes"]}
        if at == {"place": -((number - case["position"]) // case["lanes"]),
                  "after": (number - case["position"]) % case["lanes"]}:
            at = {}
        first = place // case["window"] * case["window"]
        if place >= len(lane.records):
            first = len(lane.records)
        turn, given = lane.before[first]
        log = lane.log(first, case["window"]) if place > first else {}
        result.append({"lane": number} | at | {"from": first, "turn": turn, "cursors": [str(count) for count in given]} | log)
    return result


class Lines:
    """The lines of a file, and the cursor behind those that were read."""

    def __init__(self, text):
        self.data, self.cursor, self.is_cut = text.encode(), 0, False

    def __next__(self):
        while self.cursor < len(self.data):
            feed = self.data.find(b"\n", self.cursor)
            self.is_cut |= feed < 0
            end, behind = (feed, feed + 1) if feed >= 0 else (len(self.data), len(self.data))
            line = self.data[self.cursor:end]
            self.cursor = behind
            line = line[:-1] if line.endswith(b"\r") else line
            if line:
                return line
        return None


def line_states(case):
    """The states of a run over files of lines, behind each batch."""
    readers = [Lines(text) for text in case["files"]]
    windows, ended, turn, is_over = [], [], 0, False
    starts = [(0, 0, [reader.cursor for reader in readers])]
    while not is_over:
        entries, records, behind = [(0, partition) for partition in sorted(ended)], [], turn
        while len(records) < case["window"] and not is_over:
            record = next(readers[turn]) if turn not in ended else None
            if record is not None:
                records.append(record)
            elif turn not in ended:
                ended.append(turn)
                entries.append((len(records), turn))
            is_over = len(ended) == len(readers)
            turn = (turn + 1) % len(readers)
            behind = turn if record is not None else behind
        if records:
            log = "".join("%dx%d " % entry for entry in entries)
            if log or any(reader.is_cut for reader in readers):
                log += "%d=%08x" % (len(records), crc32c(b"".join(records)))
            windows.append((len(records), log))
            starts.append((starts[-1][0] + len(records), behind, [reader.cursor for reader in readers]))
    states, count = [], starts[-1][0]
    for place in range(case["batch_size"], count + case["batch_size"], case["batch_size"]):
        place = min(place, count)
        number = max(n for n, start in enumerate(starts) if start[0] <= place)
        first, turn, cursors = starts[number]
        states.append({"lane": 0, "from": first, "turn": turn, "cursors": [str(cursor) for cursor in cursors]}
                      | ({"log": windows[number][1]} if place > first and windows[number][1] else {}))
    return states


def ends(case):
    """The batches of each rank, and the position behind them."""
    count, world, size, tail = case["records"], case["world"], case["batch_size"], case["tail"]
    steps = count // world if tail == "drop" else -(-count // world)
    if case["drop_last"]:
        steps = steps // size * size
    ranks = []
    for rank in range(world):
        batches = []
        for first in range(0, steps, size):
            positions = [step * world + rank for step in range(first, min(steps, first + size))]
            begins = [position - rank for position in positions]
            batches.append({"places": [position if position < count else begin + rank % (count - begin)
                                       for position, begin in zip(positions, begins)],
                            "valid": sum(tail != "exact" or position < count for position in positions)})
        ranks.append(batches)
    return ranks, min(count, steps * world)


def lines(data, cursor):
    """The lines of a file from a cursor on."""
    for line in data[int(cursor or 0):].split(b"\n"):
        line = line[:-1] if line.endswith(b"\r") else line
        if line:
            yield line


def resume(text, files):
    """The records that follow a state of a run over files of lines, which are given as bytes; None if it fails."""
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
                merged.append(next(readers[turn], b""))
            turn = (turn + 1) % len(readers)
        if checksum and crc32c(b"".join(merged)) != int(checksum, 16):
            return None
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
    given = [lane.get("place", -((number - place) // lanes)) for number, lane in enumerate(state["lanes"])]
    first = state["lanes"][0]
    turn, following = -first.get("after", -place % lanes) % lanes, []
    while any(given[lane] - firsts[lane] < len(records[lane]) for lane in range(lanes)):
        lane = turn
        turn = (turn + 1) % lanes
        at, merged = given[lane] - firsts[lane], records[lane]
        if at >= len(merged):
            continue
        if window > 0:
            cut = covers[lane]                  # the window that the state is in, which may be the lane's last one
            begin = cut + (at - cut) // window * window if at >= cut else 0
            size = cut if at < cut else min(window, len(merged) - begin)
            permutation = Permutation(size, int(sampler["seed"]),
                                      (firsts[lane] + begin) * lanes + lane)
            at = begin + permutation.at(at - begin)
        following.append(merged[at])
        given[lane] += 1
    return following


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
    for case in vectors["ends"]:
        check("end of a stream", ends(case), (case["ranks"], case["position"]))
    for case in vectors["lines"]:
        check("state of lines", line_states(case), case["states"])
    for case in vectors["orders"]:
        check("order of a stream", order(case), case["order"])
    for case in vectors["states"]:
        check("state of a stream", state(case), case["state"])
    for case in vectors["resumes"]:
        files = [text.encode() for text in case["files"]]
        found = resume(case["state"], files)
        check("stream that resumes", found and [line.decode() for line in found],
              case["records"])
    for case in vectors["lives"]:
        check("live order of a stream", live(case), case["order"])
    for case in vectors["packed"]:
        check("packing of a stream", packed(case), (case["sequences"], case["cursors"]))
    for case in vectors["budgets"]:
        count, world = len(case["lengths"]), case["world"]
        chosen = list(range(count))
        while case["tail"] != "drop" and len(chosen) % world:
            step = count // world * world
            chosen.append(step + len(chosen) % world % (count - step))
        run = dict(case, chosen=chosen, seed=0, tail="drop", drop_last=False)
        check("budget of a stream", [end - begin for begin, end in budget_batches(run, 0, 0)[1]], case["counts"])


if __name__ == "__main__":
    state_file, *names = map(pathlib.Path, sys.argv[1:])
    following = resume(state_file.read_text(), [name.read_bytes() for name in names])
    if following is None:
        sys.exit("found other records than those that the saved state has read")
    for record in following:
        sys.stdout.buffer.write(record + b"\n")
