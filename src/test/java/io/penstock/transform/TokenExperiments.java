// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.memory.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** Random token batches, and what comes of them token by token. */
final class TokenExperiments {
    private static final DType[] TOKEN_TYPES = {DType.U8, DType.U16, DType.U32, DType.I32, DType.I64};
    private static final DType[] ID_TYPES = {DType.I32, DType.I64};

    private final SplittableRandom random;

    TokenExperiments(long seed) {
        this.random = new SplittableRandom(seed);
    }

    List<Experiment> all() {
        List<Experiment> all = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            all.add(causalLm());
            all.add(documents());
        }
        return all;
    }

    private DType any(DType... dtypes) {
        return dtypes[random.nextInt(dtypes.length)];
    }

    /** Short, about a block, about a chunk of the kernels, and longer. */
    private int length() {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextInt(1, 5);
            case 1 -> random.nextInt(1, 70);
            case 2 -> random.nextInt(250, 270);
            case 3 -> 8192 + random.nextInt(-2, 3);
            case 4 -> random.nextInt(8192, 20_000);
            default -> random.nextInt(1, 1500);
        };
    }

    /** Tokens among which the separator is as frequent as a random frequency says, from none to all. */
    private Cells tokens(DType dtype, long count, long separator) {
        Cells tokens = Cells.random(dtype, count, random);
        int period = 1 << random.nextInt(14);
        for (long i = 0; i < count; i++) {
            if (random.nextInt(period) == 0) {
                tokens.set(i, separator);
            }
        }
        return tokens;
    }

    private DocumentSeparator separator(long token) {
        return random.nextBoolean() ? DocumentSeparator.endsWith(token) : DocumentSeparator.startsWith(token);
    }

    /** Whether token t of a row begins a document, for t from 1: the definition. */
    private static boolean begins(DocumentSeparator separator, Cells tokens, long rowStart, long t) {
        return separator != null && tokens.integer(
                rowStart + (separator.side() == DocumentSeparator.Side.END ? t - 1 : t)) == separator.token();
    }

    private Experiment causalLm() {
        DType type = any(TOKEN_TYPES);
        DType out = any(ID_TYPES);
        int batch = random.nextInt(1, 5);
        int length = length();
        DocumentSeparator separator = random.nextInt(3) == 0 ? null : separator(random.nextInt(100));
        long ignore = random.nextBoolean() ? -100 : random.nextInt(-5, 5);
        Cells tokens = tokens(type, (long) batch * (length + 1), separator == null ? 0 : separator.token());
        TreeSet<Integer> bounds = random.nextBoolean() ? null : bounds(batch * length);
        Cells ids = Cells.outputs(out, (long) batch * length);
        Cells labels = Cells.outputs(out, (long) batch * length);
        for (int row = 0; row < batch; row++) {
            for (int t = 0; t < length; t++) {
                int start = row * (length + 1);
                int i = row * length + t;
                boolean crosses = begins(separator, tokens, start, t + 1)
                        || bounds != null && t + 1 < length && bounds.contains(i + 1);
                ids.set(i, tokens.integer(start + t));
                labels.set(i, crosses ? ignore : tokens.integer(start + t + 1));
            }
        }
        var transform = new CausalLmTransform(type, out, length, separator, ignore);
        String name = "causal LM " + type + " " + out + " " + batch + "x" + length + " " + separator + " " + bounds;
        Cells cu = bounds == null ? Cells.inputs(DType.I32, 1) : cells(bounds);
        int part = random.nextInt(4);
        var experiment = new Experiment(name + " part " + part, (lab, at) -> transform.enqueue(lab.stream(),
                at.get("tokens"), batch, part == 1 ? 0 : at.get("input_ids"), part == 2 ? 0 : at.get("labels"),
                bounds == null ? 0 : at.get("cu_seqlens"), bounds == null ? 0 : bounds.size()));
        return experiment.input("tokens", tokens).input("cu_seqlens", cu)
                .output("input_ids", part == 1 ? Cells.outputs(out, (long) batch * length) : ids)
                .output("labels", part == 2 ? Cells.outputs(out, (long) batch * length) : labels);
    }

    /** Some positions from 0 to the count, both included, in order. */
    private TreeSet<Integer> bounds(int count) {
        TreeSet<Integer> bounds = new TreeSet<>();
        int wanted = random.nextInt(Math.min(count, 300) + 1);
        for (int i = 0; i < wanted; i++) {
            bounds.add(random.nextInt(count + 1));
        }
        if (random.nextBoolean()) {
            bounds.add(0);
            bounds.add(count);
        }
        return bounds;
    }

    private static Cells cells(TreeSet<Integer> bounds) {
        Cells cells = Cells.inputs(DType.I32, Math.max(1, bounds.size()));
        int k = 0;
        for (int bound : bounds) {
            cells.set(k++, bound);
        }
        return cells;
    }

    private Experiment documents() {
        DType type = any(TOKEN_TYPES);
        DType out = any(ID_TYPES);
        int batch = random.nextInt(4) == 0 ? random.nextInt(257, 600) : random.nextInt(1, 5);
        int length = batch > 5 ? random.nextInt(1, 60) : length();
        int stride = length + random.nextInt(3);
        DocumentSeparator separator = separator(random.nextInt(100));
        Cells tokens = tokens(type, (long) batch * stride, separator.token());
        Cells positions = Cells.outputs(out, (long) batch * length);
        Cells ids = Cells.outputs(out, (long) batch * length);
        Cells rows = Cells.outputs(DType.I32, 2L * batch);
        List<Integer> starts = new ArrayList<>();
        int longest = 0;
        for (int row = 0; row < batch; row++) {
            List<Integer> own = new ArrayList<>();
            for (int t = 0; t < length; t++) {
                if (t == 0 || begins(separator, tokens, (long) row * stride, t)) {
                    own.add(t);
                }
                positions.set((long) row * length + t, t - own.getLast());
                ids.set((long) row * length + t, own.size() - 1);
            }
            int rowLongest = 0;
            for (int k = 0; k < own.size(); k++) {
                rowLongest = Math.max(rowLongest, (k + 1 < own.size() ? own.get(k + 1) : length) - own.get(k));
                starts.add(row * length + own.get(k));
            }
            rows.set(2L * row, own.size()).set(2L * row + 1, rowLongest);
            longest = Math.max(longest, rowLongest);
        }
        int capacity = switch (random.nextInt(3)) {
            case 0 -> starts.size();
            case 1 -> random.nextInt(1, starts.size() + 1);
            default -> starts.size() + random.nextInt(2000);
        };
        Cells cu = Cells.outputs(DType.I32, capacity + 1L);
        for (int k = 0; k <= capacity; k++) {
            cu.set(k, k < capacity && k < starts.size() ? starts.get(k) : batch * length);
        }
        Cells totals = Cells.outputs(DType.I32, 2).set(0, starts.size()).set(1, longest);
        var transform = new DocumentTransform(type, out, length, stride, separator);
        return new Experiment("documents " + type + " " + out + " " + batch + "x" + length + " of " + stride + " "
                + separator + " into " + capacity, (lab, at) -> {
                    transform.enqueue(lab.stream(), at.get("tokens"), batch, at.get("position_ids"),
                            at.get("document_ids"), at.get("row_documents"));
                    transform.enqueueCuSeqlens(lab.stream(), at.get("tokens"), batch, at.get("row_documents"),
                            at.get("cu_seqlens"), capacity, at.get("totals"));
                }).input("tokens", tokens).output("position_ids", positions).output("document_ids", ids)
                .output("row_documents", rows).output("cu_seqlens", cu).output("totals", totals);
    }
}
