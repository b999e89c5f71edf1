// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static io.penstock.memory.LittleEndian.I32;

import io.penstock.dataset.source.FieldSource;
import io.penstock.error.MalformedStoreException;
import io.penstock.internal.Sha256;
import io.penstock.io.local.RegularFile;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.json.JsonFields;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Samples whose fields come from several stores, matched by {@linkplain Dataset#key key}: pictures in one, captions in
 * another, scores in a third. Immutable.
 *
 * {@snippet :
 * RecordStore captions = RecordStore.open(Path.of("captions"));
 * RecordStore scores = RecordStore.open(Path.of("scores"));
 * Dataset pairs = Join.of(RecordFields.of(shards).and("jpg"))
 *         .with(RecordFields.of(captions).and("txt"), Join.Missing.LEAVE_OUT)
 *         .with(RecordFields.of(scores).and("json"), Join.Missing.EMPTY)
 *         .index(Path.of("pairs.join")).open();
 * }
 *
 * <p>The samples are those of the first dataset, in its order. Partners are found once, by a pass over all keys; a
 * joined dataset keeps 4 bytes a sample and partner, and {@link #index} keeps them in a file.
 */
public final class Join {

    /** What becomes of a sample without a partner. */
    public enum Missing {
        /** Opening fails and names samples without a partner. */
        ERROR,
        /** The sample is left out. */
        LEAVE_OUT,
        /** Its fields are empty: of length 0, or zeros if their shape is fixed. */
        EMPTY
    }

    private record Partner(Dataset samples, Missing missing) { }

    private static final long VERSION = 1;
    private static final int MOST_HEADER_BYTES = 1 << 20;
    private static final int BUFFER_BYTES = 1 << 16;
    /** An odd number whose bits look random. */
    private static final long MULTIPLIER = 0xD6E8FEB86659FD93L;
    private static final int NONE = -1;
    private static final int NAMED = 3;
    private static final int DIGEST_DIGITS = 16;

    private final Dataset first;
    private final List<Partner> partners;
    private final @Nullable Path file;

    private Join(Dataset first, List<Partner> partners, @Nullable Path file) {
        this.first = first;
        this.partners = partners;
        this.file = file;
    }

    /**
     * Begins a join.
     *
     * @param samples the samples that partners are looked for; must stay open
     * @return a join without partners
     */
    public static Join of(Dataset samples) {
        return new Join(Objects.requireNonNull(samples, "samples"), List.of(), null);
    }

    /**
     * Adds the fields of a partner.
     *
     * @param samples has for each key one sample at most; its fields have other names; must stay open
     * @param missing what becomes of a sample whose key it lacks
     * @return the join
     */
    public Join with(Dataset samples, Missing missing) {
        List<Partner> more = new ArrayList<>(partners);
        more.add(new Partner(Objects.requireNonNull(samples, "samples"), Objects.requireNonNull(missing, "missing")));
        return new Join(first, List.copyOf(more), file);
    }

    /**
     * Keeps in a file which samples are partners: read if it exists, else made and written.
     *
     * @param path the file
     * @return the join
     */
    public Join index(Path path) {
        return new Join(first, partners, Objects.requireNonNull(path, "path"));
    }

    /**
     * Finds the partners.
     *
     * @return the samples with all fields
     * @throws IllegalArgumentException if a key has two samples in a partner, a sample lacks a partner that it must
     *     have, none is left, two fields have one name, or there are 2^31 samples or more
     * @throws UnsupportedOperationException if a dataset's samples have no keys
     * @throws MalformedStoreException if the file is damaged, or that of other datasets
     * @throws IOException if it cannot be read or written
     */
    public Dataset open() throws IOException {
        List<TensorSpec> fields = new ArrayList<>(first.fields());
        partners.forEach(partner -> fields.addAll(partner.samples.fields()));
        if (fields.stream().map(TensorSpec::name).distinct().count() < fields.size()) {
            throw new IllegalArgumentException("two fields of one name: " + fields);
        }
        int[][] found;
        if (file != null && Files.exists(file)) {
            found = read(file);
        } else {
            found = new int[partners.size()][];
            for (int p = 0; p < found.length; p++) {
                found[p] = find(partners.get(p).samples);
            }
            if (file != null) {
                write(file, found);
            }
        }
        return joined(fields, found);
    }

    private Dataset joined(List<TensorSpec> fields, int[][] found) {
        for (int p = 0; p < found.length; p++) {
            if (partners.get(p).missing == Missing.ERROR) {
                requireAll(p, found[p]);
            }
        }
        int[] kept = new int[(int) first.size()];
        int count = 0;
        for (int sample = 0; sample < kept.length; sample++) {
            if (isKept(found, sample)) {
                kept[count++] = sample;
            }
        }
        if (count == 0) {
            throw new IllegalArgumentException("no sample of " + first + " has all partners");
        }
        return new Joined(first, partners, List.copyOf(fields), found, Arrays.copyOf(kept, count), digest(found));
    }

    private boolean isKept(int[][] found, int sample) {
        for (int p = 0; p < found.length; p++) {
            if (found[p][sample] == NONE && partners.get(p).missing == Missing.LEAVE_OUT) {
                return false;
            }
        }
        return true;
    }

    private void requireAll(int p, int[] found) {
        List<String> named = new ArrayList<>();
        long missing = 0;
        for (int sample = 0; sample < found.length; sample++) {
            if (found[sample] == NONE && ++missing <= NAMED) {
                named.add(first.name(sample) + " ('" + first.key(sample) + "')");
            }
        }
        if (missing > 0) {
            throw new IllegalArgumentException(partners.get(p).samples + ": lacks the keys of " + missing
                    + " samples of " + first + ": " + String.join(", ", named) + (missing > NAMED ? ", …" : "")
                    + " (LEAVE_OUT and EMPTY allow that)");
        }
    }

    /** The partner of each sample, by a table of the partner's keys. */
    private int[] find(Dataset partner) {
        checkSize(first);
        checkSize(partner);
        int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, 2 * partner.size() - 1));
        if (bits > 30) {
            throw new IllegalArgumentException(partner.size() + " samples of a partner, expected at most 2^29");
        }
        // A hash in the upper half, the sample's number and 1 in the lower; 0 is free.
        long[] table = new long[1 << bits];
        for (int sample = 0; sample < partner.size(); sample++) {
            String key = partner.key(sample);
            long hash = hash(key);
            int at = slot(table, partner, key, hash);
            if (table[at] != 0) {
                throw new IllegalArgumentException(partner + ": found two samples of the key '" + key + "', "
                        + partner.name((int) table[at] - 1) + " and " + partner.name(sample) + ", expected one");
            }
            table[at] = hash & ~0xFFFF_FFFFL | sample + 1;
        }
        int[] found = new int[(int) first.size()];
        for (int sample = 0; sample < found.length; sample++) {
            String key = first.key(sample);
            found[sample] = (int) table[slot(table, partner, key, hash(key))] - 1;
        }
        return found;
    }

    private static void checkSize(Dataset samples) {
        if (samples.size() > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(samples.size() + " samples, expected fewer than 2^31");
        }
    }

    /** The place of a key, or the free one where it would be. */
    private static int slot(long[] table, Dataset partner, String key, long hash) {
        int at = (int) hash & table.length - 1;
        while (table[at] != 0 && !(table[at] >>> Integer.SIZE == hash >>> Integer.SIZE
                && partner.key((int) table[at] - 1).equals(key))) {
            at = at + 1 & table.length - 1;
        }
        return at;
    }

    private static long hash(String key) {
        long hash = 0;
        for (int i = 0; i < key.length(); i++) {
            hash = MULTIPLIER * (hash ^ hash >>> Integer.SIZE) + key.charAt(i);
        }
        hash = MULTIPLIER * (hash ^ hash >>> Integer.SIZE);
        return hash ^ hash >>> Integer.SIZE;
    }

    private static String digest(int[][] found) {
        MessageDigest sha256 = Sha256.digest();
        ByteBuffer some = ByteBuffer.allocate(BUFFER_BYTES);
        for (int[] of : found) {
            for (int from = 0; from < of.length; from += BUFFER_BYTES / Integer.BYTES) {
                sha256.update(bytes(of, from, some));
            }
        }
        return Sha256.hex(sha256);
    }

    /** A run of numbers, little-endian. */
    private static ByteBuffer bytes(int[] of, int from, ByteBuffer into) {
        int count = Math.min(BUFFER_BYTES / Integer.BYTES, of.length - from);
        MemorySegment memory = MemorySegment.ofBuffer(into.clear());
        MemorySegment.copy(of, from, memory, I32, 0, count);
        return into.limit(count * Integer.BYTES);
    }

    private Map<String, @Nullable Object> header(String digest) {
        return Json.members("penstock_join", VERSION, "samples", first.size(), "datasets",
                datasets(), "sha256", digest);
    }

    private List<String> datasets() {
        List<String> all = new ArrayList<>(List.of(first.fingerprint()));
        partners.forEach(partner -> all.add(partner.samples.fingerprint()));
        return all;
    }

    private void write(Path path, int[][] found) throws IOException {
        byte[] line = (Json.write(header(digest(found))) + "\n").getBytes(StandardCharsets.UTF_8);
        if (line.length > MOST_HEADER_BYTES) {
            throw new IOException(path + ": a header of " + line.length + " bytes, expected at most "
                    + MOST_HEADER_BYTES);
        }
        AtomicFile.write(path, out -> {
            out.write(line);
            ByteBuffer some = ByteBuffer.allocate(BUFFER_BYTES);
            for (int[] of : found) {
                for (int from = 0; from < of.length; from += BUFFER_BYTES / Integer.BYTES) {
                    ByteBuffer part = bytes(of, from, some);
                    out.write(part.array(), 0, part.limit());
                }
            }
        });
    }

    private int[][] read(Path path) throws IOException {
        try (FileChannel channel = RegularFile.open(path)) {
            ByteBuffer head = ByteBuffer.allocate((int) Math.min(channel.size(), MOST_HEADER_BYTES));
            while (head.hasRemaining() && channel.read(head) >= 0) { }
            int end = 0;
            while (end < head.position() && head.get(end) != '\n') {
                end++;
            }
            JsonFields header = JsonFields.parse(Arrays.copyOf(head.array(), end), "the header of a join");
            header.expect("penstock_join", VERSION);
            header.expect("samples", first.size());
            if (!header.texts("datasets").equals(datasets())) {
                throw new MalformedStoreException(path, "the join of other datasets", "that of " + first + " and its"
                        + " partners (remove it, and it is made anew)");
            }
            String digest = header.text("sha256");
            header.end();
            checkSize(first);
            long bytes = Math.multiplyExact(first.size() * Integer.BYTES, (long) partners.size());
            if (channel.size() - end - 1 != bytes) {
                throw new MalformedStoreException(path, end + 1L, channel.size() - end - 1 + " bytes",
                        bytes + ": 4 for each sample and partner");
            }
            channel.position(end + 1L);
            int[][] found = new int[partners.size()][];
            for (int p = 0; p < found.length; p++) {
                found[p] = numbers(channel, (int) first.size());
                long size = partners.get(p).samples.size();
                if (Arrays.stream(found[p]).anyMatch(number -> number < NONE || number >= size)) {
                    throw new MalformedStoreException(path, "a sample that does not exist", "below " + size);
                }
            }
            if (!digest(found).equals(digest)) {
                throw new MalformedStoreException(path, "other bytes than were written", "their SHA-256 " + digest);
            }
            return found;
        } catch (JsonException e) {
            throw new MalformedStoreException(path, e);
        }
    }

    private static int[] numbers(FileChannel channel, int count) throws IOException {
        int[] numbers = new int[count];
        ByteBuffer some = ByteBuffer.allocate(BUFFER_BYTES);
        for (int from = 0; from < count; from += BUFFER_BYTES / Integer.BYTES) {
            int part = Math.min(BUFFER_BYTES / Integer.BYTES, count - from);
            some.clear().limit(part * Integer.BYTES);
            while (some.hasRemaining()) {
                if (channel.read(some) < 0) {
                    throw new IOException("the file ended early");
                }
            }
            MemorySegment.copy(MemorySegment.ofBuffer(some.flip()), I32, 0, numbers, from, part);
        }
        return numbers;
    }

    /**
     * The samples with the fields of all.
     *
     * @param found the partner of each sample of the first dataset, of each partner
     * @param kept the samples of the first dataset that are left
     * @param digest of {@code found}
     */
    private record Joined(Dataset first, List<Partner> partners, List<TensorSpec> fields, int[][] found, int[] kept,
            String digest) implements Dataset {

        private long origin(long sample) {
            return kept[(int) Objects.checkIndex(sample, (long) kept.length)];
        }

        @Override
        public long size() {
            return kept.length;
        }

        @Override
        public FieldSource source(int field) {
            if (field < first.fields().size()) {
                return first.source(field).reindexed(this::origin);
            }
            int p = partner(field);
            Dataset samples = partners.get(p).samples;
            int[] of = found[p];
            FieldSource source = samples.source(of(field, p));
            if (partners.get(p).missing != Missing.EMPTY) {
                return source.reindexed(sample -> of[(int) origin(sample)]);
            }
            FieldSource empty = empty(fields.get(field));
            long none = samples.size();
            return FieldSource.joined(List.of(source, empty), none, 1).reindexed(sample -> {
                int number = of[(int) origin(sample)];
                return number == NONE ? none : number;
            });
        }

        /** One sample without a value. */
        private static FieldSource empty(TensorSpec field) {
            return new FieldSource.Generated((_, _, out) -> {
                if (field.isVariable()) {
                    out.tensor(field.name(), 0);
                } else {
                    out.tensor(0).segment().fill((byte) 0);
                }
            }, List.of(field), 0, 0, "empty", LongUnaryOperator.identity());
        }

        /** The number of the partner that has a field. */
        private int partner(int field) {
            int end = first.fields().size();
            for (int p = 0; p < partners.size(); p++) {
                end += partners.get(p).samples.fields().size();
                if (field < end) {
                    return p;
                }
            }
            throw new IndexOutOfBoundsException("field " + field);
        }

        /** The field's number in its partner. */
        private int of(int field, int p) {
            int begin = first.fields().size();
            for (int i = 0; i < p; i++) {
                begin += partners.get(i).samples.fields().size();
            }
            return field - begin;
        }

        @Override
        public String name(long sample) {
            return first.name(origin(sample));
        }

        @Override
        public String key(long sample) {
            return first.key(origin(sample));
        }

        @Override
        public long maxLength(int field) {
            if (field < first.fields().size()) {
                return first.maxLength(field);
            }
            int p = partner(field);
            return partners.get(p).samples.maxLength(of(field, p));
        }

        @Override
        public String fingerprint() {
            StringBuilder text = new StringBuilder("join:samples=" + kept.length + ":"
                    + digest.substring(0, DIGEST_DIGITS) + "|[" + first.fingerprint() + "]");
            partners.forEach(partner -> text.append('[').append(partner.missing).append(' ')
                    .append(partner.samples.fingerprint()).append(']'));
            return text.toString();
        }

        @Override
        public String toString() {
            return kept.length + " samples of " + first + " with " + partners.stream()
                    .map(partner -> partner.samples.toString()).toList();
        }
    }
}
