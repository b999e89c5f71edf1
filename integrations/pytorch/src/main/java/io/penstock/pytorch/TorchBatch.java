// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.loader.Batch;
import io.penstock.memory.DType;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.StringOptional;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * A batch's fields as torch's tensors, in the memory of the loader's slot, until {@link #close}. Using a tensor
 * afterwards is an error, and so is using a view of it: {@link TorchBatches} says which.
 *
 * <p>Under {@link io.penstock.loader.LeaseMode#REUSED} a slot has one such object with its tensors for all batches.
 * What was kept of one that is closed throws until the slot is lent again; then it is that later batch's.
 *
 * <p>Of the thread that took it, as the engine's batch.
 */
public final class TorchBatch implements AutoCloseable {

    private final String loader;
    private final StringOptional closed;
    private final TensorMaker[] makers;
    private final SlotTensor[] tensors;
    /** Null while the batch is closed. */
    private @Nullable Batch batch;

    TorchBatch(String loader, StringOptional closed, TensorMaker[] makers) {
        this.loader = loader;
        this.closed = closed;
        this.makers = makers;
        this.tensors = new SlotTensor[makers.length];
        for (int field = 0; field < makers.length; field++) {
            tensors[field] = new SlotTensor();
        }
    }

    /** Takes a batch over; if that fails, the caller still has it. */
    void lend(Batch taken) {
        try {
            for (int field = 0; field < makers.length; field++) {
                makers[field].lend(tensors[field], taken);
            }
        } catch (Throwable t) {
            release();
            throw t;
        }
        batch = taken;
    }

    boolean isOpen() {
        return batch != null;
    }

    /**
     * A field as a tensor, of torch's type of the same name, row-major. Torch computes little in some types: it has
     * {@code to(…)} for all, and hardly more for {@code u16}, {@code u32}, {@code u64} and the 8-bit floats.
     *
     * @param field the field's name
     * @return the tensor, which the batch frees; closing it does nothing
     * @throws IllegalArgumentException if there is no such field
     * @throws IllegalStateException if the batch is closed
     */
    public Tensor get(String field) {
        batch();
        return tensors[indexOf(field)];
    }

    /**
     * A field whose values are indices, such as tokens or labels, as a tensor that torch indexes with.
     *
     * @param field the field's name
     * @return the tensor, {@code i32} or {@code i64}, which the batch frees
     * @throws IllegalArgumentException if there is no such field, or torch does not index with its dtype; the message
     *     says what makes it so
     * @throws IllegalStateException if the batch is closed
     */
    public Tensor indices(String field) {
        Tensor tensor = get(field);
        DType dtype = makers[indexOf(field)].dtype();
        if (dtype != DType.I32 && dtype != DType.I64) {
            throw new IllegalArgumentException("field " + field + ": found " + dtype + ", which torch does not index"
                    + " with, expected i32 or i64: let the loader make it, by onDevice(TokenStage.of(DType.I64)), a"
                    + " collator for i32 or i64, or a CastTransform; or convert each batch by to()");
        }
        return tensor;
    }

    private int indexOf(String field) {
        for (int i = 0; i < makers.length; i++) {
            if (makers[i].name().equals(field)) {
                return i;
            }
        }
        throw new IllegalArgumentException("no field '" + field + "' in batches of loader '" + loader + "', only "
                + fields());
    }

    /** {@return the fields' names, in their order} */
    public List<String> fields() {
        List<String> names = new ArrayList<>();
        for (TensorMaker maker : makers) {
            names.add(maker.name());
        }
        return names;
    }

    /**
     * The engine's batch: samples, positions, valid rows, the tensors for Java.
     *
     * @return the batch, which ends with this
     * @throws IllegalStateException if the batch is closed
     */
    public Batch batch() {
        Batch open = batch;
        if (open == null) {
            throw new IllegalStateException("the batch of loader '" + loader + "' is closed");
        }
        return open;
    }

    /**
     * Frees the tensors, takes the memory from what is left of their views, and returns the slot. Calling it again does
     * nothing.
     *
     * @throws WrongThreadException if the batch belongs to another thread; it stays lent, without tensors
     */
    @Override
    public void close() {
        Batch open = batch;
        if (open != null) {
            release();
            open.close();
            batch = null;
        }
    }

    private void release() {
        for (SlotTensor tensor : tensors) {
            tensor.release(closed);
        }
    }

    /** For example {@code TorchBatch[input_ids, labels]}. */
    @Override
    public String toString() {
        return "TorchBatch" + fields() + (isOpen() ? "" : ", closed");
    }
}
