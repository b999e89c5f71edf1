package io.penstock.tokenize;

import io.penstock.codec.MissingLibraryException;
import io.penstock.codec.Zstd;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.zip.GZIPInputStream;

/**
 * A file of a corpus, and how its name says to read it.
 *
 * @param path where it is
 * @param format what its documents are
 * @param compression what it is packed with
 * @param storedBytes its size, as it lies on disk
 */
record CorpusFile(Path path, Format format, Compression compression, long storedBytes) {

    enum Format {
        /** The file is one document. */
        TEXT,
        /** Each line is a JSON object, one of whose fields is a document. */
        JSON_LINES
    }

    enum Compression {
        NONE, GZIP, ZSTD;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final int STREAM_BUFFER_BYTES = 64 << 10;

    /**
     * The files behind a list of files and folders, in the order given; those of a folder are sorted by the bytes of
     * their paths, and what is hidden in one is left out.
     *
     * @throws CorpusException if a file is missing, or a folder has nothing to read
     */
    static List<CorpusFile> list(List<Path> inputs) throws IOException {
        List<CorpusFile> files = new ArrayList<>();
        for (Path input : inputs) {
            if (Files.isDirectory(input)) {
                List<Path> within = walk(input);
                if (within.isEmpty()) {
                    throw new CorpusException(input, "no files in this folder");
                }
                for (Path path : within) {
                    files.add(of(path));
                }
            } else {
                files.add(of(input));
            }
        }
        return files;
    }

    /** Reads format and compression off a name: {@code .jsonl}, {@code .ndjson}, {@code .json}; the rest is text. */
    static CorpusFile of(Path path) throws IOException {
        BasicFileAttributes attributes;
        try {
            attributes = Files.readAttributes(path, BasicFileAttributes.class);
        } catch (NoSuchFileException e) {
            throw new CorpusException(path, "no such file or folder", e);
        }
        String name = path.getFileName().toString().toLowerCase(Locale.ROOT);
        Compression compression = Compression.NONE;
        if (name.endsWith(".gz")) {
            compression = Compression.GZIP;
        } else if (name.endsWith(".zst")) {
            compression = Compression.ZSTD;
        }
        String stem = compression == Compression.NONE ? name : name.substring(0, name.lastIndexOf('.'));
        boolean json = stem.endsWith(".jsonl") || stem.endsWith(".ndjson") || stem.endsWith(".json");
        return new CorpusFile(path, json ? Format.JSON_LINES : Format.TEXT, compression, attributes.size());
    }

    private static List<Path> walk(Path folder) throws IOException {
        List<Path> paths = new ArrayList<>();
        Files.walkFileTree(folder, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
                        return !path.equals(folder) && isHidden(path)
                                ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
                        if (!isHidden(path)) {
                            paths.add(path);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path path, IOException e) throws IOException {
                        throw e instanceof FileSystemLoopException
                                ? new CorpusException(path, "a link that leads back to a folder above it", e) : e;
                    }
                });
        paths.sort(Comparator.comparing(path -> path.toString().getBytes(StandardCharsets.UTF_8),
                Arrays::compareUnsigned));
        return paths;
    }

    private static boolean isHidden(Path path) {
        return path.getFileName().toString().startsWith(".");
    }

    /** Opens the file unpacked; {@code stored} counts the bytes that are read from disk. */
    InputStream open(ByteCount stored) throws IOException {
        if (compression != Compression.NONE && storedBytes == 0) {
            throw new CorpusException(path, "found an empty file, expected " + compression + " data");
        }
        // A channel, for unlike a file's own stream it can be interrupted while it waits for a pipe.
        InputStream in = new CountedStream(Channels.newInputStream(FileChannel.open(path)), stored);
        try {
            return switch (compression) {
                case NONE -> in;
                case GZIP -> new GZIPInputStream(new BufferedInputStream(in, STREAM_BUFFER_BYTES), STREAM_BUFFER_BYTES);
                case ZSTD -> openZstd(in);
            };
        } catch (IOException e) {
            in.close();
            throw readFailure(e, 0);
        }
    }

    private InputStream openZstd(InputStream in) throws IOException {
        try {
            return Zstd.open(in);
        } catch (MissingLibraryException e) {
            throw new CorpusException(path, e.getMessage(), e);
        }
    }

    /** Tells a packed file that is cut or damaged from one that the system cannot read. */
    IOException readFailure(IOException failure, long unpackedBytes) {
        if (compression == Compression.NONE || failure instanceof ClosedByInterruptException
                || failure instanceof FileSystemException || failure instanceof CorpusException) {
            return failure;
        }
        String problem = failure instanceof EOFException
                ? "the " + compression + " data is cut: it ends after " + unpackedBytes + " unpacked bytes"
                : "the " + compression + " data cannot be unpacked after " + unpackedBytes + " bytes: "
                        + failure.getMessage();
        return new CorpusException(path, problem, failure);
    }
}
