# SPDX-License-Identifier: Apache-2.0
"""packing.md in plain Python, function by function along the page. Started by spec_check.py."""

from spec_permutation import ceil_div


# Pieces

def pieces_of(documents, lengths, s):
    """Pieces (document, first token, tokens) in the order of documents and, within a document, of j."""
    return [(d, j * s, min(lengths[d], (j + 1) * s) - j * s)
            for d in documents for j in range(ceil_div(lengths[d], s))]


# The methods: lists of a window's sequences

def room(sequence, s):
    return s - sum(tokens for _, _, tokens in sequence)


def best_fit(pieces, s):
    sequences = []
    last = []  # when a piece went to each of the sequences for the last time
    for time, piece in enumerate(sorted(pieces, key=lambda piece: -piece[2])):
        fitting = [q for q, sequence in enumerate(sequences) if room(sequence, s) >= piece[2]]
        if fitting:
            q = min(fitting, key=lambda q: (room(sequences[q], s), -last[q]))
        else:
            q = len(sequences)
            sequences.append([])
            last.append(None)
        sequences[q].append(piece)
        last[q] = time
    return sequences


def first_fit(pieces, s):
    sequences = []
    for piece in pieces:
        fitting = [sequence for sequence in sequences if room(sequence, s) >= piece[2]]
        if not fitting:
            sequences.append([])
            fitting = sequences[-1:]
        fitting[0].append(piece)
    return sequences


# Sequences

def packing(lengths, s, window, method):
    sequences = []
    for begin in range(0, len(lengths), window):
        documents = range(begin, min(len(lengths), begin + window))
        for sequence in method(pieces_of(documents, lengths, s), s):
            sequences.append(sorted(sequence))
    return sequences


# Batches

def values_of(rows, s, documents):
    """The values of all fields, by name."""
    fields = {name: [] for name in ("input_ids", "labels", "position_ids", "document_ids", "loss_mask", "cu_seqlens",
                                    "max_seqlen", "attention_mask")}

    def column(token, label, position, document, loss, mask):
        for name, value in (("input_ids", token), ("labels", label), ("position_ids", position),
                            ("document_ids", document), ("loss_mask", loss)):
            fields[name].append(value)
        fields["attention_mask"] += mask

    for b, row in enumerate(rows):
        c = 0
        for i, (d, first_token, length) in enumerate(row):
            fields["cu_seqlens"].append(b * s + c)
            for t in range(length):
                at = first_token + t
                follows = at + 1 < len(documents[d])
                column(documents[d][at], documents[d][at + 1] if follows else -100, t, i + 1, int(follows),
                       [int(c <= k <= c + t) for k in range(s)])
            c += length
        if c < s:
            fields["cu_seqlens"].append(b * s + c)
            for t in range(s - c):
                column(0, -100, t, 0, 0, [0] * s)
    fields["cu_seqlens"].append(len(rows) * s)
    ends = fields["cu_seqlens"]
    fields["max_seqlen"] = [max(end - begin for begin, end in zip(ends, ends[1:]))]
    return fields


def batch_of(case, wanted):
    lengths, s, width = case["lengths"], case["capacity"], case["width"]
    documents = [list(range(1000 + sum(lengths[:d]), 1000 + sum(lengths[:d + 1]))) for d in range(len(lengths))]
    sequences = packing(lengths, s, len(lengths), best_fit)
    rows = [sequences[q] for q in case["sequences"]]
    ids = case["stored"] if width == "store" else width
    most = max(len(sequence) for sequence in sequences)
    fields = []
    for name, values in values_of(rows, s, documents).items():
        dtype = {"input_ids": ids, "labels": ids, "loss_mask": "bool", "attention_mask": "bool"}.get(name, "i32")
        shape = {"cu_seqlens": [len(values)], "max_seqlen": [], "attention_mask": [len(rows), s, s]}.get(
            name, [len(rows), s])
        greatest = [len(rows) * (most + 1) + 1] if name == "cu_seqlens" else shape
        if name in wanted:
            fields.append({"name": name, "dtype": dtype, "greatest": greatest, "shape": shape, "values": values})
    return fields


# The vectors

METHODS = {"best-fit": best_fit, "first-fit": first_fit}


def check_packing(vectors, check):
    for case in vectors["packings"]:
        lengths = case["lengths"]
        found = packing(lengths, case["capacity"], case.get("window", len(lengths)), METHODS[case["method"]])
        check("sequences of %s of %s" % (case["capacity"], lengths),
              [[list(piece) for piece in sequence] for sequence in found], case["sequences"])
    for case in vectors["batches"]:
        wanted = [field["name"] for field in case["fields"]]
        check("batch of %s" % {name: value for name, value in case.items() if name != "fields"},
              batch_of(case, wanted), case["fields"])
