// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What the calling thread has used so far: one call of a third of a microsecond gives time on a core, page faults,
 * bytes from storage and context switches ({@code getrusage(2)}, {@code RUSAGE_THREAD}).
 *
 * <p>For one platform thread: a virtual one would get its carrier's use. If the system has no such call, {@link
 * #AVAILABLE} is false and every number is 0.
 */
public final class ThreadUsage implements AutoCloseable {

    /** Whether the system has the call. */
    public static final boolean AVAILABLE = Posix.AVAILABLE;

    private static final int RUSAGE_THREAD = 1;
    /** Storage is counted in blocks of this size, whatever the device's size is. */
    private static final long BLOCK_BYTES = 512;
    private static final int NANOS_A_MICRO = 1_000;
    private static final long NANOS_A_SECOND = 1_000_000_000;

    /** {@code struct rusage} of 64-bit Linux. */
    private static final StructLayout RUSAGE = MemoryLayout.structLayout(
            JAVA_LONG.withName("utime_s"), JAVA_LONG.withName("utime_us"),
            JAVA_LONG.withName("stime_s"), JAVA_LONG.withName("stime_us"),
            JAVA_LONG.withName("maxrss"), JAVA_LONG.withName("ixrss"), JAVA_LONG.withName("idrss"),
            JAVA_LONG.withName("isrss"), JAVA_LONG.withName("minflt"), JAVA_LONG.withName("majflt"),
            JAVA_LONG.withName("nswap"), JAVA_LONG.withName("inblock"), JAVA_LONG.withName("oublock"),
            JAVA_LONG.withName("msgsnd"), JAVA_LONG.withName("msgrcv"), JAVA_LONG.withName("nsignals"),
            JAVA_LONG.withName("nvcsw"), JAVA_LONG.withName("nivcsw"));
    private static final long UTIME_S = offset("utime_s");
    private static final long UTIME_US = offset("utime_us");
    private static final long STIME_S = offset("stime_s");
    private static final long STIME_US = offset("stime_us");
    private static final long MAJFLT = offset("majflt");
    private static final long INBLOCK = offset("inblock");
    private static final long NVCSW = offset("nvcsw");
    private static final long NIVCSW = offset("nivcsw");

    /** Looked up on the first call, because only {@linkplain #AVAILABLE some} systems have it. */
    private static final class Call {
        static final MethodHandle GETRUSAGE = Posix.bind(Linker.nativeLinker(), "getrusage",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    }

    /** For the thread that opens it: time on a core, time waiting for one, turns; in nanoseconds, as text. */
    private static final Path SCHEDULE = Path.of("/proc/thread-self/schedstat");
    private static final int SCHEDULE_BYTES = 64;
    private static final int CLOSED = -1;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment usage = arena.allocate(RUSAGE);
    private final MemorySegment schedule = arena.allocate(SCHEDULE_BYTES);
    private int scheduleFile = CLOSED;
    /** The thread whose schedule was opened, or could not be. */
    private @Nullable Thread scheduled;

    public ThreadUsage() {
        // What it needs is allocated above.
    }

    private static long offset(String field) {
        return RUSAGE.byteOffset(PathElement.groupElement(field));
    }

    /** Makes the call; the other methods return its results. */
    public void read() {
        if (!AVAILABLE) {
            return;
        }
        try {
            int _ = (int) Call.GETRUSAGE.invokeExact(RUSAGE_THREAD, usage);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** {@return the nanoseconds that the thread ran, in user and in system mode, to a microsecond} */
    public long cpuNanos() {
        return (get(UTIME_S) + get(STIME_S)) * NANOS_A_SECOND + (get(UTIME_US) + get(STIME_US)) * NANOS_A_MICRO;
    }

    /** {@return the bytes read from storage for the thread; 0 from file systems that have no block device} */
    public long diskBytes() {
        return get(INBLOCK) * BLOCK_BYTES;
    }

    /** {@return the page faults that had to wait for storage} */
    public long majorFaults() {
        return get(MAJFLT);
    }

    /** {@return how often the thread left its core to wait for something} */
    public long voluntarySwitches() {
        return get(NVCSW);
    }

    /** {@return how often the thread lost its core to another thread} */
    public long involuntarySwitches() {
        return get(NIVCSW);
    }

    /**
     * {@return how many nanoseconds the calling thread has waited for a core; -1 if the system does not tell} Takes
     * longer than {@link #read}, which it does not need.
     */
    public long queuedNanos() {
        if (scheduled != Thread.currentThread()) {
            openSchedule();
        }
        if (scheduleFile == CLOSED) {
            return -1;
        }
        long bytes = Posix.pread(scheduleFile, 0, schedule, 0, SCHEDULE_BYTES);
        long at = 0;
        while (at < bytes && schedule.get(JAVA_BYTE, at) != ' ') {
            at++;
        }
        long nanos = at < bytes ? 0 : -1;
        for (at++; at < bytes && schedule.get(JAVA_BYTE, at) != ' '; at++) {
            nanos = 10 * nanos + schedule.get(JAVA_BYTE, at) - '0';
        }
        return nanos;
    }

    private void openSchedule() {
        closeSchedule();
        scheduled = Thread.currentThread();
        try {
            scheduleFile = AVAILABLE ? Posix.openReadOnly(SCHEDULE) : CLOSED;
        } catch (IOException _) {
            scheduleFile = CLOSED;
        }
    }

    private void closeSchedule() {
        if (scheduleFile != CLOSED) {
            Posix.close(scheduleFile);
            scheduleFile = CLOSED;
        }
    }

    private long get(long offset) {
        return usage.get(JAVA_LONG, offset);
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            closeSchedule();
            arena.close();
        }
    }
}
