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
 * The structs that consumers hold, and the one deleter that all of them name. It is the process's and not a loader's,
 * since a deleter is a bare C function: all that it is given is the struct's address.
 *
 * <p>A struct lies in a block of this table, its shape and strides behind it:
 *
 * <pre>
 *   0                               80          80 + 8 ndim   80 + 16 ndim            512
 *   | managed tensor, either form | shape     | strides     | unused                |
 * </pre>
 *
 * <p><b>Assumptions.</b> A consumer calls the deleter when it has read the struct for the last time, from any thread,
 * be it one that the JVM has never seen.
 *
 * <p><b>Guarantees.</b> The deleter takes the owner out of the block by one atomic exchange and tells it: it takes no
 * lock, reads no memory of the struct's, and lets no exception out. A second call finds no owner and does nothing. A
 * block serves again only after {@value #QUARANTINE} other exports: a second call that comes later than that could hit
 * another tensor. Blocks are never given back to the system, so no call is one of freed memory; there are as many as
 * tensors were out at the same time, and {@value #QUARANTINE} more, rounded up to chunks of {@value #CHUNK_BLOCKS}.
 */
final class ExportTable {

    static final int BLOCK_BYTES = 512;
    static final int CHUNK_BLOCKS = 256;
    static final int QUARANTINE = 200;
    /** As many dimensions as fit in a block. */
    static final int MAX_RANK = (int) ((BLOCK_BYTES - Structs.VERSIONED.byteSize()) / (2 * Long.BYTES));

    private static final System.Logger LOG = System.getLogger(ExportTable.class.getName());

    /** {@code void (*deleter)(struct DLManagedTensor *)}; the pointer comes as a number, which makes no object. */
    static final MemorySegment DELETER = deleter();

    /** Appended to under the lock on this class; read without. */
    private static volatile Chunk[] chunks = {};
    private static final AtomicInteger LIVE = new AtomicInteger();
    /** Counts exports, from where new blocks are no more in quarantine. Written under the lock on this class. */
    private static volatile long exports = QUARANTINE;
    /** Where the next search begins; guarded by the lock on this class. */
    @SuppressWarnings("NonFinalStaticField")
    private static int cursor;

    private ExportTable() {
    }

    /** Blocks side by side, and what is to be told when the consumer of each is done; null in a free one. */
    private static final class Chunk {
        private final MemorySegment memory = Arena.global().allocate((long) BLOCK_BYTES * CHUNK_BLOCKS, BLOCK_BYTES);
        private final AtomicReferenceArray<Runnable> owners = new AtomicReferenceArray<>(CHUNK_BLOCKS);
        /** How many exports there were when each block was last deleted. */
        private final AtomicLongArray deletedAt = new AtomicLongArray(CHUNK_BLOCKS);

        boolean isFree(int i) {
            return owners.get(i) == null && exports - deletedAt.get(i) >= QUARANTINE;
        }

        MemorySegment block(int i) {
            return memory.asSlice((long) i * BLOCK_BYTES, BLOCK_BYTES);
        }
    }

    /**
     * Writes a struct into a free block.
     *
     * @param writer writes the struct; called at once
     * @param owner told, once, when the struct is deleted; must not block
     * @return the struct's address
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

    /** The free block that comes next in turn; the first of a new chunk if there is none. */
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

    /** Ends an export: tells its owner. Does nothing if that was done before, or if there is no such struct. */
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

    /** How many structs are out. */
    static int live() {
        return LIVE.get();
    }

    /** How many blocks there are. */
    static int capacity() {
        return chunks.length * CHUNK_BLOCKS;
    }

    /** Called by native code. An exception that left this method would end the JVM. */
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
            // There is nobody left to tell.
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
