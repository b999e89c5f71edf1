// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.codec.CodecException;
import io.penstock.codec.DecodeLimit;
import io.penstock.codec.MissingLibraryException;
import io.penstock.codec.decoder.Gzip;
import io.penstock.codec.decoder.Zstd;
import io.penstock.io.file.RegularFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.LongConsumer;

/**
 * A file of a corpus, and how to read it according to its name.
 *
 * @param path its path
 * @param format how it holds documents
 * @param compression its compression
 * @param storedBytes its size on disk
 */
record CorpusFile(Path path, Format format, Compression compression, long storedBytes) {

    enum Format {
        /** The file is one document. */
        TEXT,
        /** Each line is a JSON object with a document in one field. */
        JSON_LINES
    }

    enum Compression {
        NONE, GZIP, ZSTD;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Derives format and compression from a name: {@code .jsonl}, {@code .ndjson}, {@code .json}; the rest is text. */
    static CorpusFile of(Path path) throws IOException {
        try {
            RegularFile.require(path);
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
        return new CorpusFile(path, json ? Format.JSON_LINES : Format.TEXT, compression, Files.size(path));
    }

    /** Opens the file uncompressed, within a limit; {@code stored} receives how many bytes are read from disk. */
    InputStream open(LongConsumer stored, DecodeLimit limit) throws IOException {
        if (compression != Compression.NONE && storedBytes == 0) {
            throw new CorpusException(path, "found an empty file, expected " + compression + " data");
        }
        InputStream in = new CountedStream(RegularFile.newInputStream(path), stored);
        try {
            return switch (compression) {
                case NONE -> in;
                case GZIP -> limit.budget(path, storedBytes).count(Gzip.open(in));
                case ZSTD -> limit.budget(path, storedBytes).count(Zstd.open(in));
            };
        } catch (IOException e) {
            in.close();
            throw readFailure(e);
        }
    }

    /** Adds the file's name to an error in its compressed data. */
    IOException readFailure(IOException failure) {
        return failure instanceof CodecException || failure instanceof MissingLibraryException
                ? new CorpusException(path, failure.getMessage(), failure) : failure;
    }
}
