// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.CodecException;
import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.DecodeLimit;
import io.penstock.io.local.RegularFile;
import io.penstock.text.LineFeeds;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.LongConsumer;

/**
 * A file of a corpus, or some of its lines, and how to read it according to its name.
 *
 * @param path its path
 * @param format how it holds documents
 * @param compression its compression
 * @param storedBytes its size on disk
 * @param start the first byte to read: 0, or the start of a line
 * @param end the byte after the last to read: the file's size, or the start of a line
 */
record CorpusFile(Path path, Format format, Compression compression, long storedBytes, long start, long end) {

    private static final int SEARCH_BYTES = 1 << 16;

    enum Format {
        /** The file is one document. */
        TEXT,
        /** Each line is a JSON object with a document in one field. */
        JSON_LINES,
        /** Each row of a table is one. */
        TABLE
    }

    /**
     * Derives the format from the name ({@code .jsonl}, {@code .ndjson}, {@code .json}; {@code .parquet}, {@code
     * .arrow}, {@code .feather}; the rest is text), the compression from the first bytes or the name.
     */
    static CorpusFile of(Path path) throws IOException {
        byte[] head;
        try (InputStream in = RegularFile.newInputStream(path)) {
            head = in.readNBytes(Compression.MAGIC_BYTES);
        } catch (NoSuchFileException e) {
            throw new MalformedStoreException(path, "no such file or folder", e);
        }
        String name = path.getFileName().toString().toLowerCase(Locale.ROOT);
        Compression compression = Compression.of(name, head);
        String stem = compression.stem(name);
        boolean json = stem.endsWith(".jsonl") || stem.endsWith(".ndjson") || stem.endsWith(".json");
        boolean table = name.endsWith(".parquet") || name.endsWith(".arrow") || name.endsWith(".feather");
        long size = Files.size(path);
        return new CorpusFile(path, table ? Format.TABLE : json ? Format.JSON_LINES : Format.TEXT,
                table ? Compression.NONE : compression, size, 0, size);
    }

    /** Whether lines of the file can be read without those before them. */
    boolean isDivisible() {
        return format == Format.JSON_LINES && compression == Compression.NONE;
    }

    /** The lines of a divisible file that start in a range of bytes. */
    CorpusFile lines(long from, long to) throws IOException {
        return new CorpusFile(path, format, compression, storedBytes, lineFrom(from), lineFrom(to));
    }

    /** The start of the first line that starts at a byte or after it, or the file's size. */
    private long lineFrom(long at) throws IOException {
        if (at <= 0 || at >= storedBytes) {
            return Math.clamp(at, 0, storedBytes);
        }
        try (FileChannel channel = RegularFile.open(path)) {
            ByteBuffer buffer = ByteBuffer.allocate(SEARCH_BYTES);
            for (long from = at - 1; channel.read(buffer.clear(), from) > 0; from += buffer.position()) {
                int end = LineFeeds.first(buffer.array(), 0, buffer.position());
                if (end < buffer.position()) {
                    return from + end + 1;
                }
            }
        }
        return storedBytes;
    }

    /** Counts the lines before the first one that is read. */
    long linesBefore() throws IOException {
        long lines = 0;
        if (start > 0) {
            try (FileChannel channel = RegularFile.open(path)) {
                ByteBuffer buffer = ByteBuffer.allocate(SEARCH_BYTES);
                for (long left = start; left > 0; left -= buffer.position()) {
                    buffer.clear().limit((int) Math.min(SEARCH_BYTES, left));
                    if (channel.read(buffer) < 0) {
                        return lines;
                    }
                    lines += LineFeeds.count(buffer.array(), buffer.position());
                }
            }
        }
        return lines;
    }

    /** Opens the file uncompressed, within a limit; {@code stored} receives how many bytes are read from disk. */
    InputStream open(LongConsumer stored, DecodeLimit limit) throws IOException {
        if (format == Format.TABLE) {
            return TableLines.open(path, storedBytes, stored);
        }
        if (compression != Compression.NONE && storedBytes == 0) {
            throw new MalformedStoreException(path, "found an empty file, expected "
                    + compression.name().toLowerCase(Locale.ROOT) + " data");
        }
        FileChannel channel = RegularFile.open(path);
        try {
            long most = end == storedBytes ? Long.MAX_VALUE : end - start;
            InputStream in = new CountedStream(Channels.newInputStream(channel.position(start)), most, stored);
            return compression.open(path, in, storedBytes, limit);
        } catch (IOException e) {
            channel.close();
            throw e;
        } catch (PenstockException e) {
            channel.close();
            throw named(e);
        }
    }

    /** Adds the file's name to an error in its compressed data. */
    PenstockException named(PenstockException failure) {
        return failure instanceof CodecException || failure instanceof LibraryException
                ? new MalformedStoreException(path, failure.getMessage(), failure) : failure;
    }
}
