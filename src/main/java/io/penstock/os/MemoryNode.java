// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * A node of a machine with several memories (NUMA): processors, and the memory near them. Linux gives a thread memory
 * of the node that it runs on.
 */
public final class MemoryNode {

    private static final Path NODES = Path.of("/sys/devices/system/node");

    /** Looked up on the first call, because only some systems have it. */
    private static final class Call {
        static final MethodHandle SCHED_SETAFFINITY = Posix.bind(Linker.nativeLinker(), "sched_setaffinity",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS));
    }

    /**
     * Binds the calling thread, a platform thread of this purpose alone, to the processors of a node, so that it
     * allocates memory near them. Returns false if the system has no such node, or does not allow it.
     */
    public static boolean bindThread(int node) {
        if (!Posix.AVAILABLE || node < 0) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            String list = Files.readString(NODES.resolve("node" + node).resolve("cpulist")).strip();
            long[] mask = processors(list).toLongArray();
            return mask.length > 0 && (int) Call.SCHED_SETAFFINITY.invoke(0, (long) mask.length * Long.BYTES,
                    arena.allocateFrom(JAVA_LONG, mask)) == 0;
        } catch (IOException | NumberFormatException _) {
            return false;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Reads a list of processors in Linux's form, such as {@code 0-3,8}. */
    static BitSet processors(String list) {
        var processors = new BitSet();
        for (String range : list.isEmpty() ? new String[0] : list.split(",")) {
            String[] ends = range.split("-");
            processors.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
        }
        return processors;
    }
}
