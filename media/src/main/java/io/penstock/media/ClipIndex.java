// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.internal.Sha256;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.publish.AtomicFile;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.FFmpeg;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Where the packets of videos are, which frames they have, and where decoding can begin: made once from the files, so
 * that a clip is decoded exactly without opening the file again. An index is in memory or in a file, which is mapped;
 * its format is in {@code docs/spec/clips.md}.
 *
 * {@snippet :
 * RecordStore videos = RecordStore.open(Path.of("videos"));
 * Dataset samples = RecordFields.of(videos).and("mp4");
 * ClipIndex index = ClipIndex.of(samples, "mp4");
 * index.save(Path.of("videos.clips"));
 * }
 *
 * <p>Any number of threads may read it. The opener closes it after the last read.
 */
public final class ClipIndex implements AutoCloseable {

    /** The default limit: width times height of the largest frame, 8192 by 4096. */
    public static final long MAX_PIXELS = DecoderLimits.DEFAULT.maxPixels();

    /** What an index has of each file. */
    public enum Contents {
        /** The packets of video. */
        VIDEO,
        /** The packets of sound. */
        SOUND,
        /** Both. */
        VIDEO_AND_SOUND
    }

    private static final Set<String> SOUND = Set.of("flac", "mp3", "m4a", "aac", "ogg", "oga", "opus", "wav", "aiff",
            "aif", "audio", "sound");
    private static final Set<String> VIDEO = Set.of("mp4", "m4v", "mov", "mkv", "webm", "video", "video/mp4", "");
    private static final long MAGIC = ByteBuffer.wrap("PENSCLIP".getBytes(StandardCharsets.US_ASCII))
            .order(ByteOrder.LITTLE_ENDIAN).getLong();
    private static final int VERSION = 1;
    private static final int CONTENTS = 12;
    private static final int COUNT = 16;
    private static final int TOTAL = 24;
    private static final int DIGEST = 32;
    private static final int TABLE = 64;
    /** The files of a part that is kept until all is done. */
    private static final int PART_FILES = 256;

    private final MemorySegment bytes;
    private final Contents contents;
    private final long files;
    private final AutoCloseable owner;

    private ClipIndex(MemorySegment bytes, AutoCloseable owner) {
        this.bytes = bytes;
        contents = Contents.values()[bytes.get(JAVA_INT_UNALIGNED, CONTENTS)];
        files = bytes.get(JAVA_LONG_UNALIGNED, COUNT) / (contents == Contents.VIDEO_AND_SOUND ? 2 : 1);
        this.owner = owner;
    }

    /**
     * Makes the index of the videos of a dataset, on all processors. A file that cannot be used, because it is damaged
     * or of an unsupported kind, gets an entry with the reason.
     *
     * @param samples the dataset
     * @param field the field that has the bytes of video files
     * @return the index, in memory
     * @throws IllegalArgumentException if the field does not exist or has no files
     * @throws IOException if FFmpeg is missing or unusable, or a file cannot be read
     */
    public static ClipIndex of(Dataset samples, String field) throws IOException {
        return of(samples, field, Contents.VIDEO, MAX_PIXELS, _ -> { });
    }

    /**
     * Makes the index of the files of a dataset, with a limit.
     *
     * @param samples the dataset
     * @param field the field that has the bytes of files
     * @param contents what to index of them
     * @param maxPixels width times height of the largest frame; a file with larger ones cannot be used
     * @param progress is told when another file is done, on any thread: its number
     * @return the index, in memory
     * @throws IllegalArgumentException if the field does not exist or has no files
     * @throws IOException if FFmpeg is missing or unusable, or a file cannot be read
     */
    public static ClipIndex of(Dataset samples, String field, Contents contents, long maxPixels,
            LongConsumer progress) throws IOException {
        return of(samples, field, contents, maxPixels, progress, null);
    }

    static ClipIndex of(Dataset samples, String field, Contents contents, long maxPixels, LongConsumer progress,
            @Nullable Duration isolation) throws IOException {
        FFmpeg.require();
        return assemble(contents, new Maker(files(samples, field).place(), contents, maxPixels, progress, isolation)
                .entries(0, samples.size()));
    }

    /**
     * Makes the index of the files of a dataset and saves it. What was done is kept in the folder {@code FILE.parts}
     * until all is: another call goes on from there.
     *
     * @param samples the dataset
     * @param field the field that has the bytes of files
     * @param contents what to index of them
     * @param maxPixels width times height of the largest frame; a file with larger ones cannot be used
     * @param progress is told when another file is done, on any thread: its number
     * @param path the index file
     * @return the index, in memory
     * @throws IllegalArgumentException if the field does not exist or has no files
     * @throws IOException if FFmpeg is missing or unusable, a file cannot be read, or the index not written
     */
    public static ClipIndex save(Dataset samples, String field, Contents contents, long maxPixels,
            LongConsumer progress, Path path) throws IOException {
        return save(samples, field, contents, maxPixels, progress, path, null);
    }

    /**
     * The same as {@link #save(Dataset, String, Contents, long, LongConsumer, Path)}, but files may be read in
     * processes of their own: one that crashes its process, or takes too long, gets an entry with that reason.
     *
     * @param samples the dataset
     * @param field the field that has the bytes of files
     * @param contents what to index of them
     * @param maxPixels width times height of the largest frame; a file with larger ones cannot be used
     * @param progress is told when another file is done, on any thread: its number
     * @param path the index file
     * @param isolation the CPU time that a file may take, as for {@link Clips#isolated(Duration)}; null to read files
     *     in this process
     * @return the index, in memory
     * @throws IllegalArgumentException if the field does not exist or has no files
     * @throws IOException if FFmpeg is missing or unusable, a file cannot be read, or the index not written
     */
    public static ClipIndex save(Dataset samples, String field, Contents contents, long maxPixels,
            LongConsumer progress, Path path, @Nullable Duration isolation) throws IOException {
        FFmpeg.require();
        var maker = new Maker(files(samples, field).place(), contents, maxPixels, progress, isolation);
        Path parts = path.resolveSibling(path.getFileName() + ".parts");
        Files.createDirectories(parts);
        List<byte[]> entries = new ArrayList<>();
        long size = samples.size();
        int kinds = contents == Contents.VIDEO_AND_SOUND ? 2 : 1;
        for (long from = 0; from < size; from += PART_FILES) {
            List<byte[]> part = part(maker, parts.resolve("part-" + from), from, Math.min(size, from + PART_FILES));
            // Entries of video first, then those of sound.
            entries.addAll(entries.size() / kinds, part.subList(0, part.size() / kinds));
            entries.addAll(part.subList(part.size() / kinds, part.size()));
        }
        ClipIndex index = assemble(contents, entries);
        try {
            index.save(path);
            for (long from = 0; from < size; from += PART_FILES) {
                Files.deleteIfExists(parts.resolve("part-" + from));
            }
            Files.delete(parts);
            return index;
        } catch (Throwable t) {
            index.close();
            throw t;
        }
    }

    /** Reads the entries of some files that an earlier run made, or makes them. */
    private static List<byte[]> part(Maker maker, Path path, long from, long to) throws IOException {
        if (Files.exists(path)) {
            try (ClipIndex kept = open(path)) {
                if (kept.contents == maker.contents && maker.areOf(kept, from, to)) {
                    return kept.entries();
                }
            } catch (MalformedStoreException _) {
                // half written, or of another version: it is made anew
            }
        }
        List<byte[]> entries = maker.entries(from, to);
        try (ClipIndex made = assemble(maker.contents, entries)) {
            made.save(path);
        }
        return entries;
    }

    private List<byte[]> entries() {
        List<byte[]> entries = new ArrayList<>();
        for (long i = 0; i < bytes.get(JAVA_LONG_UNALIGNED, COUNT); i++) {
            entries.add(bytes.asSlice(at(i), at(i + 1) - at(i)).toArray(JAVA_BYTE));
        }
        return entries;
    }

    /**
     * Makes entries.
     *
     * @param place where the files are
     * @param contents what is indexed
     * @param maxPixels the largest frame
     * @param progress is told of each file
     * @param isolation the CPU time of a file in a process of its own; null to read them in this one
     * @param idle such processes that are free
     */
    private record Maker(FieldSource.Place place, Contents contents, long maxPixels, LongConsumer progress,
            @Nullable Duration isolation, Queue<IsolatedDecoder> idle) {

        Maker(FieldSource.Place place, Contents contents, long maxPixels, LongConsumer progress,
                @Nullable Duration isolation) {
            this(place, contents, maxPixels, progress, isolation, new ConcurrentLinkedQueue<>());
        }

        List<byte[]> entries(long from, long to) throws IOException {
            int count = Math.toIntExact(to - from);
            var entries = new AtomicReferenceArray<byte[]>(contents == Contents.VIDEO_AND_SOUND ? 2 * count : count);
            // A parallel stream that throws does not wait for its other threads, which read files and use processes.
            var failure = new AtomicReference<@Nullable Throwable>();
            try {
                IntStream.range(0, count).parallel().forEach(i -> {
                    if (failure.get() == null) {
                        try {
                            make(from + i, i, count, entries);
                            progress.accept(from + i);
                        } catch (Throwable t) {
                            failure.compareAndSet(null, t);
                        }
                    }
                });
            } finally {
                for (IsolatedDecoder one = idle.poll(); one != null; one = idle.poll()) {
                    one.close();
                }
            }
            rethrow(failure.get());
            return IntStream.range(0, entries.length()).mapToObj(entries::get).toList();
        }

        private static void rethrow(@Nullable Throwable failure) throws IOException {
            switch (failure) {
                case null -> { }
                case UncheckedIOException e -> throw e.getCause();
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default -> throw new IllegalStateException(failure);
            }
        }

        private void make(long sample, int i, int count, AtomicReferenceArray<byte[]> entries) {
            var limits = new DecoderLimits(maxPixels, DecoderLimits.DEFAULT.maxPackets());
            var span = new Span();
            place.locate(sample, span);
            try {
                // Of a remote file, all bytes are fetched: the index has their digest.
                MemorySegment bytes = span.slice();
                MappedFile file = span.file();
                if (file == null) {
                    make(bytes, limits, i, count, entries);
                } else {
                    file.reading(() -> {
                        make(bytes, limits, i, count, entries);
                        return 0;
                    });
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void make(MemorySegment bytes, DecoderLimits limits, int i, int count,
                AtomicReferenceArray<byte[]> entries) throws IOException {
            if (contents != Contents.SOUND) {
                entries.set(i, entry(bytes, limits, false));
            }
            if (contents != Contents.VIDEO) {
                entries.set(contents == Contents.SOUND ? i : count + i, entry(bytes, limits, true));
            }
        }

        private byte[] entry(MemorySegment file, DecoderLimits limits, boolean isSound) throws IOException {
            if (isolation == null) {
                return isSound ? SoundIndexer.index(file, limits) : VideoIndexer.index(file, limits);
            }
            IsolatedDecoder free = idle.poll();
            IsolatedDecoder decoder = free == null ? new IsolatedDecoder(isolation) : free;
            try {
                return decoder.index(file, limits, isSound);
            } catch (CodecException e) {
                MessageDigest sha256 = Sha256.digest();
                Sha256.update(sha256, file);
                return IndexEntry.refusal(file.byteSize(), sha256.digest(), String.valueOf(e.getMessage()));
            } finally {
                idle.add(decoder);
            }
        }

        /** Tells whether an index has files of these sizes. */
        boolean areOf(ClipIndex index, long from, long to) {
            boolean isEqual = index.files == to - from;
            var span = new Span();
            for (long i = 0; isEqual && i < index.files; i++) {
                place.locate(from + i, span);
                isEqual = index.bytes.get(JAVA_LONG_UNALIGNED, index.at(i)) == span.byteSize();
            }
            return isEqual;
        }
    }

    /**
     * {@return what a column may have, by its encoding; empty if neither video nor sound}
     *
     * @param column the column
     */
    public static Optional<Contents> contents(Column column) {
        if (column.kind() != Column.Kind.BYTES) {
            return Optional.empty();
        }
        String encoding = column.suffix();
        return VIDEO.contains(encoding) ? Optional.of(Contents.VIDEO)
                : SOUND.contains(encoding) ? Optional.of(Contents.SOUND) : Optional.empty();
    }

    static FieldSource.Stored files(Dataset samples, String field) {
        int index = samples.indexOf(field);
        TensorSpec spec = samples.fields().get(index);
        if (spec.dtype() != DType.U8 || spec.rank() != 1
                || !(samples.source(index) instanceof FieldSource.Stored stored)) {
            throw new IllegalArgumentException("'" + field + "' is " + spec + ", expected the bytes of video files, "
                    + "u8[*], as they are stored");
        }
        return stored;
    }

    private static ClipIndex assemble(Contents contents, List<byte[]> entries) {
        int count = entries.size();
        long total = TABLE + 8L * (count + 1) + entries.stream().mapToLong(entry -> entry.length).sum();
        Arena arena = Arena.ofShared();
        MemorySegment bytes = arena.allocate(total, 8);
        bytes.set(JAVA_LONG_UNALIGNED, 0, MAGIC);
        bytes.set(JAVA_INT_UNALIGNED, 8, VERSION);
        bytes.set(JAVA_INT_UNALIGNED, CONTENTS, contents.ordinal());
        bytes.set(JAVA_LONG_UNALIGNED, COUNT, count);
        bytes.set(JAVA_LONG_UNALIGNED, TOTAL, total);
        long at = TABLE + 8L * (count + 1);
        for (int i = 0; i < count; i++) {
            byte[] entry = entries.get(i);
            bytes.set(JAVA_LONG_UNALIGNED, TABLE + 8L * i, at);
            MemorySegment.copy(MemorySegment.ofArray(entry), 0, bytes, at, entry.length);
            at += entry.length;
        }
        bytes.set(JAVA_LONG_UNALIGNED, TABLE + 8L * count, at);
        MemorySegment.copy(MemorySegment.ofArray(digest(bytes)), 0, bytes, DIGEST, PacketTable.DIGEST_BYTES);
        return new ClipIndex(bytes, arena::close);
    }

    /** The digest of the table and the entries. */
    private static byte[] digest(MemorySegment bytes) {
        MessageDigest sha256 = Sha256.digest();
        Sha256.update(sha256, bytes.asSlice(TABLE));
        return sha256.digest();
    }

    /**
     * Opens an index file and checks its digest.
     *
     * @param path the file
     * @return the index, to be closed by the caller
     * @throws MalformedStoreException if it is not an index, of another version, or damaged
     * @throws IOException if it cannot be read
     */
    public static ClipIndex open(Path path) throws IOException {
        MappedFile file = MappedFile.open(path);
        try {
            MemorySegment bytes = file.segment();
            file.reading(() -> {
                check(path, bytes);
                return 0;
            });
            return new ClipIndex(bytes, file);
        } catch (Throwable t) {
            file.close();
            throw t;
        }
    }

    private static void check(Path path, MemorySegment bytes) {
        long size = bytes.byteSize();
        if (size < TABLE + 8 || bytes.get(JAVA_LONG_UNALIGNED, 0) != MAGIC) {
            throw new MalformedStoreException(path, 0, "no index of clips", "a file that 'penstock clips index' wrote");
        }
        int version = bytes.get(JAVA_INT_UNALIGNED, 8);
        if (version != VERSION) {
            throw new MalformedStoreException(path, 8, "version " + version, String.valueOf(VERSION));
        }
        int contents = bytes.get(JAVA_INT_UNALIGNED, CONTENTS);
        long count = bytes.get(JAVA_LONG_UNALIGNED, COUNT);
        if (contents < 0 || contents >= Contents.values().length
                || contents == Contents.VIDEO_AND_SOUND.ordinal() && count % 2 != 0) {
            throw new MalformedStoreException(path, CONTENTS, "contents " + contents + " of " + count + " entries",
                    "0 video, 1 sound, or 2, an even number");
        }
        if (bytes.get(JAVA_LONG_UNALIGNED, TOTAL) != size || count < 0 || count > (size - TABLE) / 8 - 1) {
            throw new MalformedStoreException(path, COUNT, count + " videos in " + size + " bytes",
                    bytes.get(JAVA_LONG_UNALIGNED, TOTAL) + " bytes");
        }
        MemorySegment digest = MemorySegment.ofArray(digest(bytes));
        if (MemorySegment.mismatch(digest, 0, digest.byteSize(), bytes, DIGEST, DIGEST + digest.byteSize()) >= 0) {
            throw new MalformedStoreException(path, DIGEST, "content of another digest", "the digest of the header");
        }
        long from = TABLE + 8 * (count + 1);
        for (long i = 0; i <= count; i++) {
            long next = bytes.get(JAVA_LONG_UNALIGNED, TABLE + 8 * i);
            boolean isRight = i == 0 ? next == from : next - from >= PacketTable.HEADER_BYTES;
            if (!isRight || next > size) {
                throw new MalformedStoreException(path, TABLE + 8 * i, "an entry at " + next, "one behind " + from);
            }
            from = next;
        }
    }

    /**
     * Writes the index to a file, whole or not at all.
     *
     * @param path the file
     * @throws IOException if it cannot be written; names it
     */
    public void save(Path path) throws IOException {
        AtomicFile.write(path, out -> {
            byte[] buffer = new byte[1 << 16];
            for (long at = 0; at < bytes.byteSize(); at += buffer.length) {
                int length = (int) Math.min(buffer.length, bytes.byteSize() - at);
                MemorySegment.copy(bytes, at, MemorySegment.ofArray(buffer), 0, length);
                out.write(buffer, 0, length);
            }
        });
    }

    /** {@return the number of files} */
    public long size() {
        return files;
    }

    /** {@return what the index has of each file} */
    public Contents contents() {
        return contents;
    }

    /**
     * {@return the number of frames of a video that are shown; 0 if it cannot be used}
     *
     * @param video its number
     */
    public int frames(long video) {
        return contents == Contents.SOUND ? 0 : PacketTable.frames(bytes, offset(video));
    }

    /**
     * {@return the samples of a channel of a file's sound; 0 if it cannot be used}
     *
     * @param file its number
     */
    public int soundSamples(long file) {
        return contents == Contents.VIDEO ? 0 : SoundTable.samples(bytes, soundOffset(file));
    }

    /**
     * {@return how many packets must be decoded for a frame of a video, in the middle: half of those from one clean key
     * to the next; 0 if it cannot be used}
     *
     * @param video its number
     */
    public double decodedForOne(long video) {
        var table = new PacketTable();
        try {
            table.load(bytes, offset(video), byteSize(video));
        } catch (CodecException _) {
            return 0;
        }
        double sum = 0;
        int start = 0;
        for (int i = 0; i < table.packets; i++) {
            start = (table.flags[i] & PacketTable.CLEAN) != 0 ? i : start;
            sum += i - start + 1;
        }
        return sum / Math.max(1, table.packets);
    }

    /**
     * {@return why a file cannot be used; empty if it can}
     *
     * @param file its number
     */
    public Optional<String> refusal(long file) {
        try {
            if (contents != Contents.SOUND) {
                new PacketTable().load(bytes, offset(file), byteSize(file));
            }
            if (contents != Contents.VIDEO) {
                new SoundTable().load(bytes, soundOffset(file), soundByteSize(file));
            }
            return Optional.empty();
        } catch (CodecException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** All bytes of the index. */
    MemorySegment bytes() {
        return bytes;
    }

    /** The first byte of a video's entry. */
    long offset(long video) {
        return at(Objects.checkIndex(video, files));
    }

    long byteSize(long video) {
        return at(video + 1) - offset(video);
    }

    /** The first byte of the entry of a file's sound. */
    long soundOffset(long file) {
        return at(soundEntry(Objects.checkIndex(file, files)));
    }

    long soundByteSize(long file) {
        return at(soundEntry(file) + 1) - soundOffset(file);
    }

    private long soundEntry(long file) {
        return contents == Contents.VIDEO_AND_SOUND ? files + file : file;
    }

    private long at(long entry) {
        return bytes.get(JAVA_LONG_UNALIGNED, TABLE + 8 * entry);
    }

    /** A short digest of the files and their frame counts, for fingerprints: the same for each version of FFmpeg. */
    String fingerprint() {
        MessageDigest sha256 = Sha256.digest();
        long entries = bytes.get(JAVA_LONG_UNALIGNED, COUNT);
        for (long i = 0; i < entries; i++) {
            Sha256.update(sha256, bytes.asSlice(at(i), PacketTable.DIGEST + PacketTable.DIGEST_BYTES));
            // Frames of a video, samples of sound.
            sha256.update(ByteBuffer.allocate(Integer.BYTES).putInt(PacketTable.frames(bytes, at(i))).array());
        }
        return Sha256.shortHex(sha256);
    }

    @Override
    public void close() {
        try {
            owner.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public String toString() {
        return "the index of " + files + " files";
    }
}
