// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A loader stage that makes of a packed batch, which is copied narrow, what a language model takes.
 *
 * {@snippet :
 * import io.penstock.transform.PackedTokens.Result;
 *
 * PackedTokens.of(DType.I64).outputs(Result.INPUT_IDS, Result.LABELS, Result.POSITION_IDS);
 * }
 *
 * <p>The batch has B rows of S tokens. Each row has sequences side by side and then, if it is not full, padding:
 *
 * <ul>
 *   <li>{@code input_ids [B, S]}, any integer dtype: the tokens. The output of that name replaces it;
 *   <li>{@code cu_seqlens i32[N + 1]}: the start of each sequence and of each row's padding in the flattened rows, in
 *       ascending order, then B · S; more entries of B · S may follow;
 *   <li>{@code lengths i32[B]}: the number of tokens before each row's padding;
 *   <li>{@code loss_bits u8[B, (S + 7) / 8]}, if the batch has it: bit {@code t % 8} (0 is the lowest) of byte
 *       {@code t / 8} is 1 if the model is trained to give token t of the row. Without it, it is trained on all.
 * </ul>
 *
 * <p>{@code PackedLm} with its fields {@code CU_SEQLENS}, {@code LENGTHS} and {@code LOSS_BITS} collates these.
 */
public final class PackedTokens implements DeviceStage {
    /** A field that the stage adds to the batch; the field's name is the constant's in lower case. */
    public enum Result {
        /** {@code [B, S]}: the tokens, padding included. */
        INPUT_IDS,
        /**
         * {@code [B, S]}: the next token of the same sequence; the ignore index where there is none, where its loss bit
         * is 0, and in padding.
         */
        LABELS,
        /** {@code [B, S]}: tokens since the sequence's first one; padding counts from 0 as well. */
        POSITION_IDS,
        /** {@code [B, S]}: 1 in the row's first sequence, 2 in its second, and so on; 0 in padding. */
        DOCUMENT_IDS,
        /** {@code bool [B, S]}: 1 for tokens, 0 in padding. */
        PADDING_MASK,
        /** {@code bool [B, S, S]}: 1 at {@code [b, q, k]} if q and k are of one sequence and {@code k <= q}. */
        ATTENTION_MASK
    }

    private final DType ids;
    private final Set<Result> outputs;
    private final long ignoreIndex;

    private PackedTokens(DType ids, Set<Result> outputs, long ignoreIndex) {
        this.ids = ids;
        this.outputs = outputs;
        this.ignoreIndex = ignoreIndex;
    }

    /**
     * A stage for input ids, labels, position ids and document ids.
     *
     * @param ids the dtype of all four, {@link DType#I32} or {@link DType#I64}
     * @return the stage
     * @throws IllegalArgumentException if the dtype is neither
     */
    public static PackedTokens of(DType ids) {
        return new PackedTokens(Arguments.oneOf("ids and labels", ids, DType.I32, DType.I64),
                EnumSet.range(Result.INPUT_IDS, Result.DOCUMENT_IDS), CausalLmTransform.DEFAULT_IGNORE_INDEX);
    }

    /**
     * Sets the label where the model is not trained.
     *
     * @param index the label, {@value CausalLmTransform#DEFAULT_IGNORE_INDEX} by default
     * @return a new stage
     */
    public PackedTokens ignoreIndex(long index) {
        return new PackedTokens(ids, outputs, index);
    }

    /**
     * Sets the outputs.
     *
     * @param first an output
     * @param more others
     * @return a new stage
     */
    public PackedTokens outputs(Result first, Result... more) {
        return new PackedTokens(ids, EnumSet.of(first, more), ignoreIndex);
    }

    @Override
    public OpenStage open(Device device, SlabLayout fields) {
        return new Rows(fields);
    }

    @Override
    public String toString() {
        return "packed tokens to " + ids + " " + outputs;
    }

    /** The open stage for rows of one dtype and length. */
    private final class Rows implements OpenStage {
        private final int tokens;
        private final int cuSeqlens;
        private final int lengths;
        private final int lossBits;
        private final long length;
        private final SlabLayout layout;
        private final List<Result> order = List.copyOf(EnumSet.copyOf(outputs));
        private final MemorySegment arguments = PackedKernels.PACKED.newArguments();
        private final MemorySegment maskArguments = PackedKernels.ATTENTION.newArguments();

        Rows(SlabLayout fields) {
            tokens = fields.indexOf("input_ids");
            TensorSpec rows = fields.fields().get(tokens);
            if (rows.rank() != 2 || rows.dim(1) < 1 || !rows.dtype().isInteger()) {
                throw new IllegalArgumentException("found " + rows + ", expected integers [B, S]");
            }
            length = rows.dim(1);
            Arguments.count31("tokens", rows.dim(0), length);
            cuSeqlens = fields.indexOf("cu_seqlens");
            TensorSpec starts = fields.fields().get(cuSeqlens);
            if (starts.rank() != 1 || starts.dim(0) < 2 || starts.dtype() != DType.I32) {
                throw new IllegalArgumentException("found " + starts + ", expected i32 [N + 1] with N of at least 1");
            }
            lengths = fields.indexOf("lengths");
            expect(fields.fields().get(lengths), new TensorSpec("lengths", DType.I32, rows.dim(0)));
            boolean isMasked = fields.fields().stream().anyMatch(field -> field.name().equals("loss_bits"));
            lossBits = isMasked ? fields.indexOf("loss_bits") : -1;
            if (isMasked) {
                expect(fields.fields().get(lossBits),
                        new TensorSpec("loss_bits", DType.U8, rows.dim(0), (length + 7) / 8));
            }
            layout = new SlabLayout(order.stream().map(output -> spec(output, rows.dim(0))).toList());
            PackedKernels.TOKEN_TYPE.set(arguments, rows.dtype());
            PackedKernels.LENGTH.set(arguments, length);
            PackedKernels.OUT_TYPE.set(arguments, ids);
            PackedKernels.IGNORE_INDEX.set(arguments, ignoreIndex);
            PackedKernels.MASK_LENGTH.set(maskArguments, length);
        }

        private static void expect(TensorSpec found, TensorSpec expected) {
            if (!found.equals(expected)) {
                throw new IllegalArgumentException("found " + found + ", expected " + expected);
            }
        }

        private TensorSpec spec(Result output, long batch) {
            String name = output.name().toLowerCase(Locale.ROOT);
            return switch (output) {
                case ATTENTION_MASK -> new TensorSpec(name, DType.BOOL, batch, length, length);
                case PADDING_MASK -> new TensorSpec(name, DType.BOOL, batch, length);
                default -> new TensorSpec(name, ids, batch, length);
            };
        }

        @Override
        public SlabLayout outputs() {
            return layout;
        }

        /** The starts are checked where the host still has them. */
        @Override
        public boolean readsHost() {
            return true;
        }

        @Override
        public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
            Arguments.sameInAllBatches(in, tokens, 1);
            long batch = in.dim(tokens, 0);
            check(in, batch);
            for (int o = 0; o < order.size(); o++) {
                out.setDim(o, 0, batch);
            }
            PackedKernels.TOKENS.set(arguments, in.address(tokens));
            PackedKernels.BATCH.set(arguments, batch);
            PackedKernels.CU_SEQLENS.set(arguments, in.address(cuSeqlens));
            PackedKernels.CU_COUNT.set(arguments, in.dim(cuSeqlens, 0));
            PackedKernels.LENGTHS.set(arguments, in.address(lengths));
            PackedKernels.LOSS_BITS.set(arguments, lossBits < 0 ? 0 : in.address(lossBits));
            set(PackedKernels.INPUT_IDS, out, Result.INPUT_IDS);
            set(PackedKernels.LABELS, out, Result.LABELS);
            set(PackedKernels.POSITION_IDS, out, Result.POSITION_IDS);
            set(PackedKernels.DOCUMENT_IDS, out, Result.DOCUMENT_IDS);
            set(PackedKernels.PADDING_MASK, out, Result.PADDING_MASK);
            stream.launch(PackedKernels.PACKED, Kernel.blocksForItems(batch * length), arguments);
            if (order.contains(Result.ATTENTION_MASK)) {
                PackedKernels.MASK_BATCH.set(maskArguments, batch);
                PackedKernels.MASK_CU_SEQLENS.set(maskArguments, in.address(cuSeqlens));
                PackedKernels.MASK_CU_COUNT.set(maskArguments, in.dim(cuSeqlens, 0));
                PackedKernels.MASK_LENGTHS.set(maskArguments, in.address(lengths));
                PackedKernels.MASK.set(maskArguments, out.address(order.indexOf(Result.ATTENTION_MASK)));
                stream.launch(PackedKernels.ATTENTION, Kernel.blocks(batch * length), maskArguments);
            }
        }

        private void set(Word word, DeviceFields out, Result output) {
            int index = order.indexOf(output);
            word.set(arguments, index < 0 ? 0 : out.address(index));
        }

        /** Requires ascending starts with one at each row and each padding. Does not see starts that a stage wrote. */
        private void check(DeviceFields in, long batch) {
            long starts = in.hostAddress(cuSeqlens);
            long used = in.hostAddress(lengths);
            if (starts == 0 || used == 0) {
                return;
            }
            long count = in.dim(cuSeqlens, 0);
            long end = batch * length;
            for (long k = 0; k < count; k++) {
                long start = CuSeqlens.at(starts, k);
                long before = k == 0 ? -1 : CuSeqlens.at(starts, k - 1);
                if (k == 0 && start != 0 || start > end || start <= before && start != end) {
                    throw new IllegalArgumentException("cu_seqlens[" + k + "]: " + start + (k == 0 ? ", expected 0"
                            : ", expected more than " + before + " and at most " + end));
                }
            }
            for (long row = 0; row < batch; row++) {
                long filled = CuSeqlens.at(used, row);
                if (filled < 0 || filled > length) {
                    throw new IllegalArgumentException(
                            "lengths[" + row + "]: " + filled + ", expected 0 to " + length);
                }
                requireStart(starts, count, row * length, row);
                requireStart(starts, count, row * length + filled, row);
            }
            requireStart(starts, count, end, batch);
        }

        private static void requireStart(long starts, long count, long position, long row) {
            long upto = CuSeqlens.notAbove(starts, count, position);
            if (upto == 0 || CuSeqlens.at(starts, upto - 1) != position) {
                throw new IllegalArgumentException("cu_seqlens: no entry " + position
                        + ", expected one where row " + row + " begins, and where its padding begins");
            }
        }
    }
}
