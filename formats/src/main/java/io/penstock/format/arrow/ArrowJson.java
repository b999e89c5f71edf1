// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.format.MissingValue;
import io.penstock.format.table.ColumnBlock;
import io.penstock.format.table.DecodedOnce;
import io.penstock.format.table.JsonRows;
import io.penstock.format.table.JsonText;
import io.penstock.internal.PrefixSums;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A column whose values are given as JSON. Some rows of a batch are a block, written when one of them is first located,
 * then read from that copy. A row that cannot be written does not affect the others.
 */
final class ArrowJson implements ArrowColumn {

    private static final int BLOCK_BITS = 10;
    private static final long BLOCK_ROWS = 1 << BLOCK_BITS;

    private final ArrowShape shape;
    private final DecodedBuffers decoded;
    private final List<ArrowArrays> batches = new ArrayList<>();
    /** The dictionaries of its own arrays. */
    private final List<ArrowDictionary<ArrowJson>> own;
    private RowIndex index;
    /** The number of each batch's first block. */
    private PrefixSums batchBlocks;
    private DecodedOnce<ColumnBlock> blocks;

    @SuppressWarnings("NullAway.Init") // what freeze sets
    ArrowJson(ArrowShape shape, DecodedBuffers decoded) {
        this.shape = shape;
        this.decoded = decoded;
        this.own = shape.root().indexed().map(node ->
                new ArrowDictionary<>(new ArrowJson(Objects.requireNonNull(node.values()), decoded))).toList();
    }

    @Override
    public ArrowShape shape() {
        return shape;
    }

    @Override
    public List<ArrowDictionary<?>> dictionaries() {
        List<ArrowDictionary<?>> all = new ArrayList<>();
        for (ArrowDictionary<ArrowJson> dictionary : own) {
            all.add(dictionary);
            all.addAll(dictionary.values().dictionaries());
        }
        return all;
    }

    @Override
    public void add(ArrowBatch batch) {
        batches.add(new ArrowArrays(shape, batch, decoded, own, null));
    }

    @Override
    public @Nullable String refusal() {
        return null;
    }

    @Override
    public boolean isConverted() {
        return true;
    }

    @Override
    public void freeze(RowIndex rows) {
        freezeValues(rows);
        batchBlocks = PrefixSums.ofLengths(batches.size(),
                batch -> Math.ceilDiv(rows.batches().length(batch), BLOCK_ROWS));
        blocks = new DecodedOnce<>(Math.toIntExact(batchBlocks.total()), block -> fileOf(batchBlocks.runOf(block)),
                this::write);
    }

    /** Values of a dictionary are written with the values that refer to them, not as blocks. */
    private void freezeValues(RowIndex rows) {
        index = rows;
        own.forEach(dictionary -> dictionary.values().freezeValues(dictionary.index()));
    }

    private ColumnBlock write(int block) throws IOException {
        int batch = batchBlocks.runOf(block);
        long first = (block - batchBlocks.start(batch)) << BLOCK_BITS;
        long end = Math.min(first + BLOCK_ROWS, index.batches().length(batch));
        try (JsonRows rows = new JsonRows(fileOf(batch).location(), shape.name(), decoded.textBudget())) {
            ArrowJsonWriter writer = writer(batch);
            for (long row = first; row < end; row++) {
                JsonText text = rows.begin();
                byte state = writer.isNull(row) ? ColumnBlock.NULL : ColumnBlock.PRESENT;
                if (state == ColumnBlock.PRESENT) {
                    try {
                        writer.append(row, text);
                    } catch (CodecException | IndexOutOfBoundsException _) {
                        state = ColumnBlock.BAD;
                    }
                }
                rows.end(state);
            }
            return rows.append(decoded.texts()::append);
        }
    }

    private ArrowJsonWriter writer(int batch) {
        return new ArrowJsonWriter(shape, batches.get(batch), own);
    }

    /** Appends a dictionary's value; {@code writers} has the writers of the batches used so far. */
    void append(long row, @Nullable ArrowJsonWriter[] writers, JsonText text) {
        int batch = index.batch(row);
        ArrowJsonWriter writer = writers[batch];
        if (writer == null) {
            writer = writer(batch);
            writers[batch] = writer;
        }
        writer.append(row - index.start(batch), text);
    }

    int batches() {
        return batches.size();
    }

    private MappedFile fileOf(int batch) {
        return batches.get(batch).file();
    }

    private ColumnBlock block(int batch, long inBatch) {
        return blocks.get((int) (batchBlocks.start(batch) + (inBatch >> BLOCK_BITS)));
    }

    @Override
    public boolean isPresent(long row) {
        int batch = index.batch(row);
        long inBatch = row - index.start(batch);
        try {
            return block(batch, inBatch).state(inBatch & BLOCK_ROWS - 1) == ColumnBlock.PRESENT;
        } catch (UncheckedIOException | PenstockException _) {
            return true;
        }
    }

    @Override
    public void locate(long row, Span into) {
        int batch = index.batch(row);
        long inBatch = row - index.start(batch);
        ColumnBlock block = block(batch, inBatch);
        byte state = block.state(inBatch & BLOCK_ROWS - 1);
        if (state != ColumnBlock.PRESENT) {
            throw new MalformedStoreException(fileOf(batch).location(), "row "
                    + index.inStore(row)
                    + " of column '" + shape.name() + "', row " + inBatch + " of its batch: "
                    + (state == ColumnBlock.NULL ? "no value: it is null" : reason(batch, inBatch)),
                    MissingValue.EXPECTED);
        }
        block.locate(inBatch & BLOCK_ROWS - 1, into);
    }

    /** Returns why a row cannot be written. */
    private String reason(int batch, long row) {
        try (JsonText text = new JsonText()) {
            writer(batch).append(row, text);
            return "a value that cannot be written";
        } catch (IndexOutOfBoundsException e) {
            return "a value that points outside its arrays: " + e.getMessage();
        } catch (CodecException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
