package io.penstock.format.arrow;

import io.penstock.format.ColumnBlock;
import io.penstock.format.ColumnBlocks;
import io.penstock.format.JsonRows;
import io.penstock.format.JsonText;
import io.penstock.format.UnwritableException;
import io.penstock.internal.PrefixSums;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A column whose values are given as JSON. Some rows of a batch are a block, which is written when one of them is
 * located for the first time; from then on a look-up is a read of that copy. A row that cannot be written leaves the
 * others as they are.
 */
final class ArrowJson implements ArrowColumn {

    private static final int BLOCK_BITS = 10;
    private static final long BLOCK_ROWS = 1 << BLOCK_BITS;

    private final ArrowTree tree;
    private final DecodedBuffers decoded;
    private final List<ArrowArrays> batches = new ArrayList<>();
    private final Longs starts = new Longs();
    /** The dictionaries of its own arrays, and for each the values. */
    private final List<ArrowDictionary> own;
    private final List<ArrowJson> values;
    private RowIndex index;
    /** The number of each batch's first block. */
    private PrefixSums batchBlocks;
    private ColumnBlocks blocks;

    ArrowJson(ArrowTree tree, DecodedBuffers decoded) {
        this.tree = tree;
        this.decoded = decoded;
        this.values = tree.dictionaries().stream().map(node -> node.values().open(decoded)).toList();
        this.own = values.stream().map(ArrowDictionary::new).toList();
        starts.add(0);
    }

    @Override
    public ArrowTree shape() {
        return tree;
    }

    @Override
    public List<ArrowDictionary> dictionaries() {
        List<ArrowDictionary> all = new ArrayList<>();
        for (int d = 0; d < own.size(); d++) {
            all.add(own.get(d));
            all.addAll(values.get(d).dictionaries());
        }
        return all;
    }

    ArrowTree tree() {
        return tree;
    }

    @Override
    public void add(ArrowBatch batch) throws MalformedStoreException {
        if (batch.rows() > Long.MAX_VALUE - starts.last()) {
            throw batch.malformed(batch.rows() + " rows behind " + starts.last(), "fewer");
        }
        batches.add(new ArrowArrays(tree, batch, decoded, own));
        starts.add(starts.last() + batch.rows());
    }

    @Override
    public long rows() {
        return starts.last();
    }

    @Override
    public long[] starts() {
        return starts.toArray();
    }

    @Override
    public String refusal() {
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
                batch -> Math.ceilDiv(rows.start(batch + 1) - rows.start(batch), BLOCK_ROWS));
        blocks = new ColumnBlocks(Math.toIntExact(batchBlocks.total()), this::write);
    }

    /** The values of a dictionary are written with what refers to them, not as blocks of their own. */
    private void freezeValues(RowIndex rows) {
        index = rows;
        values.forEach(column -> column.freezeValues(new RowIndex(column.starts())));
    }

    private ColumnBlock write(int block) throws IOException {
        int batch = batchBlocks.runOf(block);
        long first = (block - batchBlocks.start(batch)) << BLOCK_BITS;
        long end = Math.min(first + BLOCK_ROWS, index.start(batch + 1) - index.start(batch));
        try (JsonRows rows = new JsonRows(fileOf(batch).location(), tree.name(), decoded.textBudget())) {
            ArrowJsonWriter writer = writer(batch);
            for (long row = first; row < end; row++) {
                JsonText text = rows.begin();
                byte state = writer.isNull(row) ? ColumnBlock.NULL : ColumnBlock.PRESENT;
                if (state == ColumnBlock.PRESENT) {
                    try {
                        writer.append(row, text);
                    } catch (UnwritableException | IndexOutOfBoundsException _) {
                        state = ColumnBlock.BAD;
                    }
                }
                rows.end(state);
            }
            return rows.append(decoded.texts());
        }
    }

    /** A writer of one batch's values. */
    private ArrowJsonWriter writer(int batch) {
        return new ArrowJsonWriter(tree, batches.get(batch), values, own);
    }

    /** Appends a row, as the values of a dictionary are; {@code writers} has those of the batches that were used. */
    void append(long row, ArrowJsonWriter[] writers, JsonText text) throws UnwritableException {
        int batch = index.batch(row);
        if (writers[batch] == null) {
            writers[batch] = writer(batch);
        }
        long inBatch = row - index.start(batch);
        if (writers[batch].isNull(inBatch)) {
            text.nothing();
        } else {
            writers[batch].append(inBatch, text);
        }
    }

    int batches() {
        return batches.size();
    }

    private MappedFile fileOf(int batch) {
        return batches.get(batch).file();
    }

    private ColumnBlock block(int batch, long inBatch) {
        return blocks.get((int) (batchBlocks.start(batch) + (inBatch >> BLOCK_BITS)), fileOf(batch));
    }

    @Override
    public boolean isPresent(long row) {
        int batch = index.batch(row);
        long inBatch = row - index.start(batch);
        try {
            return block(batch, inBatch).state(inBatch & BLOCK_ROWS - 1) == ColumnBlock.PRESENT;
        } catch (UncheckedIOException _) {
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
            throw new UncheckedIOException(new MalformedStoreException(fileOf(batch).location(), "row " + row
                    + " of column '" + tree.name() + "', row " + inBatch + " of its batch: "
                    + (state == ColumnBlock.NULL ? "no value: it is null" : reason(batch, inBatch)), "a value"));
        }
        block.locate(inBatch & BLOCK_ROWS - 1, into);
    }

    /** Why a row cannot be written. */
    private String reason(int batch, long row) {
        try (JsonText text = new JsonText()) {
            writer(batch).append(row, text);
            return "a value that cannot be written";
        } catch (IndexOutOfBoundsException e) {
            return "a value that points out of its arrays: " + e.getMessage();
        } catch (UnwritableException e) {
            return e.getMessage();
        }
    }
}
