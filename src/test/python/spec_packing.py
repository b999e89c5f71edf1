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

def batch_of(rows, s, documents):
    fields = {name: [] for name in ("input_ids", "labels", "position_ids", "document_ids", "loss_mask",
                                    "attention_mask", "cu_seqlens")}

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


# The vectors

METHODS = {"best-fit": best_fit, "first-fit": first_fit}


def check_packing(vectors, check):
    for case in vectors["packings"]:
        lengths = case["lengths"]
        found = packing(lengths, case["capacity"], case.get("window", len(lengths)), METHODS[case["method"]])
        check("sequences of %s of %s" % (case["capacity"], lengths),
              [[list(piece) for piece in sequence] for sequence in found], case["sequences"])
    for case in vectors["batches"]:
        lengths, s = case["lengths"], case["capacity"]
        documents = [list(range(1000 + sum(lengths[:d]), 1000 + sum(lengths[:d + 1]))) for d in range(len(lengths))]
        sequences = packing(lengths, s, len(lengths), best_fit)
        fields = batch_of([sequences[q] for q in case["sequences"]], s, documents)
        check("fields of %s" % case, sorted(fields), sorted(case["fields"]))
        for name, values in fields.items():
            check("%s of %s" % (name, case["sequences"]), values, case["fields"][name])
