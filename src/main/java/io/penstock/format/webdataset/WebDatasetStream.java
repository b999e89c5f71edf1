// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.io.file.Sha256;
import io.penstock.io.index.Generation;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the samples of a WebDataset sequentially, shard by shard: for compressed shards and for shards without an
 * index. Shuffles shards, and samples within a buffer ({@link StreamOrder}); the order depends only on seed and epoch.
 *
 * <p>The buffer bounds the memory: a sample of a plain shard is a view of the mapped file, one of a compressed shard is
 * in native memory. {@link #resume} continues from a {@link #state}: it seeks in a plain shard, but decodes a
 * compressed one again from its start.
 *
 * <p>One thread at a time. For example:
 *
 * <pre>{@code
 * List<Location> shards = ShardList.of(Location.of(path));
 * try (WebDatasetStream stream = WebDatasetStream.open(shards, StreamOrder.shuffled(42, 1000), 0)) {
 *     Span span = new Span();
 *     while (stream.next()) {
 *         if (stream.locate("jpg", span)) {
 *             // stream.key(), and the bytes of the span until the next call of next()
 *         }
 *     }
 * }
 * }</pre>
 */
public final class WebDatasetStream implements AutoCloseable {

    private final List<Location> paths;
    private final ShardSets sets;
    private final Generation generation;
    private final String fingerprint;
    private final StreamOrder order;
    private final DecodeLimit limit;
    private final Suffixes suffixes = new Suffixes();
    private final List<StreamSample> buffer = new ArrayList<>();
    private final List<StreamSample> unused = new ArrayList<>();

    private long epoch;
    private StreamRandom random;
    private int[] shards;
    /** The current shard, as a position in {@link #shards}; their count after the last one. */
    private int shard;
    private @Nullable ShardCursor cursor;
    /** The shard at position {@link #aheadOf}, opened before the one before it has ended; null if there is none. */
    private @Nullable SharedTar ahead;
    private int aheadOf = -1;
    private @Nullable StreamSample current;
    private long given;
    private boolean closed;

    private WebDatasetStream(List<Location> paths, StreamOrder order, long epoch, DecodeLimit limit)
            throws IOException {
        if (paths.isEmpty() || epoch < 0) {
            throw new IllegalArgumentException(paths.size() + " shards, epoch " + epoch
                    + ", expected at least 1 and 0");
        }
        this.paths = List.copyOf(paths);
        this.order = order;
        this.limit = limit;
        this.sets = ShardSets.of(this.paths);
        this.generation = sets.generation();
        this.fingerprint = fingerprint(this.paths);
        this.epoch = epoch;
        this.random = StreamRandom.of(order.seed(), epoch);
        this.shards = order.shards(paths.size(), random);
    }

    /**
     * Opens a stream at the start of an epoch.
     *
     * @param shards the tars, at least one; see {@link ShardList}
     * @param order how to shuffle
     * @param epoch the epoch, from 0
     * @return the stream, to be closed by the caller
     * @throws IOException if a shard is missing
     */
    public static WebDatasetStream open(List<Location> shards, StreamOrder order, long epoch) throws IOException {
        return open(shards, order, epoch, DecodeLimit.DEFAULT);
    }

    /**
     * Opens a stream at the start of an epoch, with a decode limit.
     *
     * @param shards the tars, at least one
     * @param order how to shuffle
     * @param epoch the epoch, from 0
     * @param limit the most that each compressed shard may decode to
     * @return the stream, to be closed by the caller
     * @throws IOException if a shard is missing
     */
    public static WebDatasetStream open(List<Location> shards, StreamOrder order, long epoch, DecodeLimit limit)
            throws IOException {
        return new WebDatasetStream(shards, order, epoch, limit);
    }

    /**
     * Resumes a stream: it returns the samples that would have followed.
     *
     * @param shards the same tars
     * @param state the result of {@link #state}
     * @return the stream, to be closed by the caller
     * @throws IOException if a shard is missing, or lacks a sample of the state
     * @throws IllegalArgumentException if the state is of other shards
     */
    public static WebDatasetStream resume(List<Location> shards, StreamState state) throws IOException {
        return resume(shards, state, DecodeLimit.DEFAULT);
    }

    /**
     * Resumes a stream, with a decode limit.
     *
     * @param shards the same tars
     * @param state the result of {@link #state}
     * @param limit the most that each compressed shard may decode to
     * @return the stream, to be closed by the caller
     * @throws IOException if a shard is missing, or lacks a sample of the state
     * @throws IllegalArgumentException if the state is of other shards
     */
    public static WebDatasetStream resume(List<Location> shards, StreamState state, DecodeLimit limit)
            throws IOException {
        WebDatasetStream stream = new WebDatasetStream(shards, state.order(), state.epoch(), limit);
        if (!stream.fingerprint.equals(state.shards())) {
            throw new IllegalArgumentException("the state is of the shards " + state.shards() + ", not of "
                    + stream.fingerprint);
        }
        try {
            stream.restore(state);
            return stream;
        } catch (Throwable t) {
            stream.close();
            throw t;
        }
    }

    private static String fingerprint(List<Location> shards) throws IOException {
        MessageDigest sha256 = Sha256.digest();
        byte[] size = new byte[Long.BYTES];
        for (Location path : shards) {
            MemorySegment.ofArray(size).set(LittleEndian.I64, 0, path.byteSize());
            sha256.update(size);
            sha256.update((path.name() + "\n").getBytes(StandardCharsets.UTF_8));
        }
        return "webdataset:shards=" + shards.size() + ":sha256=" + Sha256.shortHex(sha256);
    }

    private void restore(StreamState state) throws IOException {
        if (state.shard() > shards.length) {
            throw new IllegalArgumentException("the state is at shard " + state.shard() + ", expected at most "
                    + shards.length);
        }
        random = new StreamRandom(state.random());
        given = state.given();
        shard = state.shard();
        restoreBuffer(state.buffered());
        if (shard < shards.length && state.offset() > 0) {
            cursor = open(shard, state.offset());
        }
    }

    /** Reads the samples of the buffer again, shard by shard in the order of the tar. */
    private void restoreBuffer(List<Long> buffered) throws IOException {
        int count = buffered.size() / 2;
        StreamSample[] samples = Stream.generate(this::unusedSample).limit(count).toArray(StreamSample[]::new);
        buffer.addAll(Arrays.asList(samples));
        List<Integer> byPlace = IntStream.range(0, count).boxed().sorted(Comparator.<Integer>comparingLong(
                i -> buffered.get(2 * i)).thenComparingLong(i -> buffered.get(2 * i + 1))).toList();
        ShardCursor reader = null;
        long at = -1;
        try {
            for (int i : byPlace) {
                long position = buffered.get(2 * i);
                long offset = buffered.get(2 * i + 1);
                if (position > shard || position >= shards.length) {
                    throw new IllegalArgumentException("the state has a sample of shard " + position
                            + " in its buffer, expected at most " + shard);
                }
                if (reader == null || at != position) {
                    close(reader);
                    reader = null;
                    reader = open((int) position, offset);
                    at = position;
                }
                boolean read = reader.read(samples[i]);
                while (read && samples[i].origin().offset() < offset) {
                    read = reader.read(samples[i]);
                }
                if (!read || samples[i].origin().offset() != offset) {
                    throw new IllegalArgumentException("the state has a sample at byte " + offset + " of "
                            + paths.get(shards[(int) position]) + " in its buffer, where none begins");
                }
            }
        } finally {
            close(reader);
        }
    }

    /** Opens the shard at a position in the epoch's order; fails if the shards were replaced since open. */
    private ShardCursor open(int position, long offset) throws IOException {
        Location path = paths.get(shards[position]);
        SharedTar known = position == aheadOf ? ahead : null;
        ahead = known == null ? ahead : null;
        ShardCursor opened = ShardCursor.open(position, path, offset, suffixes, limit, known);
        if (!sets.generation().equals(generation)) {
            opened.close();
            throw new IOException(path + ": the shards were replaced while they were read");
        }
        return opened;
    }

    private static void close(@Nullable ShardCursor cursor) throws IOException {
        if (cursor != null) {
            cursor.close();
        }
    }

    /**
     * Goes to the next sample. Spans of the sample before become invalid.
     *
     * @return false at the end of the epoch
     * @throws IOException if a shard cannot be read or is malformed; names it
     */
    public boolean next() throws IOException {
        if (closed) {
            throw new IllegalStateException("the stream is closed");
        }
        recycle();
        while (fill()) {
            if (buffer.size() < order.bufferSamples()) {
                fill();
            }
            if (buffer.size() >= Math.min(order.initialSamples(), order.bufferSamples())) {
                return draw();
            }
        }
        return !buffer.isEmpty() && draw();
    }

    private boolean draw() {
        int drawn = random.nextInt(buffer.size());
        current = buffer.get(drawn);
        StreamSample last = buffer.removeLast();
        if (drawn < buffer.size()) {
            buffer.set(drawn, last);
        }
        given++;
        return true;
    }

    private boolean fill() throws IOException {
        while (shard < shards.length) {
            if (cursor == null) {
                cursor = open(shard, 0);
            }
            StreamSample sample = unusedSample();
            boolean read = false;
            try {
                read = cursor.read(sample);
            } finally {
                (read ? buffer : unused).add(sample);
            }
            if (read) {
                if (aheadOf <= shard && shard + 1 < shards.length && cursor.endsSoon()) {
                    openAhead();
                }
                return true;
            }
            cursor.close();
            cursor = null;
            shard++;
        }
        return false;
    }

    private void openAhead() {
        aheadOf = shard + 1;
        try {
            ahead = SharedTar.open(paths.get(shards[aheadOf]));
            SharedTar.fetchAhead(ahead.file(), 0);
        } catch (IOException _) {
            // It fails again when it is needed, and then counts.
        }
    }

    private void closeAhead() {
        if (ahead != null) {
            ahead.release();
            ahead = null;
        }
        aheadOf = -1;
    }

    private StreamSample unusedSample() {
        return unused.isEmpty() ? new StreamSample() : unused.removeLast();
    }

    private void recycle() {
        if (current != null) {
            current.release();
            unused.add(current);
            current = null;
        }
    }

    /**
     * Begins the next epoch. Called before the end of one, it skips the rest.
     *
     * @throws IOException if the current shard cannot be closed
     */
    public void nextEpoch() throws IOException {
        recycle();
        close(cursor);
        cursor = null;
        closeAhead();
        buffer.forEach(StreamSample::release);
        unused.addAll(buffer);
        buffer.clear();
        epoch++;
        random = StreamRandom.of(order.seed(), epoch);
        shards = order.shards(paths.size(), random);
        shard = 0;
        given = 0;
    }

    /** {@return the epoch, from 0} */
    public long epoch() {
        return epoch;
    }

    private StreamSample sample() {
        if (current == null) {
            throw new IllegalStateException("the stream is at no sample: next() was not called, or returned false");
        }
        return current;
    }

    /** {@return the key of the sample: folder and name up to the first dot, as in the tar} */
    public String key() {
        return sample().origin().key();
    }

    /** {@return the shard that the sample is in} */
    public Location shard() {
        return sample().origin().shard();
    }

    /** {@return the suffixes of the sample's members, at least one, in the order of the tar} */
    public List<String> suffixes() {
        StreamSample sample = sample();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < sample.members(); i++) {
            texts.add(suffixes.text(sample.suffix(i)));
        }
        return texts;
    }

    /**
     * Locates a member of the sample.
     *
     * @param suffix its suffix, in lower case
     * @param into receives its bytes, valid until the next call of {@link #next}
     * @return false if the sample has no such member
     */
    public boolean locate(String suffix, Span into) {
        Objects.requireNonNull(suffix, "suffix");
        StreamSample sample = sample();
        for (int i = 0; i < sample.members(); i++) {
            if (suffixes.text(sample.suffix(i)).equals(suffix)) {
                sample.locate(i, into);
                return true;
            }
        }
        return false;
    }

    /** {@return the state of the stream after the samples that it returned, for {@link #resume}} */
    public StreamState state() {
        List<Long> buffered = new ArrayList<>(buffer.size() * 2);
        for (StreamSample sample : buffer) {
            buffered.add((long) sample.origin().position());
            buffered.add(sample.origin().offset());
        }
        boolean finished = cursor != null && cursor.offset() < 0;
        return new StreamState(fingerprint, order, epoch, given, random.state(), finished ? shard + 1 : shard,
                cursor == null || finished ? 0 : cursor.offset(), buffered);
    }

    /** Frees the buffer and closes the shards. Calling it again does nothing. */
    @Override
    public void close() throws IOException {
        closed = true;
        recycle();
        buffer.forEach(StreamSample::close);
        buffer.clear();
        unused.forEach(StreamSample::close);
        unused.clear();
        close(cursor);
        cursor = null;
        closeAhead();
    }
}
