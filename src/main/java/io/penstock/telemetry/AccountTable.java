package io.penstock.telemetry;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Rows of one kind, a batch each, in an array that is allocated once; each row is written by one thread at a time.
 *
 * <pre>
 *   row   0        1 …
 *         NUMBER   the columns of the kind, each named by the table that has it
 * </pre>
 *
 * <p>A row is {@linkplain #open opened} before it is written, which takes its number away, and {@linkplain #close
 * closed} with the number of its batch when it is whole. Whoever reads it looks at that number before and after, and
 * leaves the row out if it changed meanwhile. So writers never wait, and cost some stores.
 */
abstract sealed class AccountTable permits MakingTable, CopyingTable, TakingTable {

    /** Rows: as many steps as a summary looks at, or so. */
    static final int ROWS = 8192;
    private static final int NUMBER = 0;
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private final int columns;
    final long[] values;

    /**
     * A table of nothing yet.
     *
     * @param columns how many a row has, its number included
     */
    AccountTable(int columns) {
        this.columns = columns;
        this.values = new long[ROWS * columns];
        for (int index = 0; index < ROWS; index++) {
            values[row(index) + NUMBER] = NOT_MEASURED;
        }
    }

    /** Where a row begins among the values. */
    final int row(int index) {
        return index * columns;
    }

    /** Begins to write a row, and gives where it begins. */
    final int open(int index) {
        int row = row(index);
        ELEMENT.setOpaque(values, row + NUMBER, NOT_MEASURED);
        VarHandle.storeStoreFence();
        return row;
    }

    final void close(int row, long sequence) {
        ELEMENT.setRelease(values, row + NUMBER, sequence);
    }

    /** Whether a row is whole and of a batch. */
    final boolean has(int index, long sequence) {
        return number(index) == sequence;
    }

    /** The batch that a row is of; {@link BatchAccount#NOT_MEASURED} while it is written. */
    final long number(int index) {
        return (long) ELEMENT.getAcquire(values, row(index) + NUMBER);
    }

    /** Writes one more value to a row that is whole, if it is still that batch's. */
    final void setIfOf(int index, long sequence, int column, long value) {
        if (has(index, sequence)) {
            ELEMENT.setOpaque(values, row(index) + column, value);
        }
    }
}
