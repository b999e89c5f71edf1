package io.penstock.format;

import io.penstock.codec.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.spill.DecodedSpill;
import io.penstock.io.spill.NativeBytes;
import java.io.IOException;

/** The JSON texts of rows, one behind the other, as they become a {@link ColumnBlock}. One thread's. */
public final class JsonRows implements AutoCloseable {

    /** What texts of rows that are decoded together may take: their offsets are {@code u32}. */
    private static final long MAX_BYTES = Integer.MAX_VALUE;

    private final DecodeLimit.Budget budget;
    private final Location file;
    private final String column;
    private final JsonText text = new JsonText();
    private final NativeBytes offsets = new NativeBytes();
    private final NativeBytes states = new NativeBytes();
    private long rowStart;
    private boolean isComplete = true;
    /** What was taken of the budget and is not in a copy yet. */
    private long taken;

    /**
     * No row yet.
     *
     * @param file what the rows are of, for messages
     * @param column the name of their column
     * @param budget what the texts are taken of
     */
    public JsonRows(Location file, String column, DecodeLimit.Budget budget) {
        this.file = file;
        this.column = column;
        this.budget = budget;
        offsets.putInt(0);
    }

    /**
     * A row begins.
     *
     * @return what its value is appended to
     */
    public JsonText begin() {
        text.begin();
        rowStart = text.bytes().byteSize();
        return text;
    }

    /**
     * The row ends. Unless it has a value, what was appended is taken back; {@code null} is none.
     *
     * @param state one of {@link ColumnBlock#PRESENT}, {@link ColumnBlock#NULL} and {@link ColumnBlock#BAD}
     * @throws IOException if the rows take more than a block may, or than the budget has
     */
    public void end(byte state) throws IOException {
        byte kept = state == ColumnBlock.PRESENT && text.isNullFrom(rowStart) ? ColumnBlock.NULL : state;
        if (kept != ColumnBlock.PRESENT) {
            text.bytes().truncate(rowStart);
            isComplete = false;
        }
        if (text.bytes().byteSize() > MAX_BYTES) {
            throw new MalformedStoreException(file, "column '" + column + "': rows that are decoded together, whose"
                    + " JSON takes " + text.bytes().byteSize() + " bytes", "at most " + MAX_BYTES);
        }
        budget.take(text.bytes().byteSize() - rowStart);
        taken = text.bytes().byteSize();
        offsets.putInt((int) text.bytes().byteSize());
        states.put(kept);
    }

    /**
     * Puts the rows into a copy.
     *
     * @param copy takes them
     * @return the block
     * @throws IOException if there is no disk space
     */
    public ColumnBlock append(DecodedSpill copy) throws IOException {
        ColumnBlock block = ColumnBlock.append(copy, text.bytes().written(), 1, offsets.written(),
                isComplete ? null : states.written());
        taken = 0;
        return block;
    }

    /** Frees their memory, and gives back what was taken for rows that are in no copy. */
    @Override
    public void close() {
        budget.giveBack(taken);
        text.close();
        offsets.close();
        states.close();
    }
}
