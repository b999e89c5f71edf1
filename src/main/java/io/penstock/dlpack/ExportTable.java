// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * The structs that consumers hold, and the one deleter they all name. It belongs to the process, not a loader, because
 * a deleter is a bare C function that receives only the struct's address.
 *
 * <p>A struct is in a block of this table, followed by its shape and strides:
 *
 * <pre>
 *   0                               80          80 + 8 ndim   80 + 16 ndim            512
 *   | managed tensor, either form | shape     | strides     | unused                |
 * </pre>
 *
 * <p><b>Assumptions.</b> A consumer calls the deleter after its last read of the struct, from any thread, even one
 * unknown to the JVM.
 *
 * <p><b>Guarantees.</b> The deleter removes the owner from the block by one atomic exchange and notifies it. It takes
 * no lock, reads nothing from the struct, and throws nothing. A second call finds no owner and does nothing. A block is
 * reused only after {@value #QUARANTINE} other exports; a second call after that could delete another tensor. Blocks
 * are never freed, so no call reaches freed memory. Their number is the peak of live exports plus {@value #QUARANTINE},
 * rounded up to chunks of {@value #CHUNK_BLOCKS}.
 */
final class ExportTable {

    static final int BLOCK_BYTES = 512;
    static final int CHUNK_BLOCKS = 256;
    static final int QUARANTINE = 200;
    /** The most dimensions that fit in a block. */
    static final int MAX_RANK = (int) ((BLOCK_BYTES - Structs.VERSIONED.byteSize()) / (2 * Long.BYTES));

    private static final System.Logger LOG = System.getLogger(ExportTable.class.getName());

    /**
     * {@code void (*deleter)(struct DLManagedTensor *)}; the pointer is passed as a number, which allocates nothing.
     */
    static final MemorySegment DELETER = deleter();

    /** Appended to under the lock on this class; read without. */
    private static volatile Chunk[] chunks = {};
    private static final AtomicInteger LIVE = new AtomicInteger();
    /** Counts exports, starting past the quarantine of new blocks. Written under the lock on this class. */
    private static volatile long exports = QUARANTINE;
    /** Where the next search starts; guarded by the lock on this class. */
    @SuppressWarnings("NonFinalStaticField")
    private static int cursor;

    /** Adjacent blocks, and the callback for each when its consumer is done; null for a free block. */
    private static final class Chunk {
        private final MemorySegment memory = Arena.global().allocate((long) BLOCK_BYTES * CHUNK_BLOCKS, BLOCK_BYTES);
        private final AtomicReferenceArray<Runnable> owners = new AtomicReferenceArray<>(CHUNK_BLOCKS);
        /** The export count when each block was last deleted. */
        private final AtomicLongArray deletedAt = new AtomicLongArray(CHUNK_BLOCKS);

        boolean isFree(int i) {
            return owners.get(i) == null && exports - deletedAt.get(i) >= QUARANTINE;
        }

        MemorySegment block(int i) {
            return memory.asSlice((long) i * BLOCK_BYTES, BLOCK_BYTES);
        }
    }

    /**
     * Writes a struct into a free block, at once, and returns its address. The owner is called once when the struct is
     * deleted, and must not block.
     */
    static synchronized long add(Consumer<MemorySegment> writer, Runnable owner) {
        int found = findFree();
        Chunk chunk = chunks[found / CHUNK_BLOCKS];
        MemorySegment block = chunk.block(found % CHUNK_BLOCKS);
        writer.accept(block);
        cursor = found + 1;
        exports = exports + 1;
        LIVE.incrementAndGet();
        chunk.owners.set(found % CHUNK_BLOCKS, owner);
        return block.address();
    }

    /** Returns the next free block in turn, or the first of a new chunk. */
    private static int findFree() {
        int count = capacity();
        for (int n = 0; n < count; n++) {
            int i = (cursor + n) % count;
            if (chunks[i / CHUNK_BLOCKS].isFree(i % CHUNK_BLOCKS)) {
                return i;
            }
        }
        Chunk[] more = Arrays.copyOf(chunks, chunks.length + 1);
        more[chunks.length] = new Chunk();
        chunks = more;
        return count;
    }

    /** Ends an export and notifies its owner. Does nothing if the struct is already deleted or unknown. */
    static void delete(long address) {
        for (Chunk chunk : chunks) {
            long offset = address - chunk.memory.address();
            if (offset >= 0 && offset < chunk.memory.byteSize() && offset % BLOCK_BYTES == 0) {
                int i = (int) (offset / BLOCK_BYTES);
                chunk.deletedAt.set(i, exports);            // before the block can be found free
                Runnable owner = chunk.owners.getAndSet(i, null);
                if (owner != null) {
                    LIVE.decrementAndGet();
                    owner.run();
                }
                return;
            }
        }
    }

    static int live() {
        return LIVE.get();
    }

    static int capacity() {
        return chunks.length * CHUNK_BLOCKS;
    }

    /** The native entry point. An exception out of this method would end the JVM. */
    @SuppressWarnings("UnusedMethod")
    private static void called(long self) {
        try {
            delete(self);
        } catch (Throwable t) {
            report(t);
        }
    }

    private static void report(Throwable error) {
        try {
            LOG.log(System.Logger.Level.ERROR, "a DLPack tensor's owner failed when it was deleted", error);
        } catch (Throwable _) {
            // Nobody is left to notify.
        }
    }

    @SuppressWarnings("restricted")
    private static MemorySegment deleter() {
        try {
            return Linker.nativeLinker().upcallStub(
                    MethodHandles.lookup().findStatic(ExportTable.class, "called",
                            MethodType.methodType(void.class, long.class)),
                    FunctionDescriptor.ofVoid(JAVA_LONG), Arena.global());
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
