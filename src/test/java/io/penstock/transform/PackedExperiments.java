// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.PackedTokens.Result;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;

/** Random packed batches, and what comes of them by the number of each token's sequence. */
final class PackedExperiments {
    private final SplittableRandom random;

    PackedExperiments(long seed) {
        this.random = new SplittableRandom(seed);
    }

    List<Experiment> all() {
        List<Experiment> all = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            all.add(packed());
        }
        return all;
    }

    private Experiment packed() {
        DType type = new DType[] {DType.U16, DType.U32, DType.I32, DType.U8}[random.nextInt(4)];
        DType ids = random.nextBoolean() ? DType.I64 : DType.I32;
        int most = random.nextInt(1, 6);
        int batch = random.nextInt(1, most + 1);
        int length = random.nextInt(3) == 0 ? random.nextInt(1, 10) : random.nextInt(1, 400);
        int extra = random.nextInt(4);
        boolean isMasked = random.nextBoolean();
        long ignore = random.nextInt(-100, 5);
        // Of each token: the number of its sequence in the row, from 1, or 0 in padding.
        int[] sequences = new int[batch * length];
        List<Integer> starts = new ArrayList<>();
        Cells lengths = Cells.inputs(DType.I32, most);
        for (int row = 0; row < batch; row++) {
            int used = random.nextBoolean() ? length : random.nextInt(length + 1);
            int sequence = 0;
            for (int t = 0; t < length; t++) {
                if (t == 0 || t == used || t < used && random.nextInt(9) == 0) {
                    sequence++;
                    starts.add(row * length + t);
                }
                sequences[row * length + t] = t < used ? sequence : 0;
            }
            lengths.set(row, used);
        }
        int count = starts.size() + 1 + extra;
        Cells cu = Cells.inputs(DType.I32, (long) most * (length + 1) + 5);
        for (int k = 0; k < count; k++) {
            cu.set(k, k < starts.size() ? starts.get(k) : batch * length);
        }
        Cells tokens = Cells.random(type, (long) most * length, random);
        int rowBits = (length + 7) / 8;
        Cells bits = Cells.random(DType.U8, (long) most * rowBits, random);
        Set<Result> outputs = EnumSet.allOf(Result.class);
        outputs.removeIf(output -> random.nextInt(4) == 0);
        outputs.add(Result.LABELS);
        List<TensorSpec> fields = new ArrayList<>(List.of(new TensorSpec("lengths", DType.I32, most),
                new TensorSpec("input_ids", type, most, length),
                new TensorSpec("cu_seqlens", DType.I32, (long) most * (length + 1) + 5)));
        if (isMasked) {
            fields.add(new TensorSpec("loss_bits", DType.U8, most, rowBits));
        }
        var work = new StageWork(PackedTokens.of(ids).ignoreIndex(ignore).outputs(Result.LABELS,
                outputs.toArray(new Result[0])), batch, fields.toArray(new TensorSpec[0]))
                .shape("lengths", batch).shape("input_ids", batch, length).shape("cu_seqlens", count);
        var experiment = new Experiment("packed " + type + " " + ids + " " + batch + " of " + most + "x" + length + " "
                + outputs + (isMasked ? " masked " : " ") + Arrays.toString(sequences), work)
                .input("lengths", lengths).input("input_ids", tokens).input("cu_seqlens", cu);
        if (isMasked) {
            work.shape("loss_bits", batch, rowBits);
            experiment.input("loss_bits", bits);
        }
        for (Result output : outputs) {
            String name = output.name().toLowerCase(Locale.ROOT);
            boolean isSquare = output == Result.ATTENTION_MASK;
            DType dtype = isSquare || output == Result.PADDING_MASK ? DType.BOOL : ids;
            Cells cells = Cells.outputs(dtype, (long) most * length * (isSquare ? length : 1));
            for (int i = 0; i < batch * length; i++) {
                int row = i / length;
                int t = i % length;
                boolean hasNext = t + 1 < length && sequences[i] != 0 && sequences[i + 1] == sequences[i];
                boolean isTrained = hasNext && (!isMasked
                        || (bits.integer((long) row * rowBits + (t + 1) / 8) & 1 << (t + 1) % 8) != 0);
                int position = 0;
                while (position < t && sequences[i - position - 1] == sequences[i]) {
                    position++;
                }
                switch (output) {
                    case INPUT_IDS -> cells.set(i, tokens.integer(i));
                    case LABELS -> cells.set(i, isTrained ? tokens.integer(i + 1) : ignore);
                    case POSITION_IDS -> cells.set(i, position);
                    case DOCUMENT_IDS -> cells.set(i, sequences[i]);
                    case PADDING_MASK -> cells.set(i, sequences[i] == 0 ? 0 : 1);
                    case ATTENTION_MASK -> {
                        for (int key = 0; key < length; key++) {
                            boolean isSeen = key <= t && sequences[i] != 0
                                    && sequences[row * length + key] == sequences[i];
                            cells.set((long) i * length + key, isSeen ? 1 : 0);
                        }
                    }
                }
            }
            work.expect(name, isSquare ? new long[] {batch, length, length} : new long[] {batch, length});
            experiment.output(StageWork.OUT + name, cells);
        }
        return experiment;
    }
}
