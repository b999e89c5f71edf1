// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.nvtx;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.penstock.os.DowncallFailure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A kind of range: a name in the domain {@code penstock}, with a number for each range. One thread at a time pushes and
 * starts; any thread may end a started range.
 */
public final class NvtxRange implements AutoCloseable {

    private static final @Nullable NvtxTool TOOL = NvtxTool.attach(System.getenv(NvtxTool.VARIABLE));

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

    /** Creates a kind of range; requires that {@linkplain #areHeard a tool listens}. */
    public NvtxRange(String name) {
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

    private static NvtxTool tool() {
        return Objects.requireNonNull(TOOL, "no tool listens");
    }

    private static long offset(String field) {
        return ATTRIBUTES.byteOffset(PathElement.groupElement(field));
    }

    /** {@return whether a tool listens to ranges} */
    public static boolean areHeard() {
        return TOOL != null;
    }

    /** Starts a range of this thread, nested in the one it pushed last. */
    public void push(long number) {
        attributes.set(JAVA_LONG, PAYLOAD, number);
        try {
            int _ = (int) tool().push().invokeExact(tool().domain(), attributes);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Ends the range that this thread pushed last. */
    public void pop() {
        try {
            int _ = (int) tool().pop().invokeExact(tool().domain());
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Starts a range of the process, which may overlap others, and returns the id to end it with. */
    public long start(long number) {
        attributes.set(JAVA_LONG, PAYLOAD, number);
        try {
            return (long) tool().start().invokeExact(tool().domain(), attributes);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Ends a range by its id from {@link #start}. */
    public void end(long range) {
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
