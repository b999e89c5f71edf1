// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A loader stage that converts token windows, as {@code CausalLm.narrow()} collates them, to a causal language model's
 * inputs and labels, by {@link CausalLmTransform} and {@link DocumentTransform}.
 *
 * {@snippet :
 * import io.penstock.transform.TokenStage.Output;
 *
 * TokenStage.of(DType.I64).documents(DocumentSeparator.endsWith(50256))
 *         .outputs(Output.INPUT_IDS, Output.LABELS, Output.POSITION_IDS);
 * }
 *
 * <p>The batch has a field {@code tokens [B, L + 1]} of any integer dtype, L the same in all batches. Each output is
 * {@code [B, L]}.
 */
public final class TokenStage implements DeviceStage {
    /** A field that the stage adds to the batch; the field's name is the constant's in lower case. */
    public enum Output {
        /** {@code input_ids[b, t] = tokens[b, t]}. */
        INPUT_IDS,
        /** {@code labels[b, t] = tokens[b, t + 1]}, or the ignore index if that token starts another document. */
        LABELS,
        /** {@code position_ids}: a token's distance from the start of its document, or of its row if later. */
        POSITION_IDS,
        /** {@code document_ids}: number of documents that start in the row before the token's. */
        DOCUMENT_IDS
    }

    private final DType ids;
    private final Set<Output> outputs;
    private final @Nullable DocumentSeparator separator;
    private final long ignoreIndex;

    private TokenStage(DType ids, Set<Output> outputs, @Nullable DocumentSeparator separator, long ignoreIndex) {
        this.ids = ids;
        this.outputs = outputs;
        this.separator = separator;
        this.ignoreIndex = ignoreIndex;
    }

    /**
     * A stage for input ids and labels, with each window one document.
     *
     * @param ids the dtype of all outputs, {@link DType#I32} or {@link DType#I64}
     * @return the stage
     * @throws IllegalArgumentException if the dtype is neither
     */
    public static TokenStage of(DType ids) {
        return new TokenStage(Arguments.oneOf("ids and labels", ids, DType.I32, DType.I64),
                EnumSet.of(Output.INPUT_IDS, Output.LABELS), null, CausalLmTransform.DEFAULT_IGNORE_INDEX);
    }

    /**
     * Sets the separator of windows with several documents: labels end with their document, positions restart in each.
     *
     * @param documentSeparator the token that separates documents
     * @return a new stage
     */
    public TokenStage documents(DocumentSeparator documentSeparator) {
        return new TokenStage(ids, outputs, documentSeparator, ignoreIndex);
    }

    /**
     * Sets the label used where the next token belongs to another document.
     *
     * @param index the label, {@value CausalLmTransform#DEFAULT_IGNORE_INDEX} by default
     * @return a new stage
     */
    public TokenStage ignoreIndex(long index) {
        return new TokenStage(ids, outputs, separator, index);
    }

    /**
     * Sets the outputs.
     *
     * @param first an output
     * @param more others
     * @return a new stage
     */
    public TokenStage outputs(Output first, Output... more) {
        return new TokenStage(ids, EnumSet.of(first, more), separator, ignoreIndex);
    }

    @Override
    public OpenStage open(Device device, SlabLayout fields) {
        return new Windows(fields);
    }

    @Override
    public String toString() {
        return "tokens to " + ids + " " + outputs + (separator == null ? "" : ", " + separator);
    }

    /** The open stage for windows of one dtype and length. */
    private final class Windows implements OpenStage {
        private final int tokens;
        private final SlabLayout layout;
        /** The outputs in the layout's order. */
        private final List<Output> order = List.copyOf(outputs);
        private final CausalLmTransform causalLm;
        private final DocumentTransform documents;

        Windows(SlabLayout fields) {
            tokens = fields.indexOf(TokenWindows.TOKENS);
            TensorSpec windows = fields.fields().get(tokens);
            if (windows.rank() != 2 || windows.dim(1) < 2 || !windows.dtype().isInteger()) {
                throw new IllegalArgumentException(
                        "found " + windows + ", expected integers [B, L + 1] with L of at least 1");
            }
            long length = windows.dim(1) - 1;
            layout = new SlabLayout(order.stream().map(output -> new TensorSpec(
                    output.name().toLowerCase(Locale.ROOT), ids, windows.dim(0), length)).toList());
            causalLm = new CausalLmTransform(windows.dtype(), ids, length, separator, ignoreIndex);
            documents = new DocumentTransform(windows.dtype(), ids, length, length + 1, separator);
        }

        @Override
        public SlabLayout outputs() {
            return layout;
        }

        @Override
        public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
            Arguments.sameInAllBatches(in, tokens, 1);
            long rows = in.dim(tokens, 0);
            for (int o = 0; o < order.size(); o++) {
                out.setDim(o, 0, rows);
            }
            long inputIds = address(out, Output.INPUT_IDS);
            long labels = address(out, Output.LABELS);
            if (inputIds != 0 || labels != 0) {
                causalLm.enqueue(stream, in.address(tokens), rows, inputIds, labels);
            }
            long positionIds = address(out, Output.POSITION_IDS);
            long documentIds = address(out, Output.DOCUMENT_IDS);
            if (positionIds != 0 || documentIds != 0) {
                documents.enqueue(stream, in.address(tokens), rows, positionIds, documentIds, 0);
            }
        }

        private long address(DeviceFields out, Output output) {
            int index = order.indexOf(output);
            return index < 0 ? 0 : out.address(index);
        }
    }
}
