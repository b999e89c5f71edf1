// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The functions of libturbojpeg ({@code turbojpeg.h}): those of the API of version 2.0, which version 3 also has, and
 * those of version 3 that decode parts of images, null if the library is older. Without a library, {@code base} is null
 * and {@code absence} says why.
 */
record TurboLibrary(@Nullable Base base, @Nullable Parts parts, @Nullable Throwable absence) {

    /** The property with the path of the library, if the system's search does not find it. */
    private static final String PROPERTY = "penstock.turbojpeg";

    private static final List<String> NAMES =
            List.of("libturbojpeg.so.0", "libturbojpeg.so", "libturbojpeg.dylib", "turbojpeg.dll");

    /** {@code tjregion}: x, y, w, h. */
    static final MemoryLayout REGION = MemoryLayout.structLayout(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    /** {@code tjscalingfactor}: num, denom. */
    static final MemoryLayout SCALING = MemoryLayout.structLayout(JAVA_INT, JAVA_INT);

    static final TurboLibrary FOUND = load();

    /**
     * {@code tjInitDecompress}, {@code tjDestroy}, {@code tjDecompress2}, {@code tjGetErrorStr2},
     * {@code tjGetErrorCode}.
     */
    record Base(MethodHandle open, MethodHandle close, MethodHandle decompress, MethodHandle error,
            MethodHandle errorCode) {
    }

    /**
     * {@code tj3Set}, {@code tj3Get}, {@code tj3DecompressHeader}, {@code tj3SetScalingFactor},
     * {@code tj3SetCroppingRegion}, {@code tj3Decompress8}.
     */
    record Parts(MethodHandle set, MethodHandle get, MethodHandle header, MethodHandle scale, MethodHandle crop,
            MethodHandle decompress) {
    }

    private static TurboLibrary load() {
        if (ADDRESS.byteSize() != Long.BYTES || System.getProperty("os.name").startsWith("Windows")) {
            // There C's long, which counts the image's bytes, has 32 bits.
            return new TurboLibrary(null, null, new UnsatisfiedLinkError("a system with 64-bit long"));
        }
        String chosen = System.getProperty(PROPERTY);
        Throwable absence = null;
        for (String name : chosen == null ? NAMES : List.of(chosen)) {
            try {
                SymbolLookup lookup = lookup(name);
                return new TurboLibrary(base(lookup), parts(lookup), null);
            } catch (IllegalArgumentException | NoSuchElementException e) {
                absence = e;
            }
        }
        return new TurboLibrary(null, null, absence);
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup lookup(String name) {
        return name.contains(File.separator) ? SymbolLookup.libraryLookup(Path.of(name), Arena.global())
                : SymbolLookup.libraryLookup(name, Arena.global());
    }

    private static Base base(SymbolLookup lookup) {
        return new Base(function(lookup, "tjInitDecompress", FunctionDescriptor.of(JAVA_LONG)),
                function(lookup, "tjDestroy", FunctionDescriptor.of(JAVA_INT, JAVA_LONG)),
                function(lookup, "tjDecompress2", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                        JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT)),
                function(lookup, "tjGetErrorStr2", FunctionDescriptor.of(ADDRESS, JAVA_LONG)),
                function(lookup, "tjGetErrorCode", FunctionDescriptor.of(JAVA_INT, JAVA_LONG)));
    }

    private static @Nullable Parts parts(SymbolLookup lookup) {
        if (lookup.find("tj3SetCroppingRegion").isEmpty()) {
            return null;
        }
        return new Parts(function(lookup, "tj3Set", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT)),
                function(lookup, "tj3Get", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT)),
                function(lookup, "tj3DecompressHeader",
                        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG)),
                function(lookup, "tj3SetScalingFactor", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, SCALING)),
                function(lookup, "tj3SetCroppingRegion", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, REGION)),
                function(lookup, "tj3Decompress8", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                        JAVA_LONG, JAVA_INT, JAVA_INT)));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(SymbolLookup lookup, String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(lookup.findOrThrow(name), type);
    }
}
