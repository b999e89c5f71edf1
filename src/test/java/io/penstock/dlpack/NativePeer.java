// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.dlpack.DLPackCapsule.DLPackForm;
import io.penstock.testing.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The other side of DLPack, in C: {@code src/test/native/dlpack}, built once for the tests that need it. A machine
 * without a C compiler skips them.
 */
public final class NativePeer {

    private static NativeLibrary functions;

    private NativePeer() {
    }

    /** A struct as the C compiler reads it. */
    public record Described(long major, long minor, long flags, boolean hasDeleter, long data, long deviceType,
            long deviceId, long rank, long code, long bits, long lanes, long byteOffset, boolean hasArrays,
            long[] shape, long[] strides) {
    }

    @SuppressWarnings("restricted")
    public static synchronized void build() throws IOException, InterruptedException {
        if (functions != null) {
            return;
        }
        Path folder = Files.createTempDirectory("dlpack");
        Path library = folder.resolve("libdlpack_peer.so");
        try {
            SymbolLookup symbols = SymbolLookup.libraryLookup(
                    NativeLibrary.compileC(library, Path.of("src/test/native/dlpack")), Arena.global());
            functions = new NativeLibrary(() -> symbols);
        } finally {
            Files.deleteIfExists(library);
            Files.delete(folder);
        }
    }

    // ---- the consumer

    public static Described describe(long address, DLPackForm form) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_LONG, 13 + 2 * 64);
            call("consumer_describe", null, address, isVersioned(form), out);
            long[] n = out.toArray(JAVA_LONG);
            int rank = (int) n[7];
            return new Described(n[0], n[1], n[2], n[3] != 0, n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11],
                    n[12] != 0, Arrays.copyOfRange(n, 13, 13 + rank),
                    Arrays.copyOfRange(n, 13 + rank, 13 + 2 * rank));
        }
    }

    public static long sum(long address, DLPackForm form) {
        return (long) call("consumer_sum", JAVA_LONG, address, isVersioned(form));
    }

    /** On a thread that the JVM does not know. */
    public static void delete(long address, DLPackForm form, int times) {
        assertEquals(0, call("consumer_delete", ValueLayout.JAVA_INT, address, isVersioned(form), times));
    }

    public static void startConsumers(int threads) {
        assertEquals(0, call("consumer_start", ValueLayout.JAVA_INT, threads));
    }

    /** For one of the threads to sum and delete. */
    public static void put(long address) {
        call("consumer_put", null, address);
    }

    /** The sum of all that was put in, which is deleted. */
    public static long stopConsumers() {
        return (long) call("consumer_stop", JAVA_LONG);
    }

    // ---- the producer

    /** A tensor to be made; by default a row-major one on the CPU. */
    public static final class Product {
        private int major = 1;
        private long flags;
        private int deviceType = 1;
        private int deviceId;
        private final int code;
        private final int bits;
        private int lanes = 1;
        private int rank;
        private final long[] shape;
        private long[] strides;
        private long byteOffset;
        private long bytes;

        public Product(int code, int bits, long... shape) {
            this.code = code;
            this.bits = bits;
            this.shape = shape;
            this.rank = shape.length;
            this.bytes = bits / 8;
            for (long dim : shape) {
                bytes *= dim;
            }
        }

        public Product major(int value) {
            major = value;
            return this;
        }

        public Product flags(long value) {
            flags = value;
            return this;
        }

        public Product device(int type, int id) {
            deviceType = type;
            deviceId = id;
            return this;
        }

        public Product lanes(int value) {
            lanes = value;
            return this;
        }

        public Product rank(int value) {
            rank = value;
            return this;
        }

        public Product strides(long... value) {
            strides = value;
            return this;
        }

        public Product byteOffset(long value) {
            byteOffset = value;
            return this;
        }

        public Product bytes(long value) {
            bytes = value;
            return this;
        }

        public long make(DLPackForm form) {
            try (Arena arena = Arena.ofConfined()) {
                return ((MemorySegment) call("producer_make", ValueLayout.ADDRESS,
                        form == DLPackForm.VERSIONED ? major : -1, flags, deviceType, deviceId, code, bits, lanes,
                        rank, arena.allocateFrom(JAVA_LONG, shape),
                        strides == null ? MemorySegment.NULL : arena.allocateFrom(JAVA_LONG, strides), byteOffset,
                        bytes)).address();
            }
        }
    }

    /** How many of the producer's tensors were deleted so far. */
    public static int producerDeleted() {
        return (int) call("producer_deleted", ValueLayout.JAVA_INT);
    }

    private static int isVersioned(DLPackForm form) {
        return form == DLPackForm.VERSIONED ? 1 : 0;
    }

    private static Object call(String function, MemoryLayout result, Object... arguments) {
        return functions.call(function, result, arguments);
    }
}
