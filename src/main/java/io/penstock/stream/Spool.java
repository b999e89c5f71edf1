// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.local.RegularFile;
import io.penstock.io.publish.Folder;
import io.penstock.io.publish.WriterLock;
import io.penstock.memory.LittleEndian;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Records on disk, one behind the other, in files whose names are the places of their first bytes. What an earlier
 * process was writing when it ended is cut off. The oldest files are deleted so that all have at most so many bytes.
 * For one thread.
 *
 * <pre>
 *   0    i32 length n of the record, little-endian
 *   4    u32 CRC-32C of the length and the record
 *   8    n bytes
 * </pre>
 */
final class Spool implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Spool.class.getName());
    private static final int HEADER_BYTES = 8;
    private static final int BUFFER_BYTES = 1 << 16;
    private static final long MOST_FILE_BYTES = 64 << 20;
    /** As many files at least share the most bytes. */
    private static final int LEAST_FILES = 8;
    private static final String ENDING = ".spool";

    private final Path folder;
    private final long maxBytes;
    private final WriterLock lock;
    /** The places where the files begin; the last one is written to. */
    private final TreeSet<Long> files = new TreeSet<>();
    /** The place behind the last byte of the files. */
    private long written;
    private final CRC32C checksum = new CRC32C();
    private final byte[] header = new byte[HEADER_BYTES];
    private final MemorySegment headerSegment = MemorySegment.ofArray(header);
    /** What was added and is not written. */
    private byte[] added = new byte[BUFFER_BYTES];
    private int addedBytes;
    private @Nullable RandomAccessFile out;
    /** The file that is read, and the place of its next byte. */
    private @Nullable InputStream in;
    private long inAt;
    private byte[] record = new byte[BUFFER_BYTES];
    private boolean isClosed;

    Spool(Path folder, long maxBytes) throws IOException {
        this.folder = folder;
        this.maxBytes = maxBytes;
        Folder.create(folder);
        lock = WriterLock.take(folder, folder);
        try {
            try (Stream<Path> listed = Files.list(folder)) {
                for (Path file : listed.filter(path -> path.toString().endsWith(ENDING)).toList()) {
                    String name = String.valueOf(file.getFileName());
                    files.add(Long.parseLong(name.substring(0, name.length() - ENDING.length())));
                }
            } catch (NumberFormatException e) {
                throw new IOException(folder + ": found a file that is none of a spool: " + e.getMessage(), e);
            }
            if (files.isEmpty()) {
                beginFile(0);
            } else {
                continueFile(files.last());
            }
        } catch (Throwable t) {
            try {
                close();
            } catch (IOException e) {
                t.addSuppressed(e);
            }
            throw t;
        }
    }

    private Path file(long begin) {
        return folder.resolve(String.format(Locale.ROOT, "%020d", begin) + ENDING);
    }

    private void beginFile(long begin) throws IOException {
        out = new RandomAccessFile(file(begin).toFile(), "rw");
        files.add(begin);
        Folder.flush(folder);
    }

    /** Goes on in the last file, behind its last complete record. */
    private void continueFile(long begin) throws IOException {
        long end = begin;
        written = begin + Files.size(file(begin));
        try {
            while (end < written) {
                readAt(end);
                end = inAt;
            }
        } catch (MalformedStoreException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}; {1} bytes that were being written are cut off", e.getMessage(),
                    written - end);
        }
        closeInput();
        var file = new RandomAccessFile(file(begin).toFile(), "rw");
        out = file;
        file.setLength(end - begin);
        // A run that was killed may have written without a sync, and its records are given without being written again.
        file.getFD().sync();
        Folder.flush(folder);
        written = end;
    }

    /** The place of the first record that is there. */
    long begin() {
        return files.first();
    }

    /** The place behind the last record. */
    long end() {
        return written + addedBytes;
    }

    // ---- writing

    /** Adds the last record of a buffer. */
    void add(RecordBuffer from) throws IOException {
        int last = from.count() - 1;
        long begin = from.begin(last);
        int length = Math.toIntExact(from.end(last) - begin);
        if (addedBytes + HEADER_BYTES + (long) length > added.length) {
            write();
            added = HEADER_BYTES + length > added.length ? new byte[HEADER_BYTES + length] : added;
        }
        MemorySegment.copy(from.bytes(), ValueLayout.JAVA_BYTE, begin, added, addedBytes + HEADER_BYTES, length);
        writeHeader(added, addedBytes, length);
        addedBytes += HEADER_BYTES + length;
    }

    private void writeHeader(byte[] into, int at, int length) {
        headerSegment.set(LittleEndian.I32, 0, length);
        checksum.reset();
        checksum.update(header, 0, Integer.BYTES);
        checksum.update(into, at + HEADER_BYTES, length);
        headerSegment.set(LittleEndian.I32, Integer.BYTES, (int) checksum.getValue());
        System.arraycopy(header, 0, into, at, HEADER_BYTES);
    }

    /** Writes what was added. Not by a channel: a thread that is interrupted loses nothing. */
    private void write() throws IOException {
        if (addedBytes == 0) {
            return;
        }
        try {
            open().seek(written - files.last());       // also behind a write that failed halfway
            open().write(added, 0, addedBytes);
        } catch (IOException e) {
            throw new IOException(file(files.last()) + ": cannot be written: " + e.getMessage(), e);
        }
        written += addedBytes;
        addedBytes = 0;
    }

    private RandomAccessFile open() {
        RandomAccessFile file = out;
        if (file == null) {
            throw new IllegalStateException(folder + ": the spool is closed");
        }
        return file;
    }

    /** Keeps what was added through a power cut, and deletes the oldest files if there are too many bytes. */
    void keep() throws IOException {
        if (addedBytes == 0) {
            return;
        }
        write();
        open().getFD().sync();
        if (written - files.last() >= Math.min(MOST_FILE_BYTES, maxBytes / LEAST_FILES)) {
            open().close();
            beginFile(written);
        }
        while (files.size() > 1 && end() - begin() > maxBytes) {
            Files.delete(file(begin()));
            files.pollFirst();
        }
    }

    // ---- reading

    /** Adds the record at a place to a buffer, and returns the place behind it. */
    long read(long at, RecordBuffer into) throws IOException {
        int length = readAt(at);
        into.add(record, 0, length);
        return inAt;
    }

    /** Reads the record at a place, and returns its length. */
    private int readAt(long at) throws IOException {
        long begin = Objects.requireNonNull(files.floor(at));
        InputStream from = in;
        if (from == null || inAt != at || at == begin) {
            closeInput();
            from = new BufferedInputStream(RegularFile.newInputStream(file(begin)), BUFFER_BYTES);
            in = from;
            try {
                from.skipNBytes(at - begin);
            } catch (EOFException _) {
                throw damaged(begin, at, "the end of the file");
            }
        }
        Long next = files.higher(begin);
        long left = (next == null ? written : next) - at - HEADER_BYTES;
        if (left < 0 || from.readNBytes(header, 0, HEADER_BYTES) < HEADER_BYTES) {
            throw damaged(begin, at, "the end of the file");
        }
        int length = headerSegment.get(LittleEndian.I32, 0);
        int expected = headerSegment.get(LittleEndian.I32, Integer.BYTES);
        if (length < 0 || length > left) {
            throw damaged(begin, at, "a length of " + length + " bytes, of which there are " + left);
        }
        if (length > record.length) {
            record = new byte[length];
        }
        if (from.readNBytes(record, 0, length) < length) {
            throw damaged(begin, at, "the end of the file");
        }
        checksum.reset();
        checksum.update(header, 0, Integer.BYTES);
        checksum.update(record, 0, length);
        if ((int) checksum.getValue() != expected) {
            throw damaged(begin, at, "a checksum of " + Integer.toHexString((int) checksum.getValue()));
        }
        inAt = at + HEADER_BYTES + length;
        return length;
    }

    private MalformedStoreException damaged(long begin, long at, String found) {
        return new MalformedStoreException(file(begin), at - begin, found, "a record that was spooled");
    }

    private void closeInput() throws IOException {
        if (in != null) {
            in.close();
            in = null;
        }
    }

    /** Writes what was added, and lets others use the folder. Calling it again does nothing. */
    @Override
    public void close() throws IOException {
        if (isClosed) {
            return;
        }
        isClosed = true;
        try {
            closeInput();
            keep();
        } finally {
            try (RandomAccessFile _ = out) {
                lock.release();
            }
        }
    }
}
