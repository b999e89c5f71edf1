package io.penstock.telemetry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A running total with one writer; any thread may read a recent value. */
final class Counter {

    private static final VarHandle TOTAL;

    static {
        try {
            TOTAL = MethodHandles.lookup().findVarHandle(Counter.class, "total", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // through TOTAL
    private long total;

    void add(long amount) {
        TOTAL.setOpaque(this, (long) TOTAL.getOpaque(this) + amount);
    }

    long get() {
        return (long) TOTAL.getOpaque(this);
    }
}
