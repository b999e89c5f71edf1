// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import io.penstock.error.LibraryException;
import io.penstock.error.PenstockException;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * FFmpeg's libraries of this process: found once, checked once.
 *
 * <p>They are looked for in the folder that the property {@code penstock.ffmpeg} names; else in the optional artifact
 * {@code org.bytedeco:ffmpeg}; else where the system looks for libraries. The highest version is taken, and its
 * {@link SelfTest} must pass, because libraries of an unexpected build would give wrong frames without any error.
 */
public final class FFmpeg {

    private static final String NEED = "reading compressed sound and video";
    private static final String INSTALL = "FFmpeg 5.1 to 8 (install it, such as by 'apt install libavformat-extra' or "
            + "'apt install ffmpeg'; or add org.bytedeco:ffmpeg with the classifier linux-x86_64; or name the folder "
            + "of its libraries by -D" + LibrarySet.PROPERTY + ")";
    private static final Search FOUND = search();

    /** The libraries, or why they cannot be used; neither if there are none. */
    private record Search(@Nullable LibrarySet set, @Nullable LibraryException failure) {
    }

    /** Tests the libraries at the first use. */
    private static final class Tested {

        static final @Nullable LibraryException FAILURE = test();

        private static @Nullable LibraryException test() {
            try {
                SelfTest.run();
                return null;
            } catch (IOException | PenstockException e) {
                return new LibraryException("FFmpeg " + version() + " does not decode as expected: "
                        + e.getMessage(), e);
            }
        }
    }

    private FFmpeg() {
    }

    private static Search search() {
        if (!System.getProperty("os.name").toLowerCase(Locale.ROOT).equals("linux")) {
            return new Search(null, new LibraryException(NEED + " needs FFmpeg on Linux, this is "
                    + System.getProperty("os.name") + " on " + System.getProperty("os.arch"), null));
        }
        try {
            Optional<LibrarySet> set = LibrarySet.find(System.getProperty(LibrarySet.PROPERTY));
            return new Search(set.orElse(null), null);
        } catch (LibraryException e) {
            return new Search(null, e);
        }
    }

    /**
     * Requires the libraries.
     *
     * @throws LibraryException if there are none, or those that were found cannot be used; says what to install, or why
     */
    public static void require() {
        requireLoaded();
        if (Tested.FAILURE != null) {
            throw new LibraryException(Tested.FAILURE.getMessage(), Tested.FAILURE);
        }
    }

    /** Requires the libraries, tested or not. */
    static void requireLoaded() {
        if (FOUND.failure != null) {
            throw new LibraryException(FOUND.failure.getMessage(), FOUND.failure);
        }
        if (FOUND.set == null) {
            throw LibraryException.missing(NEED, INSTALL, null);
        }
    }

    /** {@return the version and the place of the libraries; empty if they cannot be used} */
    public static String version() {
        return FOUND.set == null ? "" : FOUND.set.version();
    }

    static StructOffsets offsets() {
        return StructOffsets.of(set().major());
    }

    @SuppressWarnings("restricted")
    static MethodHandle handle(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(set().symbols().findOrThrow(name), type);
    }

    /** Tells whether the libraries have a function. */
    static boolean has(String name) {
        return set().symbols().find(name).isPresent();
    }

    private static LibrarySet set() {
        return Objects.requireNonNull(FOUND.set, "FFmpeg was not required before its use");
    }
}
