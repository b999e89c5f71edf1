// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.publish.NativeBytes;
import java.io.IOException;

/** Collects the JSON texts of rows for a {@link ColumnBlock}. For one thread. */
public final class JsonRows implements AutoCloseable {

    /** The most that a block's texts may take: their offsets are {@code u32}. */
    private static final long MAX_BYTES = Integer.MAX_VALUE;

    private final DecodeLimit.Budget budget;
    private final Location file;
    private final String column;
    private final JsonText text = new JsonText();
    private final NativeBytes offsets = new NativeBytes();
    private final NativeBytes states = new NativeBytes();
    private long rowStart;
    private boolean isComplete = true;
    /** The bytes taken from the budget that are not in a copy yet. */
    private long taken;

    public JsonRows(Location file, String column, DecodeLimit.Budget budget) {
        this.file = file;
        this.column = column;
        this.budget = budget;
        offsets.putInt(0);
    }

    public JsonText begin() {
        text.begin();
        rowStart = text.bytes().byteSize();
        return text;
    }

    /** Ends the row. Without a value, discards what was appended; {@code null} is no value. */
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

    public ColumnBlock append(ColumnBlock.Copy copy) throws IOException {
        ColumnBlock block = ColumnBlock.append(copy, text.bytes().written(), 1, offsets.written(),
                isComplete ? null : states.written());
        taken = 0;
        return block;
    }

    /** Frees the memory, and returns the budget of rows that are in no copy. */
    @Override
    public void close() {
        budget.giveBack(taken);
        text.close();
        offsets.close();
        states.close();
    }
}
