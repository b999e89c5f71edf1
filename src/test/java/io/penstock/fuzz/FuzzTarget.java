// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A parser that takes bytes from anybody. */
interface FuzzTarget {

    /** Inputs may be this large unless the target says otherwise: what is larger is slow, and finds no more. */
    int DEFAULT_MAX_BYTES = 64 << 10;

    /** Inputs that the parser reads, or nearly does: what mutations start from. */
    List<byte[]> seeds() throws IOException;

    /** How large an input may become; seeds that are larger are left out. */
    default int maxBytes() {
        return DEFAULT_MAX_BYTES;
    }

    /**
     * Has the parser read an input, and checks what it makes of it. Any throwable is a finding.
     *
     * @param input the bytes
     * @param folder where it may write files; empty, and on a file system in memory where there is one
     */
    void run(byte[] input, Path folder) throws IOException;

    /** The target of a class of this package. */
    static FuzzTarget of(String simpleName) {
        try {
            return (FuzzTarget) Class.forName(FuzzTarget.class.getPackageName() + "." + simpleName)
                    .getDeclaredField("TARGET").get(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("no class " + simpleName + " with a constant TARGET", e);
        }
    }
}
