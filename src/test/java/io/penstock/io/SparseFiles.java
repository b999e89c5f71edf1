// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A source that is not local, for tests: what is mapped of a file is another one, full of {@value #POISON}, into which
 * blocks come when they are required, and no byte more. It keeps what was asked for.
 */
public final class SparseFiles implements FileSource {

    /** What a byte is that was not fetched. */
    public static final byte POISON = (byte) 0xDD;

    private static final int BLOCK_BYTES = 64;

    private final Path folder;
    private final List<Fetcher> open = Collections.synchronizedList(new ArrayList<>());
    private final Map<String, BitSet> fetched = new ConcurrentHashMap<>();

    /**
     * A source.
     *
     * @param folder holds the sparse files while they are open
     */
    public SparseFiles(Path folder) {
        this.folder = folder;
    }

    /** Where a local file or folder is in this source. */
    public Location of(Path path) {
        return new Location(this, path.toString());
    }

    /** How many bytes of a file were fetched, each counted once; whole blocks. */
    public long fetchedBytes(Path path) {
        return (long) BLOCK_BYTES * fetched.getOrDefault(path.toString(), new BitSet()).cardinality();
    }

    /** How many files were opened and not closed. */
    public int openFiles() {
        return open.size();
    }

    @Override
    public String root() {
        return "test://";
    }

    @Override
    public FileInfo info(String path) {
        return LocalFiles.info(Path.of(path));
    }

    @Override
    public List<String> files(String path, Predicate<String> chosen) throws IOException {
        try (Stream<Path> files = Files.list(Path.of(path))) {
            return files.filter(Files::isRegularFile).map(file -> file.getFileName().toString()).filter(chosen)
                    .toList();
        }
    }

    @Override
    public MappedFile open(Location file, MappedFile index) throws IOException {
        Path path = Path.of(file.path());
        RegularFile.require(path);
        Path sparse = Files.createTempFile(folder, "sparse-", ".tmp");
        byte[] poison = new byte[(int) Files.size(path)];
        Arrays.fill(poison, POISON);
        Files.write(sparse, poison);
        Fetcher fetcher = new Fetcher(path, sparse, poison.length);
        open.add(fetcher);
        try {
            return MappedFile.openSparse(file, info(file.path()).version(), sparse, fetcher, index);
        } catch (IOException | RuntimeException e) {
            fetcher.close();
            throw e;
        }
    }

    private final class Fetcher implements RangeFetcher {

        private final FileChannel from;
        private final FileChannel to;
        private final Path sparse;
        private final long byteSize;
        private final BitSet present = new BitSet();
        private final BitSet all;

        Fetcher(Path path, Path sparse, long byteSize) throws IOException {
            this.from = FileChannel.open(path);
            this.to = FileChannel.open(sparse, StandardOpenOption.WRITE);
            this.sparse = sparse;
            this.byteSize = byteSize;
            this.all = fetched.computeIfAbsent(path.toString(), _ -> new BitSet());
        }

        @Override
        public synchronized boolean isPresent(long offset, long bytes) {
            check(offset, bytes);
            return bytes == 0 || present.nextClearBit(block(offset)) > block(offset + bytes - 1);
        }

        @Override
        public synchronized void fetch(long offset, long bytes, FetchWaits waits) {
            check(offset, bytes);
            for (int block = block(offset); bytes > 0 && block <= block(offset + bytes - 1); block++) {
                if (!present.get(block)) {
                    bring(block);
                    present.set(block);
                    all.set(block);
                }
            }
        }

        private void bring(int block) {
            long start = (long) block * BLOCK_BYTES;
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(BLOCK_BYTES, byteSize - start));
            try {
                from.read(bytes, start);
                to.write(bytes.flip(), start);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A hint: whoever reads must require all the same. */
        @Override
        public void prefetch(long offset, long bytes) {
            check(offset, bytes);
        }

        private void check(long offset, long bytes) {
            if (offset < 0 || bytes < 0 || bytes > byteSize - offset) {
                throw new AssertionError(bytes + " bytes from " + offset + " of " + byteSize);
            }
        }

        private static int block(long offset) {
            return Math.toIntExact(offset / BLOCK_BYTES);
        }

        @Override
        public void close() {
            try {
                from.close();
                to.close();
                Files.delete(sparse);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            open.remove(this);
        }
    }

    /** Makes URIs of the scheme {@code test} known. */
    public static final class Provider implements FileSource.Provider {

        @Override
        public String scheme() {
            return "test";
        }

        @Override
        public Location locate(URI uri) {
            return new SparseFiles(Path.of(System.getProperty("java.io.tmpdir"))).of(Path.of(uri.getPath()));
        }
    }
}
