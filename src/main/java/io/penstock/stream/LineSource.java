// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.codec.decoder.Compression;
import io.penstock.codec.decoder.TextInput;
import io.penstock.error.CodecException;
import io.penstock.error.PenstockException;
import io.penstock.io.DecodeLimit;
import io.penstock.io.local.RegularFile;
import io.penstock.json.JsonLine;
import io.penstock.stream.StreamSource.StreamEnd;
import io.penstock.text.LineFeeds;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The lines of text files: JSON lines, or any text. A file is a partition, and a cursor is the offset of a line in the
 * unpacked file. Files that are packed by gzip or zstd, as their first bytes or their names ({@code .gz},
 * {@code .zst}) say, are unpacked; to continue in one takes unpacking it up to the place.
 *
 * <p>A line is the bytes up to a line feed, without it and without a carriage return before it. Empty lines are left
 * out. A byte order mark at the start of a file is no part of its first line. Files of UTF-16 and those that are packed
 * in another way are refused.
 */
public final class LineSource implements StreamSource {

    /** The longest line. */
    private static final int MAX_LINE_BYTES = 256 << 20;
    private static final int BUFFER_BYTES = 1 << 16;

    private final List<Path> files;
    /** Of the partitions. */
    private final List<String> names;
    private final StreamEnd end;
    private final DecodeLimit decodeLimit;

    private LineSource(List<Path> files, StreamEnd end, DecodeLimit decodeLimit) {
        this.files = List.copyOf(files);
        this.end = end;
        this.decodeLimit = decodeLimit;
        if (files.isEmpty()) {
            throw new IllegalArgumentException("no file was named, expected at least one");
        }
        this.names = names(this.files);
    }

    private static List<String> names(List<Path> files) {
        int longest = files.stream().mapToInt(Path::getNameCount).max().orElse(0);
        for (int parts = 1; parts <= longest; parts++) {
            int last = parts;
            List<String> names = files.stream().map(file -> name(file, last)).toList();
            if (names.stream().distinct().count() == files.size()) {
                return names;
            }
        }
        throw new IllegalArgumentException("found a file twice in " + files);
    }

    /** So many of the last names in a path. */
    private static String name(Path file, int parts) {
        int count = file.getNameCount();
        return count == 0 ? file.toString() : file.subpath(Math.max(0, count - parts), count).toString()
                .replace('\\', '/');
    }

    /**
     * Reads the lines of complete files: a partition ends where its file does.
     *
     * @param files at least one
     * @return the source
     * @throws IllegalArgumentException if there is no file, or one is there twice
     */
    public static LineSource of(Path... files) {
        return new LineSource(List.of(files), StreamEnd.STOP, DecodeLimit.TEXT);
    }

    /**
     * {@return the same source with another limit on what each packed file may expand to} {@link DecodeLimit#TEXT} by
     * default.
     *
     * @param limit the limit
     */
    public LineSource withDecodeLimit(DecodeLimit limit) {
        return new LineSource(files, end, limit);
    }

    /**
     * Reads the lines of files that other programs append to. The source never ends. A line is read when its line feed
     * is there. A file that becomes shorter is an error, also if it is another one of the same name.
     *
     * @param files at least one, not compressed
     * @return the source
     * @throws IllegalArgumentException if a file is compressed, there is none, or one is there twice
     */
    public static LineSource growing(Path... files) {
        for (Path file : files) {
            if (Compression.of(file.toString(), new byte[0]) != Compression.NONE) {
                throw new IllegalArgumentException(file + ": found a compressed file, expected one that can grow");
            }
        }
        return new LineSource(List.of(files), StreamEnd.WAIT, DecodeLimit.TEXT);
    }

    /**
     * Reads lines that come only once, such as those of a pipe or a socket. Each is given at most once: lines that were
     * read but not trained on when a run stops are lost. A state cannot be resumed, unless a {@link SpoolSource} keeps
     * the lines.
     *
     * @param name identifies the lines in states and messages
     * @param in the bytes; closed with the stream
     * @return a source of one partition, for one loader
     */
    public static StreamSource once(String name, InputStream in) {
        return new Once(name, () -> in);
    }

    /**
     * Reads the lines that a program writes to its standard output, each at most once, as {@link #once}. The program
     * starts with the loader, and is ended with it. An exit status other than 0 is an error.
     *
     * @param command the program and its arguments
     * @return a source of one partition
     */
    public static StreamSource command(String... command) {
        List<String> words = List.of(command);
        return new Once("pipe", () -> new CommandOutput(words));
    }

    /**
     * Reads the lines that a server sends, each at most once, as {@link #once}. Connects when the loader opens.
     *
     * @param server the server's address
     * @return a source of one partition
     */
    public static StreamSource socket(InetSocketAddress server) {
        return new Once("tcp://" + server.getHostString() + ":" + server.getPort(), () -> new SocketInput(server));
    }

    @Override
    public String fingerprint() {
        return "lines";
    }

    /**
     * {@return the names of the files, with as few of their folders as tell them apart} So a run may continue where the
     * files are mounted.
     */
    @Override
    public List<String> partitions() {
        return names;
    }

    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        Path file = files.get(partition);
        long offset = offset(file, cursor);
        FileChannel channel = RegularFile.open(file);
        InputStream in = Channels.newInputStream(channel);
        try {
            ByteBuffer head = ByteBuffer.allocate(Compression.MAGIC_BYTES);
            channel.read(head, 0);
            Compression compression = end == StreamEnd.WAIT ? Compression.NONE
                    : Compression.of(file.toString(), Arrays.copyOf(head.array(), head.position()));
            boolean isPlain = compression == Compression.NONE;
            if (isPlain && channel.size() < offset) {
                throw new EOFException();
            }
            in = compression.open(file, in, channel.size(), decodeLimit);
            in.skipNBytes(offset);
            return new Lines(file.toString(), in, offset, end, isPlain ? file : null);
        } catch (EOFException e) {
            in.close();
            throw new IOException(file + ": found fewer bytes, expected at least the " + offset
                    + " that the saved state has read", e);
        } catch (Throwable t) {
            in.close();
            throw t;
        }
    }

    /** Lines that come only once. */
    private record Once(String name, Input input) implements StreamSource {

        /** Opens the bytes. */
        interface Input {

            InputStream open() throws IOException;
        }

        @Override
        public String fingerprint() {
            return "lines:" + name;
        }

        @Override
        public List<String> partitions() {
            return List.of(name);
        }

        @Override
        public PartitionReader open(int partition, String cursor) throws IOException {
            CountedSource.checkOnce(name, cursor);
            return new Lines(name, input.open(), 0, StreamEnd.STOP, null);
        }
    }

    private static long offset(Path file, String cursor) throws IOException {
        if (cursor.isEmpty()) {
            return 0;
        }
        try {
            long offset = Long.parseLong(cursor);
            if (offset >= 0) {
                return offset;
            }
        } catch (NumberFormatException _) {
            // Said below.
        }
        throw new IOException(file + ": found cursor '" + cursor + "', expected the offset of a line");
    }

    /** Cuts bytes into lines. */
    static final class Lines implements PartitionReader {

        private final String name;
        private final InputStream in;
        private final StreamEnd end;
        /** Whose size tells how far behind this is; null if nothing does. */
        private final @Nullable Path file;
        /** Bytes that were read and not given yet: from {@code from} to {@code to}. */
        private byte[] bytes = new byte[BUFFER_BYTES];
        private int from;
        private int to;
        /** Up to where there is no line feed. */
        private int searched;
        /** Whether the last line was given, and has no line feed: more of it may be written. */
        private boolean isCut;
        /** Of the byte at {@code from}. */
        private long offset;

        Lines(String name, InputStream in, long offset, StreamEnd end, @Nullable Path file) {
            this.name = name;
            this.in = in;
            this.offset = offset;
            this.end = end;
            this.file = file;
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            while (true) {
                for (int at = nextFeed(); at < to; at = nextFeed()) {
                    if (give(at, at + 1, into)) {
                        return Found.RECORD;
                    }
                }
                searched = to;
                int read = fill();
                if (read > 0 && offset == 0) {
                    start();                            // what is no text may have no line feed to wait for
                }
                if (read <= 0) {
                    if (read == 0) {
                        return Found.NOTHING_YET;
                    }
                    if (end == StreamEnd.WAIT) {
                        checkWhole();
                        return Found.NOTHING_YET;
                    }
                    isCut |= from < to;
                    return from < to && give(to, to, into) ? Found.RECORD : Found.END;
                }
            }
        }

        /** The next line feed; the end of what was read if there is none. */
        private int nextFeed() {
            return LineFeeds.first(bytes, searched, to);
        }

        /** Adds a line, unless it is empty. */
        private boolean give(int lineEnd, int next, RecordBuffer into) throws IOException {
            int begin = from + (offset == 0 ? start() : 0);
            int length = lineEnd - begin;
            if (length > 0 && bytes[lineEnd - 1] == '\r') {
                length--;
            }
            if (length > 0) {
                into.add(bytes, begin, length);
            }
            offset += next - from;
            from = next;
            searched = next;
            return length > 0;
        }

        /** Returns the bytes before the text of the first line; fails if this is no text. */
        private int start() throws IOException {
            try {
                return TextInput.start(bytes, from, to);
            } catch (CodecException e) {
                throw new CodecException(name + ": " + e.getMessage());
            }
        }

        /** Reads more; returns how many bytes: 0 for none yet, negative at the end. */
        private int fill() throws IOException {
            if (from > 0) {
                System.arraycopy(bytes, from, bytes, 0, to - from);
                to -= from;
                searched -= from;
                from = 0;
            } else if (to == bytes.length) {
                if (to >= MAX_LINE_BYTES) {
                    String array = JsonLine.noObject(bytes, 0, to);
                    throw new IOException(name + ", byte " + offset + ": " + (array.isEmpty() ? "found a line longer"
                            + " than " + MAX_LINE_BYTES + " bytes, expected lines of text" : array));
                }
                try {
                    bytes = Arrays.copyOf(bytes, Math.min(MAX_LINE_BYTES, 2 * to));
                } catch (OutOfMemoryError e) {
                    throw new IOException(name + ": no memory for the line at byte " + offset
                            + ", which is longer than " + to + " bytes", e);
                }
            }
            int read;
            try {
                read = in.read(bytes, to, bytes.length - to);
            } catch (IOException | PenstockException e) {
                throw new IOException(name + ", behind byte " + (offset + to) + ": " + e.getMessage(), e);
            }
            to += Math.max(0, read);
            return read;
        }

        /** Fails if a file that grows is shorter than what was read: its next lines would begin anywhere. */
        private void checkWhole() throws IOException {
            long read = offset + to - from;
            if (file != null && Files.exists(file) && Files.size(file) < read) {
                throw new IOException(name + ": found " + Files.size(file) + " bytes, expected at least the " + read
                        + " that were read: files that grow are only appended to");
            }
        }

        @Override
        public String cursor() {
            return Long.toString(offset);
        }

        @Override
        public boolean hasMetEnd() {
            return isCut;
        }

        /** How many bytes of the file are still to be read; the number of lines is not known. */
        @Override
        public Lag lag() {
            try {
                return file == null ? Lag.UNKNOWN : new Lag(Math.max(0, Files.size(file) - offset), -1, 0);
            } catch (IOException _) {
                return Lag.UNKNOWN;                     // reading will say what is wrong
            }
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
