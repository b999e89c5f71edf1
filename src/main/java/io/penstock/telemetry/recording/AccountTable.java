// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.BatchAccount;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One table of batch accounts, a row per batch, in an array allocated once; one thread at a time writes a row.
 *
 * <pre>
 *   row   0        1 …
 *         NUMBER   the table's own columns
 * </pre>
 *
 * <p>{@link #open} clears a row's batch number before the row is written; {@link #close} sets it when the row is
 * complete. A reader checks the number before and after, and skips the row if it changed. So writers never wait, and
 * pay only a few stores.
 */
abstract sealed class AccountTable permits MakingTable, CopyingTable, TakingTable, DeviceTable {

    /** Rows: about as many steps as a summary covers. */
    static final int ROWS = 8192;
    private static final int NUMBER = 0;
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private final int columns;
    final long[] values;

    /** Columns include the number. */
    AccountTable(int columns) {
        this.columns = columns;
        this.values = new long[ROWS * columns];
        for (int index = 0; index < ROWS; index++) {
            values[row(index) + NUMBER] = NOT_MEASURED;
        }
    }

    /** The index of a row's first value. */
    final int row(int index) {
        return index * columns;
    }

    /** Starts writing a row and returns the index of its first value. */
    final int open(int index) {
        int row = row(index);
        ELEMENT.setOpaque(values, row + NUMBER, NOT_MEASURED);
        VarHandle.storeStoreFence();
        return row;
    }

    final void close(int row, long sequence) {
        ELEMENT.setRelease(values, row + NUMBER, sequence);
    }

    /** Whether a row is complete and belongs to a batch. */
    final boolean has(int index, long sequence) {
        return number(index) == sequence;
    }

    /** The row's batch; {@link BatchAccount#NOT_MEASURED} while it is written. */
    final long number(int index) {
        return (long) ELEMENT.getAcquire(values, row(index) + NUMBER);
    }

    /** Adds a value to a complete row if it still belongs to that batch. */
    final void setIfOf(int index, long sequence, int column, long value) {
        if (has(index, sequence)) {
            ELEMENT.setOpaque(values, row(index) + column, value);
        }
    }
}
