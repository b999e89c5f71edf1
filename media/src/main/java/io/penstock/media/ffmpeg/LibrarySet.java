// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.penstock.error.LibraryException;
import io.penstock.os.DowncallFailure;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One set of FFmpeg's libraries that belong together: mixed sets load without complaint and corrupt memory.
 *
 * @param major FFmpeg's major version, 5 to 8
 * @param version for example {@code 8 (libavcodec 62.11.100), /opt/ffmpeg/lib}
 * @param symbols the functions of libavutil, libavcodec and libavformat
 */
@SuppressWarnings("restricted")
record LibrarySet(int major, String version, SymbolLookup symbols) {

    /** Names the folder with the libraries. */
    static final String PROPERTY = "penstock.ffmpeg";
    static final String EXPECTED = "libavformat 59 to 62 (FFmpeg 5.1 to 8)";
    /** libavutil of FFmpeg 5.1, the first with {@code AVChannelLayout}. */
    private static final int OLDEST_UTIL = 57 << 16 | 28 << 8;
    private static final int NEWEST = 8;
    private static final int OLDEST = 5;
    /** The major versions of libavformat and libavcodec, and of libavutil, less FFmpeg's. */
    private static final int FORMAT = 54;
    private static final int UTIL = 52;
    private static final Pattern FORMAT_FILE = Pattern.compile("libavformat\\.so\\.(\\d+)");

    /** The libraries of a major version, by file name, in the order of loading. */
    private static List<String> names(int major) {
        return List.of("libavutil.so." + (major + UTIL), "libswresample.so." + (major == OLDEST ? 4 : major - 2),
                "libavcodec.so." + (major + FORMAT), "libavformat.so." + (major + FORMAT));
    }

    /**
     * Finds the libraries: in the folder that the property names; else from the artifact {@code org.bytedeco:ffmpeg};
     * else the system's.
     *
     * @param folder the property's value; null if it is not set
     * @return the set; empty if there is none at all
     * @throws LibraryException if what there is cannot be used; says why
     */
    static Optional<LibrarySet> find(@Nullable String folder) {
        if (folder != null) {
            return Optional.of(in(Path.of(folder)));
        }
        Optional<LibrarySet> unpacked = ofArtifact();
        return unpacked.isPresent() ? unpacked : ofSystem();
    }

    /** Loads the newest whole set of a folder. */
    static LibrarySet in(Path folder) {
        List<String> files;
        try (Stream<Path> listed = Files.list(folder)) {
            files = listed.map(file -> file.getFileName().toString()).toList();
        } catch (IOException | UncheckedIOException e) {
            throw new LibraryException(PROPERTY + " names " + folder + ", which cannot be read, expected a folder with "
                    + EXPECTED, e);
        }
        List<String> missing = new ArrayList<>();
        for (int major = NEWEST; major >= OLDEST; major--) {
            List<String> wanted = names(major);
            if (!files.contains(wanted.getLast())) {
                continue;
            }
            if (files.containsAll(wanted)) {
                files.stream().filter(LibrarySet::isNeeded).sorted().forEach(file -> preload(folder.resolve(file)));
                return load(major, wanted.stream().map(file -> folder.resolve(file).toString()).toList(),
                        folder.toString());
            }
            wanted.stream().filter(file -> !files.contains(file)).forEach(missing::add);
        }
        String found = files.stream().map(FORMAT_FILE::matcher).filter(java.util.regex.Matcher::matches)
                .map(match -> "libavformat " + match.group(1)).sorted().reduce((a, b) -> a + ", " + b)
                .orElse("no libavformat");
        throw new LibraryException(folder + ": found " + found + (missing.isEmpty() ? "" : " without " + missing)
                + ", expected " + EXPECTED + "; -D" + PROPERTY + " names a folder with another", null);
    }

    /** What builds of FFmpeg for Java bring beside its own libraries. */
    private static boolean isNeeded(String file) {
        return file.startsWith("libdrm.so") || file.startsWith("libva.so") || file.startsWith("libva-drm.so");
    }

    private static void preload(Path file) {
        try {
            SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalArgumentException _) {
            // libavutil names it if it is needed
        }
    }

    /** Loads the libraries by soname, where the system looks for libraries. */
    private static Optional<LibrarySet> ofSystem() {
        for (int major = NEWEST; major >= OLDEST; major--) {
            List<String> names = names(major);
            try {
                SymbolLookup.libraryLookup(names.getLast(), Arena.global());
            } catch (IllegalArgumentException _) {
                continue;
            }
            return Optional.of(load(major, names, "the system's"));
        }
        return Optional.empty();
    }

    /** Unpacks the libraries of the artifact that is on the class path, into a folder of this process. */
    private static Optional<LibrarySet> ofArtifact() {
        String from = "org/bytedeco/ffmpeg/linux-"
                + (System.getProperty("os.arch").toLowerCase(Locale.ROOT).equals("aarch64") ? "arm64" : "x86_64") + "/";
        for (int major = NEWEST; major >= OLDEST; major--) {
            if (ClassLoader.getSystemResource(from + names(major).getLast()) == null) {
                continue;
            }
            try {
                Path folder = Files.createTempDirectory("penstock-ffmpeg");
                try {
                    unpack(from, folder, major);
                    return Optional.of(in(folder));
                } finally {
                    delete(folder);
                }
            } catch (IOException e) {
                throw new LibraryException("the libraries of org.bytedeco:ffmpeg cannot be unpacked: " + e, e);
            }
        }
        return Optional.empty();
    }

    private static void unpack(String from, Path folder, int major) throws IOException {
        List<String> names = new ArrayList<>(names(major));
        names.addAll(List.of("libdrm.so.2", "libva.so.2", "libva.so", "libva-drm.so.2", "libva-drm.so"));
        for (String name : names) {
            try (InputStream in = ClassLoader.getSystemResourceAsStream(from + name)) {
                if (in != null) {
                    Files.copy(in, folder.resolve(name));
                }
            }
        }
    }

    /** Loaded libraries stay: their files have no use any more. */
    private static void delete(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> listed = Files.list(folder)) {
            files = listed.toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
        Files.delete(folder);
    }

    private static LibrarySet load(int major, List<String> libraries, String place) {
        SymbolLookup symbols = name -> Optional.empty();
        for (String library : libraries) {
            try {
                SymbolLookup next = library.contains("/")
                        ? SymbolLookup.libraryLookup(Path.of(library), Arena.global())
                        : SymbolLookup.libraryLookup(library, Arena.global());
                symbols = symbols.or(next);
            } catch (IllegalArgumentException e) {
                throw new LibraryException(library + " cannot be loaded: " + e.getMessage(), e);
            }
        }
        int util = version(symbols, "avutil_version");
        int codec = version(symbols, "avcodec_version");
        int format = version(symbols, "avformat_version");
        if (util >> 16 != major + UTIL || codec >> 16 != major + FORMAT || format >> 16 != major + FORMAT
                || util < OLDEST_UTIL) {
            throw new LibraryException(place + " has libavutil " + text(util) + ", libavcodec " + text(codec)
                    + " and libavformat " + text(format) + ", expected libraries of one version of FFmpeg, 5.1 to 8",
                    null);
        }
        return new LibrarySet(major, major + " (libavcodec " + text(codec) + "), " + place, symbols);
    }

    private static int version(SymbolLookup symbols, String function) {
        MethodHandle handle = Linker.nativeLinker().downcallHandle(symbols.find(function).orElseThrow(
                () -> new LibraryException("FFmpeg's libraries have no function " + function, null)),
                FunctionDescriptor.of(JAVA_INT));
        try {
            return (int) handle.invokeExact();
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    private static String text(int version) {
        return (version >> 16) + "." + (version >> 8 & 0xFF) + "." + (version & 0xFF);
    }
}
