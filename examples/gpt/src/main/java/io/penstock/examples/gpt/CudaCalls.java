// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** Calls of a native library whose functions return a status, 0 for success. */
@SuppressWarnings("restricted")
final class CudaCalls {

    private final SymbolLookup library;
    private final MethodHandle statusName;

    /** @param statusName the function that gives the name of a status */
    CudaCalls(SymbolLookup library, String statusName) {
        this.library = library;
        this.statusName = Linker.nativeLinker().downcallHandle(library.findOrThrow(statusName),
                FunctionDescriptor.of(ADDRESS, JAVA_INT));
    }

    MethodHandle function(String name, MemoryLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(library.findOrThrow(name),
                FunctionDescriptor.of(JAVA_INT, arguments));
    }

    /** Calls a function that is called once. What every step calls is invoked exactly, without boxes and arrays. */
    void call(String name, MethodHandle function, Object... arguments) {
        try {
            check((int) function.invokeWithArguments(arguments), name);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    void check(int status, String call) throws Throwable {
        if (status != 0) {
            MemorySegment name = (MemorySegment) statusName.invokeExact(status);
            throw new IllegalStateException(call + ": " + name.reinterpret(Integer.MAX_VALUE).getString(0) + " ("
                    + status + ")");
        }
    }
}
