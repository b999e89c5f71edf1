// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.local.HiddenNames;
import io.penstock.io.local.RegularFile;
import io.penstock.memory.DType;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreFormats;
import io.penstock.text.ShellText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How to open a store, where detection is not enough. */
final class StoreOptions {

    private static final int LOOKED_AT = 4;
    private static final int HEAD_BYTES = 4096;
    private static final char REPLACEMENT = '\ufffd';

    @Option(names = "--format", paramLabel = "NAME",
            description = "Store format, such as megatron, npy, webdataset or raw; default: detect.")
    private @Nullable String format;

    @Option(names = "--dtype", paramLabel = "DTYPE",
            description = "Element dtype, for a --format that does not store it.")
    private @Nullable String dtype;

    @Option(names = "--shape", paramLabel = "N", split = ",",
            description = "Shape of raw data; a first dimension of -1 is computed from the file's size.")
    private @Nullable List<Long> shape;

    @Option(names = "--member", paramLabel = "NAME",
            description = "Part to open of a store that has several, such as a database or a group.")
    private @Nullable String member;

    @Mixin
    private DecodeOptions decode;

    @Mixin
    private RemoteOptions remote;

    /** The file or folder that an argument names: a path, or the URI of a remote file. */
    Location locate(String name) {
        return remote.locate(name);
    }

    /** Returns the files or folders that arguments name. A remote name with braces names several. */
    List<Location> locate(List<String> names) {
        return remote.locate(names);
    }

    RemoteOptions remote() {
        return remote;
    }

    /** The name of the format that was given or is detected. */
    String format(Location path) throws IOException {
        return format == null ? StoreFormats.recognize(path).name() : format;
    }

    /** Opens a store; the caller closes it. */
    Store open(Location path) throws IOException {
        checkCombination();
        try {
            return Store.open(path, unchecked());
        } catch (IllegalArgumentException e) {
            throw new UsageException(String.valueOf(e.getMessage()), e);
        } catch (MalformedStoreException e) {
            if (format == null && !isRecognized(path)) {
                String hint = tokenizeHint(path);
                throw new BadInputException(e.getMessage() + (hint.isEmpty() ? "; name the format with --format"
                        : hint), e);
            }
            throw e;
        }
    }

    private static boolean isRecognized(Location path) throws IOException {
        try {
            StoreFormats.recognize(path);
            return true;
        } catch (MalformedStoreException _) {
            return false;
        }
    }

    /**
     * Advice for a path that is no store, or none of tokens: to tokenize text. Empty if it is not text, or names no
     * file itself, as a pattern of shards does.
     */
    static String tokenizeHint(Location location) throws IOException {
        Path path = location.local().orElse(null);
        if (path == null || Files.notExists(path, LinkOption.NOFOLLOW_LINKS)) {
            return "";
        }
        List<Path> files = List.of(path);
        if (Files.isDirectory(path)) {
            try (Stream<Path> inside = Files.list(path)) {
                files = inside.filter(file -> !HiddenNames.isHidden(file.getFileName().toString()))
                        .filter(Files::isRegularFile).sorted().limit(LOOKED_AT).toList();
            }
        }
        for (Path file : files) {
            if (!isText(file)) {
                return "";
            }
        }
        return files.isEmpty() ? "" : "; this is text: make a token store of it with: penstock tokenize "
                + ShellText.quoted(location) + " -o STORE";
    }

    /** Whether a file begins like text in UTF-8. */
    private static boolean isText(Path file) throws IOException {
        try (InputStream in = RegularFile.newInputStream(file)) {
            byte[] head = in.readNBytes(HEAD_BYTES);
            // The last character may be cut.
            return head.length > 0 && new String(head, StandardCharsets.UTF_8).chars().limit(HEAD_BYTES / 4)
                    .noneMatch(c -> c == REPLACEMENT || c < ' ' && !Character.isWhitespace(c));
        }
    }

    /** The limit on what a packed file of text may expand to. */
    DecodeLimit textLimit() {
        return decode.limit(DecodeLimit.TEXT);
    }

    /** The options given for the store; the format only if it was named. */
    OpenOptions options() {
        checkCombination();
        return UsageException.valid(() -> {
            if (format != null) {
                StoreFormats.named(format);
            }
            return unchecked();
        });
    }

    private void checkCombination() {
        if (format == null && dtype != null) {
            throw new UsageException("--dtype needs --format");
        }
    }

    private OpenOptions unchecked() {
        return new OpenOptions(format, dtype == null ? null : DType.of(dtype), shape, member, 0,
                decode.limit(DecodeLimit.DEFAULT));
    }
}
