// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.codec.decoder.Compression;
import io.penstock.codec.decoder.TextInput;
import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.Fingerprint;
import io.penstock.format.OpenedVersion;
import io.penstock.format.table.OpenFiles;
import io.penstock.internal.Scratch;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.io.publish.UnnamedFile;
import io.penstock.store.Candidate;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a text file: of a plain one, its mapping; of one that is packed by gzip or zstd, an unnamed copy that is
 * decoded once, when a byte of it is first needed. Of a table of many files only those that were used last are open; a
 * file that is opened again must be the one that it was. Thread-safe.
 */
final class TextFile implements AutoCloseable {

    /** A table of more files closes those that were not used for long. */
    private static final int MOST_KEPT = 2048;

    private static final int COPY_BYTES = 1 << 20;
    private static final long LEAST_COPY_BYTES = 4 << 20;
    /** What a packed text usually expands to; a copy that turns out too small is made twice as large. */
    private static final long USUAL_RATIO = 8;

    /** So few or so many bytes are copied from the mapping. */
    private static final int LEAST_CALL_BYTES = 16 << 10;
    private static final int MOST_CALL_BYTES = 4 << 20;

    /** Reads by calls, for one thread at a time: the faults of a mapping cost more than the copy. */
    private static final class Calls implements AutoCloseable {

        private final SpanReader reader = new SpanReader(ReadMode.PREAD);
        private final Scratch memory = new Scratch();
        private final Span span = new Span();

        void read(MappedFile file, long at, byte[] into, int bytes) {
            MemorySegment read = memory.of(bytes);
            span.set(file, at, bytes);
            reader.copy(span, read, 0);
            MemorySegment.copy(read, JAVA_BYTE, 0, into, 0, bytes);
        }

        @Override
        public void close() {
            reader.close();
            memory.close();
        }
    }

    /** Null if the files of the table are all kept open. */
    private final @Nullable OpenFiles<TextFile> open;
    private final Location location;
    private final long storedBytes;
    private final OpenedVersion version;
    private final boolean isRemote;
    /** Written under the lock of this: the open file, and how many read it. */
    private volatile @Nullable MappedFile stored;
    private int users;
    private final ConcurrentLinkedQueue<Calls> calls = new ConcurrentLinkedQueue<>();
    private final Compression compression;
    private final DecodeLimit limit;
    private final long mtimeNanos;
    private final String content;
    private volatile @Nullable UnnamedFile copy;
    /** The size of the text; negative if it is packed and was not decoded yet. */
    private volatile long byteSize;
    private volatile boolean closed;

    private TextFile(MappedFile stored, Compression compression, DecodeLimit limit,
            @Nullable OpenFiles<TextFile> open) throws IOException {
        this.open = open;
        this.location = stored.location();
        this.storedBytes = stored.byteSize();
        this.version = OpenedVersion.of(stored);
        this.isRemote = stored.isRemote();
        this.stored = stored;
        this.compression = compression;
        this.limit = limit;
        Path local = stored.location().local().orElse(null);
        this.mtimeNanos = local == null ? 0 : Files.getLastModifiedTime(local).to(TimeUnit.NANOSECONDS);
        this.content = new Fingerprint().add(stored).hex();
        this.byteSize = compression == Compression.NONE ? stored.byteSize() : -1;
    }

    /** Returns the list of a table of so many files; null if it keeps all open. */
    static @Nullable OpenFiles<TextFile> openFiles(int count) {
        return count <= MOST_KEPT ? null : new OpenFiles<>(TextFile::rest);
    }

    static TextFile open(Location location, DecodeLimit limit, @Nullable OpenFiles<TextFile> open)
            throws IOException {
        Compression compression = Compression.of(location.name(), Candidate.headOf(location));
        MappedFile stored = location.open();
        try {
            TextFile file = new TextFile(stored, compression, limit, open);
            file.used();
            return file;
        } catch (Throwable t) {
            stored.close();
            throw t;
        }
    }

    Location location() {
        return location;
    }

    /** Returns the size of the file as it is stored. */
    long storedBytes() {
        return storedBytes;
    }

    /** Tells whether spans of the file stay valid until it is closed. */
    boolean isKept() {
        return open == null || isRemote;
    }

    /** Adds the file to a fingerprint. */
    void addTo(Fingerprint sample) {
        MappedFile file = acquire();
        try {
            sample.add(file);
        } finally {
            release();
        }
    }

    /** Returns the file as it is stored, which stays open until {@link #release} is called as often. */
    MappedFile acquire() {
        MappedFile found;
        synchronized (this) {
            MappedFile there = stored;
            found = there == null ? openAgain() : there;
            stored = found;
            users++;
        }
        used();
        return found;
    }

    private void used() {
        if (open != null && !isRemote) {
            open.used(this);
        }
    }

    synchronized void release() {
        users--;
    }

    void checkUnchanged() {
        MappedFile file = acquire();
        try {
            file.checkUnchanged();
        } finally {
            release();
        }
    }

    private MappedFile openAgain() {
        if (closed) {
            throw new IllegalStateException(location + ": the store is closed");
        }
        try {
            version.requireSame();
            return location.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes the file if nobody reads it; tells whether it is closed. */
    private synchronized boolean rest() {
        if (users > 0) {
            return false;
        }
        closeAll();
        return true;
    }

    boolean isPacked() {
        return compression != Compression.NONE;
    }

    /** Returns the time of the file's last write, in nanoseconds since 1970; 0 if it is not local. */
    long mtimeNanos() {
        return mtimeNanos;
    }

    /** Returns a digest of the file's size and a sample of its bytes, as they are stored. */
    String content() {
        return content;
    }

    /** Tells the size of the text of a packed file, as its index has it. */
    void expect(long textBytes) {
        if (isPacked()) {
            byteSize = textBytes;
        }
    }

    /** Returns the size of the text. */
    long byteSize() {
        if (byteSize < 0) {
            acquire();
            try {
                file();
            } finally {
                release();
            }
        }
        return byteSize;
    }

    /** Returns the most bytes that the text may have. */
    long maxBytes() {
        return isPacked() ? limit.of(storedBytes) : storedBytes;
    }

    /** Returns the text of a file that is kept, or was acquired; the file may be longer than it. */
    MappedFile file() {
        if (!isPacked()) {
            return Objects.requireNonNull(stored);
        }
        UnnamedFile there = copy;
        return there != null ? there.mapped() : decodeOnce();
    }

    private synchronized MappedFile decodeOnce() {
        if (closed) {
            throw new IllegalStateException(location() + ": the store is closed");
        }
        UnnamedFile decoded = copy;
        if (decoded == null) {
            try {
                decoded = decodeSame();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            copy = decoded;
        }
        return decoded.mapped();
    }

    /** Decodes the file, which may be another one by now: it is opened by its path. */
    private UnnamedFile decodeSame() throws IOException {
        version.requireSame();
        long expected = byteSize;
        UnnamedFile decoded = decode();
        try {
            version.requireSame();
            Objects.requireNonNull(stored).checkUnchanged();
            return decoded;
        } catch (Throwable t) {
            byteSize = expected;
            decoded.close();
            throw t;
        }
    }

    private UnnamedFile decode() throws IOException {
        long expected = byteSize;
        long room = expected >= 0 ? expected
                : Math.max(LEAST_COPY_BYTES, Math.min(maxBytes(), USUAL_RATIO * storedBytes));
        UnnamedFile target = UnnamedFile.create(location(), room);
        try (InputStream in = compression.open(location(), location().newInputStream(), storedBytes, limit)) {
            byte[] chunk = new byte[COPY_BYTES];
            long bytes = 0;
            for (int read = in.read(chunk); read > 0; read = in.read(chunk)) {
                if (bytes + read > target.mapped().byteSize()) {
                    if (expected >= 0) {
                        throw unexpected("more than " + expected, expected);
                    }
                    target = larger(target, bytes);
                }
                target.write(bytes, chunk, 0, read);
                bytes += read;
            }
            if (expected >= 0 && bytes != expected) {
                throw unexpected(String.valueOf(bytes), expected);
            }
            byteSize = bytes;
            return target;
        } catch (CodecException e) {
            target.close();
            throw new MalformedStoreException(location(), e);
        } catch (Throwable t) {
            target.close();
            throw t;
        }
    }

    private MalformedStoreException unexpected(String found, long expected) {
        return new MalformedStoreException(location(), "decodes to " + found + " bytes", expected
                + ", as its index says (was it written while it was open?)");
    }

    private UnnamedFile larger(UnnamedFile full, long bytes) throws IOException {
        UnnamedFile target = UnnamedFile.create(location(), 2 * full.mapped().byteSize());
        try {
            byte[] chunk = new byte[COPY_BYTES];
            for (long at = 0; at < bytes; at += COPY_BYTES) {
                int length = (int) Math.min(COPY_BYTES, bytes - at);
                MemorySegment.copy(full.mapped().segment(), JAVA_BYTE, at, chunk, 0, length);
                target.write(at, chunk, 0, length);
            }
        } catch (Throwable t) {
            target.close();
            throw t;
        }
        full.close();
        return target;
    }

    /** Copies bytes of the text; an error names the file if it has changed. */
    void read(long at, byte[] into, int bytes) {
        acquire();
        try {
            read(file(), at, into, bytes);
        } finally {
            release();
        }
    }

    private void read(MappedFile file, long at, byte[] into, int bytes) {
        MemorySegment part = file.range(at, bytes);
        if (!file.isRemote() && bytes >= LEAST_CALL_BYTES && bytes <= MOST_CALL_BYTES) {
            Calls found = calls.poll();
            Calls by = found == null ? new Calls() : found;
            try {
                by.read(file, at, into, bytes);
            } finally {
                calls.add(by);
                if (closed) {
                    closeCalls();
                }
            }
            return;
        }
        file.reading(() -> {
            MemorySegment.copy(part, JAVA_BYTE, 0, into, 0, bytes);
            return part;
        });
    }

    /** Returns where the text begins, behind a byte order mark; fails if this is no text in UTF-8. */
    long start() {
        byte[] head = new byte[(int) Math.min(4096, byteSize())];
        read(0, head, head.length);
        try {
            return TextInput.start(head, 0, head.length);
        } catch (CodecException e) {
            throw new MalformedStoreException(location(), e);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        closeAll();
    }

    private synchronized void closeAll() {
        UnnamedFile decoded = copy;
        copy = null;
        if (decoded != null) {
            decoded.close();
        }
        closeCalls();
        MappedFile file = stored;
        if (file != null) {
            file.close();
            // A file of a closed table stays, so that its spans say that it is closed.
            stored = closed ? file : null;
        }
    }

    private void closeCalls() {
        for (Calls by = calls.poll(); by != null; by = calls.poll()) {
            by.close();
        }
    }
}
