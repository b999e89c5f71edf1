// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import io.penstock.collate.PoisonedSlab.Field;
import io.penstock.memory.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** The fields of a packed batch, token by token from their definitions. */
final class PackedSlabReference {

    private PackedSlabReference() {
    }

    /** A row's pieces: the tokens of each, and one more where its document goes on behind a full row. */
    record Row(List<List<Long>> pieces) {
    }

    static List<Field> fields(List<Row> rows, int capacity, DType ids, Set<PackedLm.Field> wanted) {
        List<Long> input = new ArrayList<>();
        List<Long> labels = new ArrayList<>();
        List<Long> positions = new ArrayList<>();
        List<Long> documents = new ArrayList<>();
        List<Long> lossMask = new ArrayList<>();
        List<Long> starts = new ArrayList<>();
        for (Row row : rows) {
            long id = 0;
            int left = capacity;
            for (List<Long> piece : row.pieces) {
                int length = Math.min(capacity, piece.size());
                starts.add((long) input.size());
                id++;
                for (int i = 0; i < length; i++) {
                    boolean followed = i + 1 < piece.size();
                    input.add(piece.get(i));
                    labels.add(followed ? piece.get(i + 1) : -100L);
                    positions.add((long) i);
                    documents.add(id);
                    lossMask.add(followed ? 1L : 0L);
                }
                left -= length;
            }
            if (left > 0) {
                starts.add((long) input.size());
            }
            for (int i = 0; i < left; i++) {
                input.add(0L);
                labels.add(-100L);
                positions.add((long) i);
                documents.add(0L);
                lossMask.add(0L);
            }
        }
        starts.add((long) input.size());
        long longest = 0;
        for (int i = 1; i < starts.size(); i++) {
            longest = Math.max(longest, starts.get(i) - starts.get(i - 1));
        }
        List<Long> shape = List.of((long) rows.size(), (long) capacity);
        List<Field> fields = new ArrayList<>();
        fields.add(Field.of("input_ids", ids, shape, input));
        if (wanted.contains(PackedLm.Field.LABELS)) {
            fields.add(Field.of("labels", ids, shape, labels));
        }
        if (wanted.contains(PackedLm.Field.POSITION_IDS)) {
            fields.add(Field.of("position_ids", DType.I32, shape, positions));
        }
        if (wanted.contains(PackedLm.Field.DOCUMENT_IDS)) {
            fields.add(Field.of("document_ids", DType.I32, shape, documents));
        }
        if (wanted.contains(PackedLm.Field.LOSS_MASK)) {
            fields.add(Field.of("loss_mask", DType.BOOL, shape, lossMask));
        }
        if (wanted.contains(PackedLm.Field.CU_SEQLENS)) {
            fields.add(Field.of("cu_seqlens", DType.I32, List.of((long) starts.size()), starts));
            fields.add(Field.of("max_seqlen", DType.I32, List.of(), List.of(longest)));
        }
        if (wanted.contains(PackedLm.Field.ATTENTION_MASK)) {
            List<Long> mask = new ArrayList<>();
            for (int t = 0; t < input.size(); t++) {
                for (int k = 0; k < capacity; k++) {
                    int key = t / capacity * capacity + k;
                    mask.add(key <= t && documents.get(t) > 0 && documents.get(t).equals(documents.get(key)) ? 1L : 0L);
                }
            }
            fields.add(Field.of("attention_mask", DType.BOOL,
                    List.of((long) rows.size(), (long) capacity, (long) capacity), mask));
        }
        if (wanted.contains(PackedLm.Field.LENGTHS)) {
            List<Long> lengths = new ArrayList<>();
            for (Row row : rows) {
                lengths.add(row.pieces.stream().mapToLong(piece -> Math.min(capacity, piece.size())).sum());
            }
            fields.add(Field.of("lengths", DType.I32, List.of((long) rows.size()), lengths));
        }
        if (wanted.contains(PackedLm.Field.LOSS_BITS)) {
            int rowBytes = (capacity + 7) / 8;
            List<Long> bits = new ArrayList<>();
            for (Row row : rows) {
                long[] bytes = new long[rowBytes];
                long tokens = row.pieces.stream().mapToLong(piece -> Math.min(capacity, piece.size())).sum();
                for (int t = 0; t < tokens; t++) {
                    bytes[t / 8] += 1L << t % 8;
                }
                Arrays.stream(bytes).forEach(bits::add);
            }
            fields.add(Field.of("loss_bits", DType.U8, List.of((long) rows.size(), (long) rowBytes), bits));
        }
        return fields;
    }
}
