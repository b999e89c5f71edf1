package io.penstock.store.mapped;

import java.io.IOException;

/** The JSON texts of rows, one behind the other, as they become a {@link ColumnBlock}. One thread's. */
public final class JsonRows implements AutoCloseable {

    /** What texts of rows that are decoded together may take: their offsets are {@code u32}. */
    private static final long MAX_BYTES = Integer.MAX_VALUE;

    private final JsonText text = new JsonText();
    private final NativeBytes offsets = new NativeBytes();
    private final NativeBytes states = new NativeBytes();
    private long rowStart;
    private boolean isComplete = true;

    /** No row yet. */
    public JsonRows() {
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
     * @throws IOException if the rows take more than a block may
     */
    public void end(byte state) throws IOException {
        byte kept = state == ColumnBlock.PRESENT && text.isNullFrom(rowStart) ? ColumnBlock.NULL : state;
        if (kept != ColumnBlock.PRESENT) {
            text.bytes().truncate(rowStart);
            isComplete = false;
        }
        if (text.bytes().byteSize() > MAX_BYTES) {
            throw new IOException("rows that are decoded together, whose JSON takes more than " + MAX_BYTES
                    + " bytes");
        }
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
        return ColumnBlock.append(copy, text.bytes().written(), 1, offsets.written(),
                isComplete ? null : states.written());
    }

    /** Frees their memory. */
    @Override
    public void close() {
        text.close();
        offsets.close();
        states.close();
    }
}
