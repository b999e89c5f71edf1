package io.penstock.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.Objects;

/**
 * A function that a device runs on its own memory. A GPU has it compiled, under its name, in the engine's fatbin; the
 * host device runs its twin in Java, on the thread of the stream. Both read the same arguments, one struct, and give
 * the same result, whatever the size of the grid: the twin is the specification.
 *
 * @param name what the fatbin calls it
 * @param layout its arguments: the C struct's fields, by their names; at most {@value #MAX_ARGUMENT_BYTES} bytes, a
 *     multiple of 8
 * @param twin the same in Java
 */
public record Kernel(String name, StructLayout layout, Twin twin) {
    /** The most bytes that arguments may have. */
    public static final int MAX_ARGUMENT_BYTES = 256;

    /** The threads of a block. */
    public static final int BLOCK_THREADS = 256;

    /** More blocks than any GPU runs at a time: beyond that, a thread does the work of several. */
    private static final long MAX_BLOCKS = 1 << 20;

    /** A kernel in Java. */
    @FunctionalInterface
    public interface Twin {
        /**
         * Runs the kernel on the CPU, without allocating. The addresses among the arguments are those of memory that
         * the CPU can reach, and are not checked.
         *
         * @param arguments the arguments, as the layout has them; not kept
         */
        void run(MemorySegment arguments);
    }

    /**
     * Checks the size of the arguments.
     *
     * @throws IllegalArgumentException if there are none, too many, or they are not a multiple of 8 bytes
     */
    public Kernel {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(twin, "twin");
        long bytes = layout.byteSize();
        if (bytes < 1 || bytes > MAX_ARGUMENT_BYTES || bytes % Long.BYTES != 0) {
            throw new IllegalArgumentException(name + ": arguments of " + bytes + " bytes, expected a multiple of "
                    + Long.BYTES + " up to " + MAX_ARGUMENT_BYTES);
        }
    }

    /**
     * Memory for the arguments of launches, one after another.
     *
     * @return an array's, of zeros
     */
    public MemorySegment newArguments() {
        return MemorySegment.ofArray(new long[(int) (layout.byteSize() / Long.BYTES)]);
    }

    /**
     * Refuses what cannot be launched; for implementations of {@link DeviceStream#launch}.
     *
     * @param blocks how many blocks
     * @param arguments the arguments
     * @throws IllegalArgumentException if there are fewer bytes than the kernel takes, or less than one block
     */
    public void checkLaunch(int blocks, MemorySegment arguments) {
        if (arguments.byteSize() < layout.byteSize() || blocks < 1) {
            throw new IllegalArgumentException(name + ": " + arguments.byteSize() + " bytes of arguments and " + blocks
                    + " blocks, expected " + layout.byteSize() + " and at least 1");
        }
    }

    /**
     * Blocks enough to give each item a thread.
     *
     * @param items how many items, from 0
     * @return at least 1
     */
    public static int blocksForItems(long items) {
        return blocks(Math.ceilDiv(items, BLOCK_THREADS));
    }

    /**
     * Blocks enough for work of which each piece takes a whole block.
     *
     * @param pieces how many pieces, from 0
     * @return at least 1
     */
    public static int blocks(long pieces) {
        return (int) Math.clamp(pieces, 1, MAX_BLOCKS);
    }

    @Override
    public String toString() {
        return name;
    }
}
