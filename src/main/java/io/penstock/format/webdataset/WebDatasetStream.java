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
import java.util.List;
import java.util.Objects;

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

    private static final int HEX_DIGITS = 32;

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
    /** The shard that is read, as a position in {@link #shards}; their count when all are. */
    private int shard;
    private ShardCursor cursor;
    private StreamSample current;
    private long given;
    private boolean closed;

    private WebDatasetStream(List<Location> paths, StreamOrder order, DecodeLimit limit) throws IOException {
        this.paths = List.copyOf(paths);
        this.order = order;
        this.limit = limit;
        this.sets = ShardSets.of(this.paths);
        this.generation = sets.generation();
        this.fingerprint = fingerprint(this.paths);
    }

    /**
     * Opens a stream at the start of an epoch.
     *
     * @param shards the tars, at least one; {@link ShardList} makes such lists
     * @param order how to shuffle
     * @param epoch the epoch, from 0
     * @return the stream, to be closed by the caller
     * @throws IOException if a shard is not there
     */
    public static WebDatasetStream open(List<Location> shards, StreamOrder order, long epoch) throws IOException {
        return open(shards, order, epoch, DecodeLimit.DEFAULT);
    }

    /**
     * Opens a stream at the start of an epoch, with a limit of its own.
     *
     * @param shards the tars, at least one
     * @param order how to shuffle
     * @param epoch the epoch, from 0
     * @param limit what each compressed shard may decode to
     * @return the stream, to be closed by the caller
     * @throws IOException if a shard is not there
     */
    public static WebDatasetStream open(List<Location> shards, StreamOrder order, long epoch, DecodeLimit limit)
            throws IOException {
        if (shards.isEmpty() || epoch < 0) {
            throw new IllegalArgumentException(shards.size() + " shards, epoch " + epoch
                    + ", expected at least 1 and 0");
        }
        WebDatasetStream stream = new WebDatasetStream(shards, order, limit);
        stream.begin(epoch);
        return stream;
    }

    /**
     * Opens a stream where another one stood: what it gives next, the other would have.
     *
     * @param shards the same tars
     * @param state what {@link #state} said
     * @return the stream, to be closed by the caller
     * @throws IOException if a shard is not there, or has no such samples as the state says
     * @throws IllegalArgumentException if the state is one of other shards
     */
    public static WebDatasetStream resume(List<Location> shards, StreamState state) throws IOException {
        return resume(shards, state, DecodeLimit.DEFAULT);
    }

    /**
     * Opens a stream where another one stood, with a limit of its own.
     *
     * @param shards the same tars
     * @param state what {@link #state} said
     * @param limit what each compressed shard may decode to
     * @return the stream, to be closed by the caller
     * @throws IOException if a shard is not there, or has no such samples as the state says
     * @throws IllegalArgumentException if the state is one of other shards
     */
    public static WebDatasetStream resume(List<Location> shards, StreamState state, DecodeLimit limit)
            throws IOException {
        WebDatasetStream stream = new WebDatasetStream(shards, state.order(), limit);
        if (!stream.fingerprint.equals(state.shards())) {
            throw new IllegalArgumentException("the state is of the shards " + state.shards() + ", not of "
                    + stream.fingerprint);
        }
        try {
            stream.begin(state.epoch());
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
        return "webdataset:shards=" + shards.size() + ":sha256="
                + Sha256.hex(sha256).substring(0, HEX_DIGITS);
    }

    private void begin(long newEpoch) {
        epoch = newEpoch;
        random = StreamRandom.of(order.seed(), newEpoch);
        shards = order.shards(paths.size(), random);
        shard = 0;
        given = 0;
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

    /** Reads samples again: shard by shard, in the order in which they stand there. */
    private void restoreBuffer(List<Long> buffered) throws IOException {
        int count = buffered.size() / 2;
        StreamSample[] samples = new StreamSample[count];
        Integer[] byPlace = new Integer[count];
        Arrays.setAll(byPlace, i -> i);
        Arrays.sort(byPlace, (a, b) -> {
            int byShard = Long.compare(buffered.get(2 * a), buffered.get(2 * b));
            return byShard != 0 ? byShard : Long.compare(buffered.get(2 * a + 1), buffered.get(2 * b + 1));
        });
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
                samples[i] = unusedSample();
                buffer.add(samples[i]);
                do {
                    if (!reader.read(samples[i])) {
                        throw new IllegalArgumentException("the state has a sample at byte " + offset + " of "
                                + paths.get(shards[(int) position]) + " in its buffer, where none begins");
                    }
                } while (samples[i].entryOffset() < offset);
                if (samples[i].entryOffset() != offset) {
                    throw new IllegalArgumentException("the state has a sample at byte " + offset + " of "
                            + paths.get(shards[(int) position]) + " in its buffer, where none begins");
                }
            }
        } finally {
            close(reader);
        }
        buffer.clear();
        buffer.addAll(Arrays.asList(samples));
    }

    /** Opens the shard of a position in the epoch's order, which must be one of those that were there at first. */
    private ShardCursor open(int position, long offset) throws IOException {
        Location path = paths.get(shards[position]);
        ShardCursor opened = ShardCursor.open(position, path, offset, suffixes, limit);
        if (!sets.generation().equals(generation)) {
            opened.close();
            throw new IOException(path + ": the shards were replaced while they were read");
        }
        return opened;
    }

    private static void close(ShardCursor cursor) throws IOException {
        if (cursor != null) {
            cursor.close();
        }
    }

    /**
     * Goes to the next sample. What was located of the one before is no longer valid.
     *
     * @return false at the end of the epoch
     * @throws IOException if a shard cannot be read, or is not as it should be; names it
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
                return true;
            }
            cursor.close();
            cursor = null;
            shard++;
        }
        return false;
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
     * Begins the next epoch; to be called at the end of one, or before it to leave the rest out.
     *
     * @throws IOException if the shard that is open cannot be closed
     */
    public void nextEpoch() throws IOException {
        recycle();
        close(cursor);
        cursor = null;
        buffer.forEach(StreamSample::release);
        unused.addAll(buffer);
        buffer.clear();
        begin(epoch + 1);
    }

    /** {@return the epoch, from 0} */
    public long epoch() {
        return epoch;
    }

    private StreamSample sample() {
        if (current == null) {
            throw new IllegalStateException("the stream is at no sample: next() was not called, or gave false");
        }
        return current;
    }

    /** {@return the key of the sample: folder and name up to the first dot, as in the tar} */
    public String key() {
        return sample().key();
    }

    /** {@return the shard that the sample is in} */
    public Location shard() {
        return sample().path();
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
     * Points at a member of the sample.
     *
     * @param suffix its suffix, in lower case
     * @param into set to its bytes, which are valid until {@link #next} is called
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
            buffered.add((long) sample.position());
            buffered.add(sample.entryOffset());
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
    }
}
