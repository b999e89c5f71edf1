// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.files;

import io.penstock.io.Advice;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.local.RegularFile;
import io.penstock.io.publish.DecodedSpill;
import io.penstock.io.publish.UnnamedFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The content of files. Each file is read when it is first located; its bytes stay valid until {@link #close}.
 *
 * <p>A process can have some ten thousand mappings and descriptors, but an image tree has a million files. So small
 * files, and large ones beyond a limit, are read once and appended to unnamed files in the folder of
 * {@value UnnamedFile#FOLDER_PROPERTY}; other large files are mapped. The first epoch opens each file once, later
 * epochs none.
 */
final class FileBytes implements AutoCloseable {

    private static final long MAPPED_FROM_BYTES = 256 << 10;
    static final int MAX_MAPPED = 2048;
    private static final long ALWAYS_MAPPED_FROM_BYTES = 1L << 30;
    private static final int STRIPES = 64;
    private static final int HEAD_BYTES = 4;
    /** Of JPEG, PNG, PNM, BMP, TIFF and WebP, in Latin-1. */
    private static final List<String> IMAGE_HEADS = List.of("\u00ff\u00d8", "\u0089PNG", "P2", "P3", "P5", "P6", "P1",
            "P4", "BM", "II*\0", "MM\0*", "II+\0", "MM\0+", "RIFF");
    private static final int OFFSET_BITS = 40;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final FileList list;
    private final Path realRoot;
    /** For each file, 0 until it is read, then (index in {@link #mappings} + 1) << OFFSET_BITS | offset. */
    private final MemorySegment places;
    private final MemorySegment sizes;
    private final Object[] locks = new Object[STRIPES];
    private final DecodedSpill copies;
    private final int maxMapped;
    private volatile MappedFile[] mappings = new MappedFile[0];
    private int mapped;
    private boolean closed;

    FileBytes(FileList list, Arena arena, int maxMapped) throws IOException {
        this.list = list;
        this.maxMapped = maxMapped;
        this.realRoot = list.root().toRealPath();
        this.places = arena.allocate(Math.max(1, list.size()) * Long.BYTES, Long.BYTES);
        this.sizes = arena.allocate(Math.max(1, list.size()) * Long.BYTES, Long.BYTES);
        this.copies = new DecodedSpill(list.root());
        Arrays.setAll(locks, _ -> new Object());
    }

    void locate(long file, Span into) {
        long place = (long) LONG.getAcquire(places, file * Long.BYTES);
        if (place == 0) {
            place = bringIn(file);
        }
        into.set(mappings[(int) (place >>> OFFSET_BITS) - 1], place & (1L << OFFSET_BITS) - 1,
                (long) LONG.get(sizes, file * Long.BYTES));
    }

    private long bringIn(long file) {
        synchronized (locks[(int) (file % STRIPES)]) {
            long place = (long) LONG.getAcquire(places, file * Long.BYTES);
            if (place != 0) {
                return place;
            }
            Path path = list.file(file);
            try {
                if (!path.toRealPath().startsWith(realRoot) && !(list.isOfImages() && beginsLikeImage(path))) {
                    throw new IOException(path + ": a link that leaves " + list.root()
                            + (list.isOfImages() ? ", to what is no image" : ""));
                }
                place = bringIn(file, path);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            LONG.setRelease(places, file * Long.BYTES, place);
            return place;
        }
    }

    /** Tells whether a file has the first bytes of an image, of any kind whose suffix {@link TreeWalk#IMAGES} has. */
    private static boolean beginsLikeImage(Path path) throws IOException {
        try (InputStream in = RegularFile.newFileStream(path)) {
            String head = new String(in.readNBytes(HEAD_BYTES), StandardCharsets.ISO_8859_1);
            return IMAGE_HEADS.stream().anyMatch(head::startsWith);
        }
    }

    private long bringIn(long file, Path path) throws IOException {
        long size = Files.size(path);
        if (size < MAPPED_FROM_BYTES) {
            MemorySegment content = MemorySegment.ofArray(read(path, (int) size));
            LONG.set(sizes, file * Long.BYTES, size);
            return place(copies.append(content));
        }
        MappedFile mapping = MappedFile.open(path);
        LONG.set(sizes, file * Long.BYTES, mapping.byteSize());
        if (staysMapped(size)) {
            return place(new DecodedSpill.Place(mapping, 0));
        }
        try (mapping) {
            mapping.advise(Advice.POPULATE_READ, 0, mapping.byteSize());
            return place(mapping.reading(() -> copies.append(mapping.segment())));
        }
    }

    private static byte[] read(Path path, int size) throws IOException {
        // Not a channel: interrupting this thread would close it in the middle of the file.
        try (InputStream in = RegularFile.newFileStream(path)) {
            byte[] bytes = in.readNBytes(size);
            if (bytes.length < size) {
                throw new IOException(path + ": the file shrank while it was read: " + bytes.length
                        + " bytes, expected " + size);
            }
            return bytes;
        }
    }

    private synchronized boolean staysMapped(long size) {
        boolean stays = mapped < maxMapped || size >= ALWAYS_MAPPED_FROM_BYTES;
        mapped += stays ? 1 : 0;
        return stays;
    }

    private synchronized long place(DecodedSpill.Place place) {
        int index = Arrays.asList(mappings).indexOf(place.file());
        if (closed) {
            place.file().close();
            throw new IllegalStateException(list.root() + ": the store is closed");
        }
        if (index < 0) {
            index = mappings.length;
            MappedFile[] more = Arrays.copyOf(mappings, index + 1);
            more[index] = place.file();
            mappings = more;
        }
        return index + 1L << OFFSET_BITS | place.offset();
    }

    @Override
    public synchronized void close() {
        closed = true;
        copies.close();
        for (MappedFile mapping : mappings) {
            mapping.close();
        }
    }
}
