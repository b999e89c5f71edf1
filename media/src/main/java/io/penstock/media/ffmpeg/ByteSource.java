// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.os.DowncallFailure;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a file that FFmpeg reads by calling back: an {@code AVIOContext}. An exception that left a callback
 * would end the JVM, so the first one is kept, and thrown after the call that called back.
 */
final class ByteSource implements AutoCloseable {

    private static final int BUFFER_BYTES = 32768;
    private static final int IO_ERROR = -5;
    private static final int INVALID = -22;
    /** {@code AVSEEK_SIZE}, and {@code AVSEEK_FORCE}, which changes nothing. */
    private static final int WHENCE_SIZE = 0x10000;
    private static final int WHENCE_FORCE = 0x20000;
    private static final MethodHandle READ = method("read", MethodType.methodType(int.class, long.class, long.class,
            int.class));
    private static final MethodHandle SEEK = method("seek", MethodType.methodType(long.class, long.class, long.class,
            int.class));

    private final MemorySegment bytes;
    private final Arena callbacks = Arena.ofConfined();
    private final long context;
    private long position;
    private @Nullable Throwable failure;

    @SuppressWarnings("restricted")
    ByteSource(MemorySegment bytes) {
        this.bytes = bytes;
        Linker linker = Linker.nativeLinker();
        long read = linker.upcallStub(READ.bindTo(this), FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
                JAVA_INT), callbacks).address();
        long seek = linker.upcallStub(SEEK.bindTo(this), FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG,
                JAVA_INT), callbacks).address();
        long buffer = Calls.make(Calls.MALLOC, BUFFER_BYTES, "av_malloc");
        try {
            context = (long) Calls.IO_ALLOC.invokeExact(buffer, BUFFER_BYTES, 0, 0L, read, 0L, seek);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
        if (context == 0) {
            Calls.free(Calls.FREEP, buffer);
            throw new OutOfMemoryError("avio_alloc_context");
        }
    }

    private static MethodHandle method(String name, MethodType type) {
        try {
            return MethodHandles.lookup().findVirtual(ByteSource.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The address of the {@code AVIOContext}. */
    long context() {
        return context;
    }

    @SuppressWarnings("unused") // FFmpeg calls it
    private int read(long opaque, long buffer, int size) {
        try {
            if (position >= bytes.byteSize() || size <= 0) {
                return Calls.EOF;
            }
            int count = (int) Math.min(size, bytes.byteSize() - position);
            MemorySegment.copy(bytes, position, Native.ALL, buffer, count);
            position += count;
            return count;
        } catch (Throwable t) {
            failure = failure == null ? t : failure;
            return IO_ERROR;
        }
    }

    @SuppressWarnings("unused") // FFmpeg calls it
    private long seek(long opaque, long offset, int whence) {
        try {
            if ((whence & ~WHENCE_FORCE) == WHENCE_SIZE) {
                return bytes.byteSize();
            }
            long target = switch (whence & ~WHENCE_FORCE) {
                case 0 -> offset;
                case 1 -> Math.addExact(position, offset);
                case 2 -> Math.addExact(bytes.byteSize(), offset);
                default -> -1;
            };
            if (target < 0) {
                return INVALID;
            }
            position = target;
            return target;
        } catch (Throwable t) {
            failure = failure == null ? t : failure;
            return IO_ERROR;
        }
    }

    /** Throws what a callback ran into. */
    void rethrow() throws IOException {
        Throwable kept = failure;
        failure = null;
        switch (kept) {
            case null -> { }
            case IOException e -> throw e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IOException(kept);
        }
    }

    /** Frees the context with its buffer, which FFmpeg may have replaced. */
    @Override
    public void close() {
        Calls.run(Calls.FREEP, context + StructOffsets.IO_BUFFER);
        Calls.free(Calls.IO_FREE, context);
        callbacks.close();
    }
}
