// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.internal.Sha256;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.publish.Generation;
import io.penstock.sampling.Permutation;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The samples of a WebDataset as a stream: tars are read from start to end, one after the other, and need no index. For
 * compressed shards, and for disks and object stores that read long runs faster.
 *
 * {@snippet :
 * List<Location> shards = ShardList.of(Location.of(Path.of("train-{000000..000099}.tar")));
 * StreamSource tars = WebDatasetSource.of(shards, "jpg", "cls").shuffled(42).passes(90);
 * try (StreamDataset pictures = StreamDataset.builder(tars)
 *         .field("jpg", ImageDecoder.rgb(224, 224), 0).field("cls", Decoder.decimal(DType.I64), 0).shuffle(42,
 *         2000).open(); DataLoader loader = DataLoader.builder(pictures).batchSize(256).open()) {
 *     train(loader);
 * }
 * }
 *
 * <p>A record is a sample; its {@linkplain StreamSource#parts parts} are the members that were named. Other members are
 * skipped. A sample that lacks a named member is an error, unless {@link #skippingIncomplete} is set. A sample with a
 * member {@code __bad__} that is not empty is left out.
 *
 * <p>A cursor has the shard and the byte in its tar where the next sample begins. Continuing in a plain tar is a seek;
 * a compressed tar is decoded again from its start. {@code docs/spec/streams.md} specifies the order of the shards.
 */
public final class WebDatasetSource implements StreamSource {

    private final List<Location> shards;
    private final List<String> members;
    private final DecodeLimit limit;
    private final Order order;
    private final boolean isIncompleteSkipped;
    private final ShardSets sets;
    private final Generation generation;
    private final long[] byteSizes;
    private final String identity;

    /** The order in which shards are read: that of their list if there is no seed. */
    private record Order(int partitions, long passes, @Nullable Long seed) { }

    private WebDatasetSource(List<Location> shards, List<String> members, DecodeLimit limit) throws IOException {
        this.shards = List.copyOf(shards);
        this.members = members;
        this.limit = limit;
        this.order = new Order(1, 1, null);
        this.isIncompleteSkipped = false;
        if (shards.isEmpty() || members.isEmpty() || new HashSet<>(members).size() < members.size()) {
            throw new IllegalArgumentException("found " + shards.size() + " shards and members " + members
                    + ", expected at least one of each, and each member once");
        }
        this.sets = ShardSets.of(this.shards);
        this.generation = sets.generation();
        this.byteSizes = ParallelOpening.byteSizes(shards);
        MessageDigest sha256 = Sha256.digest();
        for (int i = 0; i < byteSizes.length; i++) {
            sha256.update((byteSizes[i] + " " + shards.get(i).name() + "\n").getBytes(StandardCharsets.UTF_8));
        }
        this.identity = "webdataset:shards=" + shards.size() + ":sha256=" + Sha256.shortHex(sha256) + ":members="
                + members;
    }

    private WebDatasetSource(WebDatasetSource of, Order order, boolean isIncompleteSkipped) {
        this.shards = of.shards;
        this.members = of.members;
        this.limit = of.limit;
        this.order = order;
        this.isIncompleteSkipped = isIncompleteSkipped;
        this.sets = of.sets;
        this.generation = of.generation;
        this.byteSizes = of.byteSizes;
        this.identity = of.identity;
    }

    /**
     * Reads shards once, in the order of their list.
     *
     * @param shards the tars, plain or compressed, at least one; see {@link ShardList}
     * @param members the suffixes of the members to read, in lower case, at least one
     * @return the source
     * @throws IOException if a shard is missing
     */
    public static WebDatasetSource of(List<Location> shards, String... members) throws IOException {
        return of(shards, DecodeLimit.DEFAULT, members);
    }

    /**
     * Reads shards once, in the order of their list, with a limit.
     *
     * @param shards the tars, plain or compressed, at least one
     * @param limit the most that each compressed shard may decode to
     * @param members the suffixes of the members to read, in lower case, at least one
     * @return the source
     * @throws IOException if a shard is missing
     */
    public static WebDatasetSource of(List<Location> shards, DecodeLimit limit, String... members) throws IOException {
        return new WebDatasetSource(shards, List.of(members), limit);
    }

    /**
     * The same, with the shards in another order in each pass. Samples move within {@link
     * io.penstock.stream.StreamDataset.Builder#shuffle windows}.
     *
     * @param seed any number
     * @return the source
     */
    public WebDatasetSource shuffled(long seed) {
        return new WebDatasetSource(this, new Order(order.partitions, order.passes, seed), isIncompleteSkipped);
    }

    /**
     * The same, read several times.
     *
     * @param passes how often; at least 1
     * @return the source
     */
    public WebDatasetSource passes(long passes) {
        if (passes < 1 || passes > (1L << 62) / shards.size()) {
            throw new IllegalArgumentException("found " + passes + " passes of " + shards.size() + " shards, expected"
                    + " at least 1, and at most 2^62 shards in all");
        }
        return new WebDatasetSource(this, new Order(order.partitions, passes, order.seed), isIncompleteSkipped);
    }

    /**
     * The same in several partitions, which are read by turns, one sample each, and which
     * {@linkplain io.penstock.stream.StreamDataset.Builder#lanes lanes} divide among ranks. Partition {@code p} of
     * {@code n} has the shards {@code p}, {@code p + n}, … of the order.
     *
     * @param partitions at most the number of shards
     * @return the source
     */
    public WebDatasetSource partitioned(int partitions) {
        if (partitions < 1 || partitions > shards.size()) {
            throw new IllegalArgumentException("found " + partitions + " partitions, expected 1 to " + shards.size()
                    + ", the number of shards");
        }
        return new WebDatasetSource(this, new Order(partitions, order.passes, order.seed), isIncompleteSkipped);
    }

    /**
     * The same without the samples that lack one of the members. They are counted.
     *
     * @return the source
     */
    public WebDatasetSource skippingIncomplete() {
        return new WebDatasetSource(this, order, true);
    }

    @Override
    public String fingerprint() {
        return identity + (order.seed == null ? "" : ":seed=" + order.seed) + ":passes=" + order.passes
                + (isIncompleteSkipped ? ":complete" : "");
    }

    @Override
    public List<String> parts() {
        return members;
    }

    @Override
    public List<String> partitions() {
        return IntStream.range(0, order.partitions).mapToObj(part -> "tars " + part + " of " + order.partitions)
                .toList();
    }

    /**
     * {@inheritDoc}
     *
     * <p>The cursor is the number of the partition's shards that are done, a colon, and a byte in the next one's tar.
     */
    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        int colon = cursor.indexOf(':');
        try {
            long shard = cursor.isEmpty() ? 0 : Long.parseLong(cursor, 0, Math.max(0, colon), 10);
            long offset = cursor.isEmpty() ? 0 : Long.parseLong(cursor, colon + 1, cursor.length(), 10);
            if (shard >= 0 && offset >= 0 && (offset == 0 || shard(partition, shard).isPresent())) {
                return new TarSamples(this, partition, shard, offset);
            }
        } catch (NumberFormatException _) {
            // The exception below names the cursor.
        }
        throw new IOException(partitions().get(partition) + ": found cursor '" + cursor + "', expected the number of a"
                + " shard, a colon and a byte of it");
    }

    /** Returns the index in the list of a partition's n-th shard; empty after its last one. */
    OptionalInt shard(int partition, long place) {
        long count = shards.size();
        if (place > (order.passes * count - 1 - partition) / order.partitions) {
            return OptionalInt.empty();
        }
        long inAll = place * order.partitions + partition;
        long inPass = inAll % count;
        return OptionalInt.of((int) (order.seed == null ? inPass
                : new Permutation(count, order.seed, inAll / count).at(inPass)));
    }

    /** Returns a shard by its index in the list. */
    Location location(int shard) {
        return shards.get(shard);
    }

    long byteSize(int shard) {
        return byteSizes[shard];
    }

    int partitionCount() {
        return order.partitions;
    }

    DecodeLimit limit() {
        return limit;
    }

    /** Fails if the shards were replaced since the source was created; names a shard. */
    void checkCurrent(Location shard) throws IOException {
        if (!sets.generation().equals(generation)) {
            throw new IOException(shard + ": the shards were replaced while they were read");
        }
    }

    boolean skipsIncomplete() {
        return isIncompleteSkipped;
    }
}
