// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.penstock.os.DowncallFailure;
import io.penstock.telemetry.recording.Telemetry.LoaderIdentity;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reports to a listening NVIDIA tool: a range each for making, copying, requesting and holding a batch. */
final class NvtxProbe implements LoaderProbe {

    private static final @Nullable NvtxTool TOOL = NvtxTool.attach(System.getenv(NvtxTool.VARIABLE));

    /** One per filling thread, and whether the thread has pushed one. */
    private final Range[] makes;
    private final boolean[] pushed;
    private final Range copy = new Range("copy");
    private final Range next = new Range("next");
    private final Range hold = new Range("hold");
    /** Copies in flight, by sequence modulo their number; empty if batches are not copied. */
    private final long[] copies;
    /** Batches that the trainer has. */
    private final Map<Long, Long> held = new ConcurrentHashMap<>();

    /** Requires that {@linkplain #isHeard a tool listens}. */
    NvtxProbe(LoaderIdentity of, int slots) {
        makes = new Range[of.fillers()];
        Arrays.setAll(makes, _ -> new Range("make"));
        pushed = new boolean[makes.length];
        copies = new long[of.copies() ? slots : 0];
    }

    /** {@return whether a tool listens to ranges} */
    static boolean isHeard() {
        return TOOL != null;
    }

    private static NvtxTool tool() {
        return Objects.requireNonNull(TOOL, "no tool listens");
    }

    @Override
    public void planned(Filling batch) {
        makes[batch.worker].push(batch.sequence);
        pushed[batch.worker] = true;
    }

    @Override
    public void filled(Filling batch) {
        if (pushed[batch.worker]) {
            pushed[batch.worker] = false;
            makes[batch.worker].pop();
        }
    }

    @Override
    public void reached(long sequence) {
        if (copies.length > 0) {
            copies[(int) (sequence % copies.length)] = copy.start(sequence);
        }
    }

    @Override
    public void arrived(long sequence) {
        copy.end(copies[(int) (sequence % copies.length)]);
    }

    @Override
    public void requested(long sequence, EpochBounds epochs) {
        next.push(sequence);
    }

    @Override
    public void taken(long sequence, long requestedAt, long takenAt, int samples, int replaced) {
        next.pop();
        held.put(sequence, hold.start(sequence));
    }

    @Override
    public void notTaken(long waitNanos) {
        next.pop();
    }

    @Override
    public void closed(long sequence) {
        Long range = held.remove(sequence);
        if (range != null) {
            hold.end(range);
        }
    }

    @Override
    public void close() {
        Stream.concat(Stream.of(makes), Stream.of(copy, next, hold)).forEach(Range::close);
    }

    /**
     * A kind of range: a name in the domain {@code penstock}, with a number for each range. One thread at a time pushes
     * and starts; any thread may end a started range.
     */
    private static final class Range implements AutoCloseable {

        private static final short VERSION = 3;
        private static final int PAYLOAD_UINT64 = 1;
        private static final int MESSAGE_ASCII = 1;
        private static final int MESSAGE_REGISTERED = 3;

        /** {@code nvtxEventAttributes_t}, version 2. */
        static final StructLayout ATTRIBUTES = MemoryLayout.structLayout(
                JAVA_SHORT.withName("version"), JAVA_SHORT.withName("size"), JAVA_INT.withName("category"),
                JAVA_INT.withName("colorType"), JAVA_INT.withName("color"),
                JAVA_INT.withName("payloadType"), JAVA_INT.withName("reserved0"), JAVA_LONG.withName("payload"),
                JAVA_INT.withName("messageType"), MemoryLayout.paddingLayout(Integer.BYTES),
                ADDRESS.withName("message"));
        private static final long PAYLOAD = offset("payload");

        private final Arena arena = Arena.ofShared();
        private final MemorySegment attributes = arena.allocate(ATTRIBUTES);

        Range(String name) {
            MemorySegment text = arena.allocateFrom(name);
            attributes.set(JAVA_SHORT, offset("version"), VERSION);
            attributes.set(JAVA_SHORT, offset("size"), (short) ATTRIBUTES.byteSize());
            attributes.set(JAVA_INT, offset("payloadType"), PAYLOAD_UINT64);
            attributes.set(JAVA_INT, offset("messageType"), MESSAGE_ASCII);
            attributes.set(ADDRESS, offset("message"), text);
            try {
                @Nullable MemorySegment registered =
                        (MemorySegment) tool().registerString().invokeExact(tool().domain(), text);
                if (registered != null) {
                    attributes.set(JAVA_INT, offset("messageType"), MESSAGE_REGISTERED);
                    attributes.set(ADDRESS, offset("message"), registered);
                }
            } catch (Throwable t) {
                throw DowncallFailure.of(t);
            }
        }

        private static long offset(String field) {
            return ATTRIBUTES.byteOffset(PathElement.groupElement(field));
        }

        /** Starts a range of this thread, nested in the one it pushed last. */
        void push(long number) {
            attributes.set(JAVA_LONG, PAYLOAD, number);
            try {
                int _ = (int) tool().push().invokeExact(tool().domain(), attributes);
            } catch (Throwable t) {
                throw DowncallFailure.of(t);
            }
        }

        /** Ends the range that this thread pushed last. */
        void pop() {
            try {
                int _ = (int) tool().pop().invokeExact(tool().domain());
            } catch (Throwable t) {
                throw DowncallFailure.of(t);
            }
        }

        /** Starts a range of the process, which may overlap others, and returns the id to end it with. */
        long start(long number) {
            attributes.set(JAVA_LONG, PAYLOAD, number);
            try {
                return (long) tool().start().invokeExact(tool().domain(), attributes);
            } catch (Throwable t) {
                throw DowncallFailure.of(t);
            }
        }

        /** Ends a range by its id from {@link #start}. */
        void end(long range) {
            try {
                tool().end().invokeExact(tool().domain(), range);
            } catch (Throwable t) {
                throw DowncallFailure.of(t);
            }
        }

        /** Frees the memory of the name. Repeating it has no effect. */
        @Override
        public void close() {
            if (arena.scope().isAlive()) {
                arena.close();
            }
        }
    }
}
