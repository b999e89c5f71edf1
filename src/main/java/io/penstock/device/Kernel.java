// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.Objects;

/**
 * A function that a device runs on its own memory. A GPU runs the function of this name from the engine's fatbin; the
 * host device runs the Java twin on the stream's thread. Both read one struct of arguments and give the same result
 * for any grid size: the twin is the specification.
 *
 * @param name the function's name in the fatbin
 * @param layout the arguments: the C struct's named fields; at most {@value #MAX_ARGUMENT_BYTES} bytes, a multiple of 8
 * @param twin the same kernel in Java
 */
public record Kernel(String name, StructLayout layout, Twin twin) {
    /** The maximum size of the arguments in bytes. */
    public static final int MAX_ARGUMENT_BYTES = 256;

    /** Threads per block. */
    public static final int BLOCK_THREADS = 256;

    /** More blocks than any GPU runs at once; beyond that, a thread does the work of several. */
    private static final long MAX_BLOCKS = 1 << 20;

    /** A kernel in Java. */
    @FunctionalInterface
    public interface Twin {
        /**
         * Runs the kernel on the CPU, without allocating. Addresses in the arguments must be accessible to the CPU and
         * are not checked.
         *
         * @param arguments the arguments in the kernel's layout; not kept
         */
        void run(MemorySegment arguments);
    }

    /**
     * Checks the size of the arguments.
     *
     * @throws IllegalArgumentException if their size is 0, too large, or not a multiple of 8 bytes
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

    /** {@return zeroed heap memory for arguments, reusable for launch after launch} */
    public MemorySegment newArguments() {
        return MemorySegment.ofArray(new long[(int) (layout.byteSize() / Long.BYTES)]);
    }

    /**
     * Checks the arguments of a launch; for implementations of {@link DeviceStream#launch}.
     *
     * @param blocks how many blocks
     * @param arguments the arguments
     * @throws IllegalArgumentException if there are fewer bytes than the kernel takes, or fewer than one block
     */
    public void checkLaunch(int blocks, MemorySegment arguments) {
        if (arguments.byteSize() < layout.byteSize() || blocks < 1) {
            throw new IllegalArgumentException(name + ": " + arguments.byteSize() + " bytes of arguments and " + blocks
                    + " blocks, expected " + layout.byteSize() + " and at least 1");
        }
    }

    /**
     * {@return the number of blocks that gives each item a thread, at least 1}
     *
     * @param items number of items, from 0
     */
    public static int blocksForItems(long items) {
        return blocks(Math.ceilDiv(items, BLOCK_THREADS));
    }

    /**
     * {@return the number of blocks to launch when each piece of work takes one block, at least 1}
     *
     * @param pieces number of pieces, from 0
     */
    public static int blocks(long pieces) {
        return (int) Math.clamp(pieces, 1, MAX_BLOCKS);
    }

    @Override
    public String toString() {
        return name;
    }
}
