# SPDX-License-Identifier: Apache-2.0
"""edits.md and ledger.md in plain Python, along the pages. Started by spec_check.py."""

import base64
import hashlib
import json
import struct

from spec_mixtures import Proportions, fingerprint, order, positions, samples, whole_weights
from spec_permutation import WRAP, Permutation, ceil_div, first
from spec_samplers import seed_of_epoch


# Text

def numbers_of(packed, sources):
    """The changes that a text of feedback has: epoch, position, weights."""
    data = base64.b64decode(packed, validate=True)
    at = epoch = position = 0

    def group():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    while at < len(data):
        epochs, more = group(), group()
        position = position + more if epochs == 0 else more
        epoch += epochs
        yield epoch, position, list(data[at:at + sources])
        at += sources


def read_edits(state):
    """Each edit as kind, epoch, position and its members."""
    edits = []
    for edit in state.get("edits", []):
        if "feedback" in edit:
            edits += [(6, a, p, [float(w) for w in weights]) for a, p, weights in
                      numbers_of(edit["feedback"], edit["sources"])]
        else:
            kind, name = next((kind, name) for kind, name in
                              enumerate(("excise", "excise_samples", "repeat", "until", "weights"), 1) if name in edit)
            edits.append((kind, edit["at"][0], edit["at"][1], edit[name]))
    return edits


def write_edits(edits):
    texts = []
    i = 0
    while i < len(edits):
        kind, a, p, members = edits[i]
        if kind < 6:
            name = ("excise", "excise_samples", "repeat", "until", "weights")[kind - 1]
            texts.append('{"%s":%s,"at":[%d,%d]}' % (name, json.dumps(members, separators=(",", ":")), a, p))
            i += 1
            continue
        data = b""
        epoch = position = 0
        begin = i
        while i < len(edits) and edits[i][0] == 6 and len(edits[i][3]) == len(members) and (
                i == begin or edits[i][1:3] >= edits[i - 1][1:3]):
            _, a, p, weights = edits[i]
            for number in (a - epoch, p - position if a == epoch else p):
                while number >= 0x80:
                    data += bytes([number & 0x7F | 0x80])
                    number >>= 7
                data += bytes([number])
            data += bytes(int(w) for w in weights)
            epoch, position = a, p
            i += 1
        texts.append('{"feedback":"%s","sources":%d}' % (base64.b64encode(data).decode(), len(members)))
    return "[" + ",".join(texts) + "]"


# Fingerprint

def edited_fingerprint(base, edits):
    digest = bytes(32)
    for kind, a, p, members in edits:
        numbers = b"".join(struct.pack("<d", w) if kind >= 5 else struct.pack("<q", w) for w in members)
        digest = hashlib.sha256(digest + struct.pack("<qqq", kind, a, p) + numbers).digest()
    return "%s edits=%d:%s" % (base, len(edits), digest.hex()[:16])


# Weights

class Drawn:
    """The samples of a mixture whose weights change. It looks at every draw before a change."""

    def __init__(self, base, changes):
        self.base = base
        self.n = base["size"]
        self.changes = sorted(changes, key=lambda change: change[1:3])      # stable: the last one made counts
        self.numbers = {}
        self.rests = {}

    def change(self, epoch, position):
        found = [c for c, change in enumerate(self.changes) if (change[1], change[2]) <= (epoch, position)]
        return found[-1] if found else None

    def draw(self, epoch, position):
        """The source of a draw, and its number among those of the source."""
        at = epoch * self.n + position
        if at not in self.numbers:
            self.numbers[at] = self.find(epoch, position)
        return self.numbers[at]

    def find(self, epoch, position):
        c = self.change(epoch, position)
        if c is None:
            return self.original(epoch, position)
        _, a, p, given = self.changes[c]
        weights = given + [0.0] * (len(self.base["sources"]) - len(given))
        if c not in self.rests:
            used = [set() for _ in weights]
            for before in range(a * self.n + p):
                s, k = self.draw(before // self.n, before % self.n)
                used[s].add(k)
            self.rests[c] = Proportions(weights), used
        proportions, used = self.rests[c]
        i = (epoch - a) * self.n + position - p
        if "seed" in self.base:
            total = proportions.total
            key = (first((seed_of_epoch(self.base["seed"], a) + 0x52455745494748) & WRAP) + p) & WRAP
            b = ceil_div(1024, total) * total
            i = i // b * b + Permutation(b, key, i // b).at(i % b)
        s, r = proportions.draw(i)
        k = 0
        while True:
            if k not in used[s]:
                if r == 0:
                    return s, k
                r -= 1
            k += 1

    def original(self, epoch, position):
        from spec_mixtures import mixture
        mixed = mixture(self.base, epoch)
        f = max(f for f, begin in enumerate(mixed.firsts) if begin <= position)
        i = position - mixed.firsts[f]
        if mixed.seed is not None:
            i = mixed.by_chance(f, i)
        s, r = mixed.proportions[f].draw(i)
        of_epoch = sum(mixed.count(phase, s) for phase in range(len(mixed.firsts)))
        return s, epoch * of_epoch + sum(mixed.count(earlier, s) for earlier in range(f)) + r

    def at(self, epoch, position):
        s, k = self.draw(epoch, position)
        source = self.base["sources"][s]
        n = positions(source)
        return sum(samples(each) for each in self.base["sources"][:s]) + order(source, k // n)(k % n)


# Places

class Edited:
    def __init__(self, base, edits):
        self.n = base["size"]
        self.edits = edits
        changes = [edit for edit in edits if edit[0] >= 5]
        self.drawn = Drawn(base, changes) if changes else None
        self.base = base

    def sample(self, epoch, position):
        if position < self.n:
            return self.drawn.at(epoch, position) if self.drawn else order(self.base, epoch)(position)
        for begin, end, _, (x, start, _) in self.repeats(epoch):
            if position < end:
                return self.sample(x, start + position - begin)
        raise ValueError(position)

    def repeats(self, epoch):
        """The repeats of an epoch: the positions that each adds, the spot's position, its members."""
        n = self.n
        for kind, a, p, members in self.edits:
            if kind == 3 and a == epoch:
                end = n + members[2] - members[1]
                yield n, end, p, members
                n = end

    def place(self, listed, epoch, position):
        while True:
            if position == 0:
                return 0
            if position in listed:
                return listed.index(position)
            if position < self.n:
                later = [p for p in listed if position < p < self.n]
                return listed.index(min(later)) if later else len(listed)
            repeats = list(self.repeats(epoch))
            mine = next((r for r, (begin, end, _, _) in enumerate(repeats) if begin <= position < end), None)
            if mine is None:
                return len(listed)

            def spot(r):
                return None if repeats[r][2] >= repeats[r][0] else repeats[r][2]

            group = mine
            while group + 1 < len(repeats) and spot(group + 1) == spot(mine):
                group += 1
            later = [p for p in listed if position < p < repeats[group][1]]
            if later:
                return listed.index(min(later))
            if spot(mine) is None:
                return len(listed)
            position = spot(mine)

    def list(self, epoch):
        listed = list(range(self.n))
        n = self.n
        until = None
        left_out = []
        for kind, a, p, members in self.edits:
            if kind == 4:
                until = members
            if a > epoch or kind >= 4:
                continue
            i = 0 if a < epoch else self.place(listed, epoch, p)
            if kind == 1 and members[0] == epoch:
                listed[i:] = [q for q in listed[i:] if not members[1] <= q < members[2]]
            elif kind == 2:
                left_out.append(members)
                listed[i:] = [q for q in listed[i:] if not members[0] <= self.sample(epoch, q) < members[1]]
            elif kind == 3 and a == epoch:
                added = range(n, n + members[2] - members[1])
                listed[i:i] = [q for q in added if not any(begin <= self.sample(epoch, q) < end
                                                           for begin, end in left_out)]
                n = added.stop
        if until is not None:
            u, q = until
            if epoch == u:
                listed = listed[:self.place(listed, epoch, q)] if q > 0 else []
            elif epoch > u:
                listed = []
        return listed


# Streams

def stream_index(window, seed, lanes, place):
    """The index of the record at a place, if windows are full and no lane has ended."""
    lane, record = place % lanes, place // lanes
    if window > 0:
        begin = record // window * window
        record = begin + Permutation(window, seed, begin * lanes + lane).at(record - begin)
    return record * lanes + lane


def check_stream(case, check):
    what = " of the stream %s" % case["text"]
    state = json.loads(case["text"])
    edits = read_edits(state)
    base = "stream" + (" window=%d seed=%d" % (case["window"], case["seed"]) if case["window"] else "") + " lanes=1"
    check("sampler" + what, edited_fingerprint(base, edits), state["sampler"])
    index = lambda place: stream_index(case["window"], case["seed"], case["lanes"], place)
    listed = list(range(state["position"] + 200))
    for kind, _, p, members in edits:
        if kind == 1:
            listed = [q for q in listed if q < p or not members[1] <= q < members[2]]
        else:
            listed = [q for q in listed if q < p or not members[0] <= index(q) < members[1]]
    rest = [q for q in listed if q >= state["position"]][:len(case["positions"])]
    check("positions" + what, rest, case["positions"])
    check("samples" + what, [index(q) for q in rest], case["samples"])


def check_stream_weights(case, check):
    what = " of the mixed stream %s" % case["text"]
    state = json.loads(case["text"])
    changes = [(0, case["weights"])] + [(p, weights) for _, _, p, weights in
                                        sorted(read_edits(state), key=lambda edit: edit[1:3])]
    given = [0] * len(case["weights"])
    records = []
    for draw in range(state["position"] + 200):
        begin, weights = [change for change in changes if change[0] <= draw][-1]
        source, _ = Proportions(weights).draw(draw - begin)
        records.append(given[source])
        given[source] += 1
    places = range(state["position"], state["position"] + len(case["records"]))
    check("records" + what, [records[stream_index(case["window"], case["seed"], 1, place)] for place in places],
          case["records"])


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def whole_feedback(weights):
    greatest = max(weights)
    return [0 if w == 0 else max(1, round(w / greatest * 255)) for w in weights]


def check_edits(vectors, check):
    for case in vectors["orders"]:
        what = " of %s in epoch %d" % (case["text"], case["epoch"])
        state = json.loads(case["text"])
        edits = read_edits(state)
        base = case["base"]
        check("version" + what, state["penstock_state"], 3 if edits else 1)
        if not edits:
            continue
        check("sampler" + what, edited_fingerprint(fingerprint(base), edits), state["sampler"])
        check("edits" + what, '"edits":' + write_edits(edits) in case["text"], True)
        run = Edited(base, edits)
        listed = run.list(case["epoch"])
        check("positions" + what, listed, case["positions"])
        check("samples" + what, [run.sample(case["epoch"], q) for q in listed], case["samples"])
        for position, place in case["places"]:
            check("place of %d" % position + what, run.place(listed, case["epoch"], position), place)
    for case in vectors["streams"]:
        check_stream(case, check)
    for case in vectors["stream_weights"]:
        check_stream_weights(case, check)
    for case in vectors["feedback"]:
        check("feedback of %s" % case["weights"], whole_feedback(case["weights"]), case["whole"])


# ledger.md

def order_digest(state):
    return hashlib.sha256((state["sampler"] + "\0" + state["dataset"]).encode("utf-8")).digest()[:8]


def row_digest(rows):
    h = 0
    for position, sample in rows:
        h = first(first(h ^ position) ^ sample)
    return h


def read_ledger(data):
    """The runs of a file, the chain at its end, and how many bytes are records."""
    runs, chain, digest = [], bytes(16), None
    at = 0
    while at + 64 <= len(data):
        record = data[at:at + 64]
        end, text = at + 64, b""
        is_start = struct.unpack_from("<q", record)[0] == -1
        if is_start:
            version, rank, world, tail, zero, length, place = struct.unpack_from("<iiiiiiq", record, 8)
            end += ceil_div(length, 64) * 64
            text = data[at + 64:at + 64 + length]
            if version != 1 or end > len(data):
                break
        before = data[at - 24:at - 16] if at > 0 else bytes(8)
        if hashlib.sha256(before + record[:40] + record[48:] + text).digest()[:8] != record[40:48]:
            break
        if is_start:
            chain = record[48:]
            state = json.loads(text)
            digest = order_digest(state)
            if zero not in (0, 1):
                raise ValueError("flags %d at byte %d" % (zero, at))
            runs.append({"rank": rank, "world": world, "tail": tail, "place": place, "state": state, "steps": []})
        elif struct.unpack_from("<q", record)[0] == -2:
            length, crc = struct.unpack_from("<qI", record, 8)
            if chain != record[48:]:
                raise ValueError("another chain at byte %d" % at)
            runs[-1]["steps"][-1]["content"] = (length, crc)
        else:
            position, epoch, place, rows, valid, row = struct.unpack_from("<qqqIiQ", record)
            chain = hashlib.sha256(chain + struct.pack("<qqq", epoch, place, (rows & 0x7FFFFFFF) * runs[-1]["world"])
                                   + digest).digest()[:16]
            if chain != record[48:]:
                raise ValueError("the chain does not follow at byte %d" % at)
            runs[-1]["steps"].append({"position": position, "epoch": epoch, "place": place, "rows": rows & 0x7FFFFFFF,
                                      "last": rows >> 31 == 1, "valid": valid, "digest": row})
        at = end
    return runs, chain.hex(), at


def check_ledger(vectors, check):
    for case in vectors["files"]:
        runs, chain, size = read_ledger(bytes.fromhex(case["hex"]))
        check("bytes of a ledger", size, case["bytes"])
        check("chain of a ledger", chain, case["chain"])
        for run in case["runs"]:
            for step in run["steps"]:
                step["digest"] = row_digest(zip(step.pop("positions"), step.pop("samples")))
                if "content" in step:
                    data = bytes.fromhex(step["content"])
                    step["content"] = (len(data), crc32c(data))
        check("runs of a ledger", runs, case["runs"])
