// SPDX-License-Identifier: Apache-2.0
package io.penstock.cuda.bindings;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;

/** Where the generated bindings look functions up: in one library, which is chosen at run time. */
public final class CudaSymbols {

    private static volatile SymbolLookup library = _ -> Optional.empty();

    private CudaSymbols() {
    }

    /** Chooses the library. A function that is bound already stays that of the library before. */
    public static void use(SymbolLookup chosen) {
        library = chosen;
    }

    /** Finds a function; there is none before a library is chosen. */
    public static Optional<MemorySegment> find(String name) {
        return library.find(name);
    }
}
