// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.codec.decoder.Compression;
import io.penstock.codec.decoder.TextInput;
import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.format.Fingerprint;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.publish.UnnamedFile;
import io.penstock.store.Candidate;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a text file: of a plain one, its mapping; of one that is packed by gzip or zstd, an unnamed copy that is
 * decoded once, when a byte of it is first needed. Thread-safe.
 */
final class TextFile implements AutoCloseable {

    private static final int COPY_BYTES = 1 << 20;
    private static final long LEAST_COPY_BYTES = 4 << 20;
    /** What a packed text usually expands to; a copy that turns out too small is made twice as large. */
    private static final long USUAL_RATIO = 8;

    private final MappedFile stored;
    private final Compression compression;
    private final DecodeLimit limit;
    private final long mtimeNanos;
    private final String content;
    private volatile @Nullable UnnamedFile copy;
    /** The size of the text; negative if it is packed and was not decoded yet. */
    private volatile long byteSize;
    private boolean closed;

    private TextFile(MappedFile stored, Compression compression, DecodeLimit limit) throws IOException {
        this.stored = stored;
        this.compression = compression;
        this.limit = limit;
        Path local = stored.location().local().orElse(null);
        this.mtimeNanos = local == null ? 0 : Files.getLastModifiedTime(local).to(TimeUnit.NANOSECONDS);
        this.content = new Fingerprint().add(stored).hex();
        this.byteSize = compression == Compression.NONE ? stored.byteSize() : -1;
    }

    static TextFile open(Location location, DecodeLimit limit) throws IOException {
        Compression compression = Compression.of(location.name(), Candidate.headOf(location));
        MappedFile stored = location.open();
        try {
            return new TextFile(stored, compression, limit);
        } catch (Throwable t) {
            stored.close();
            throw t;
        }
    }

    Location location() {
        return stored.location();
    }

    MappedFile stored() {
        return stored;
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
            file();
        }
        return byteSize;
    }

    /** Returns the most bytes that the text may have. */
    long maxBytes() {
        return isPacked() ? limit.of(stored.byteSize()) : stored.byteSize();
    }

    /** Returns the text; the file may be longer than it. */
    MappedFile file() {
        if (!isPacked()) {
            return stored;
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
                decoded = decode();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            stored.checkUnchanged();
            copy = decoded;
        }
        return decoded.mapped();
    }

    private UnnamedFile decode() throws IOException {
        long expected = byteSize;
        long room = expected >= 0 ? expected
                : Math.max(LEAST_COPY_BYTES, Math.min(maxBytes(), USUAL_RATIO * stored.byteSize()));
        UnnamedFile target = UnnamedFile.create(location(), room);
        try (InputStream in = compression.open(location(), location().newInputStream(), stored.byteSize(), limit)) {
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
        } catch (IOException | PenstockException e) {
            target.close();
            throw e;
        }
    }

    private MalformedStoreException unexpected(String found, long expected) {
        return new MalformedStoreException(location(), "decodes to " + found + " bytes", expected
                + ", as its index says (was it written while it was open?)");
    }

    private UnnamedFile larger(UnnamedFile full, long bytes) throws IOException {
        UnnamedFile target = UnnamedFile.create(location(), 2 * full.mapped().byteSize());
        byte[] chunk = new byte[COPY_BYTES];
        for (long at = 0; at < bytes; at += COPY_BYTES) {
            int length = (int) Math.min(COPY_BYTES, bytes - at);
            MemorySegment.copy(full.mapped().segment(), JAVA_BYTE, at, chunk, 0, length);
            target.write(at, chunk, 0, length);
        }
        full.close();
        return target;
    }

    /** Copies bytes of the text; an error names the file if it has changed. */
    void read(long at, byte[] into, int bytes) {
        MappedFile file = file();
        MemorySegment part = file.range(at, bytes);
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
        UnnamedFile decoded = copy;
        if (decoded != null) {
            decoded.close();
        }
        stored.close();
    }
}
