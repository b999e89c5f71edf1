// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.memory.DType;
import io.penstock.store.TokenContent;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.concurrent.Flow;
import java.util.function.LongFunction;

/**
 * Records that are read in order and have no index: the lines of files that grow, a topic, a table, a pipe. They come
 * in partitions, each an ordered list that is read from a cursor.
 *
 * <p>An implementation has no threads and no state but what it is opened with: {@link StreamDataset} reads it on one
 * thread of its own, and saves the cursors with the loader's state.
 *
 * {@snippet :
 * try (StreamDataset records = StreamDataset.builder(LineSource.of(Path.of("feed.jsonl"))).field("json").open();
 *         DataLoader loader = DataLoader.builder(records).batchSize(32).collator(StackAndPad.cutTo(4096)).open()) {
 *     for (Batch batch : loader.epoch()) {
 *         try (batch) {
 *             step(batch.tensor("json"));
 *         }
 *     }
 * }
 * }
 */
public interface StreamSource {

    /** Opens sources by name. Found by {@link ServiceLoader}. */
    interface SourceProvider {

        /** {@return the provider's scheme in lower case, for example {@code kafka}} */
        String scheme();

        /**
         * Opens a source.
         *
         * @param location the name before {@code #}, such as {@code kafka://broker:9092/clicks}
         * @param settings what follows {@code #}, by key
         * @param end what the source does where its records end
         * @return the source
         * @throws IllegalArgumentException if the location or a setting is none of this kind of source
         * @throws IOException if the source cannot be reached, or is not there
         */
        StreamSource open(String location, Map<String, String> settings, StreamEnd end) throws IOException;
    }

    /**
     * Documents as tokens: a record is the tokens of one document, little-endian, with the token that ends it. {@link
     * TokenWindowSource} cuts them into windows, {@link PackedSource} packs them. The tokenizers' {@code
     * TokenDocumentSource} makes them of text.
     */
    interface OfTokens extends StreamSource {

        /** {@return the dtype of the tokens, an integer dtype} */
        DType dtype();

        /** {@return what the numbers are, which names the field that they become; by default tokens} */
        default TokenContent content() {
            return TokenContent.TOKENS;
        }
    }

    /**
     * Opens a source by name: {@code SCHEME:…#key=value&key=value}. Characters of a value may be written as
     * {@code %26}. Two schemes are built in: {@code pipe:COMMAND} is the lines that a shell's command writes, and
     * {@code tcp://HOST:PORT} those that a server sends.
     *
     * @param name the name, for example {@code kafka://broker:9092/clicks} or
     *     {@code jdbc:postgresql://host/blog#table=posts&key=id&columns=body}
     * @param end what the source does where its records end
     * @return the source
     * @throws IllegalArgumentException if the name is none of a source, or the class path has no
     *     {@link SourceProvider} of its scheme
     * @throws IOException if the source cannot be reached, or is not there
     */
    static StreamSource open(String name, StreamEnd end) throws IOException {
        String scheme = name.substring(0, Math.max(0, name.indexOf(':')));
        if (scheme.equals("pipe")) {
            return LineSource.command("sh", "-c", name.substring("pipe:".length()));
        }
        if (scheme.equals("tcp")) {
            URI server = URI.create(name);
            if (server.getHost() == null || server.getPort() < 0) {
                throw new IllegalArgumentException(name + ": found no host and port, expected tcp://HOST:PORT");
            }
            return LineSource.socket(InetSocketAddress.createUnresolved(server.getHost(), server.getPort()));
        }
        if (List.of("http", "https", "s3", "hf").contains(scheme)) {
            String shown = name.replaceFirst("[?#].*", "").replaceFirst("//[^/]*@", "//");
            throw new IllegalArgumentException(shown + ": found a remote file or folder that is no tar, expected tars"
                    + " such as " + scheme + "://…/train-{000000..000099}.tar; lines are read from local files only:"
                    + " download the file first");
        }
        var found = new TreeSet<String>();
        for (SourceProvider provider : ServiceLoader.load(SourceProvider.class)) {
            found.add(provider.scheme());
            if (provider.scheme().equals(scheme)) {
                int hash = name.indexOf('#');
                try {
                    return provider.open(hash < 0 ? name : name.substring(0, hash),
                            hash < 0 ? Map.of() : settings(name, hash + 1), end);
                } catch (NoClassDefFoundError e) {
                    throw new IOException(scheme + ": found no class " + e.getMessage() + ", which penstock-" + scheme
                            + " needs: put its library on the class path", e);
                }
            }
        }
        throw new IllegalArgumentException(name + ": found " + (found.isEmpty() ? "no sources" : "sources " + found)
                + " on the class path, expected one for '" + scheme + "': put penstock-" + scheme
                + " on the class path");
    }

    /**
     * Records of a program's own, by an iterator, that can be read again: a saved run continues exactly.
     * {@code hasNext} may wait for the next record; closing the stream interrupts it.
     *
     * {@snippet :
     * StreamSource numbers = StreamSource.of("numbers v1", first -> LongStream.iterate(first, n -> n + 1)
     *         .mapToObj(n -> MemorySegment.ofArray(new long[] {n})).iterator());
     * }
     *
     * @param name identifies the records in states; change it when they change
     * @param from starts with a record, by its number from 0; each record is valid until the next one is asked for
     * @return a source of one partition
     */
    static StreamSource of(String name, LongFunction<Iterator<MemorySegment>> from) {
        Objects.requireNonNull(from, "from");
        return new CountedSource("iterator", name, false, first -> CountedSource.records(from.apply(first)));
    }

    /**
     * Records that come only once, such as those of a pipe. Each is given at most once: records that were read but not
     * trained on when a run stops are lost. A state cannot be resumed, unless a {@link SpoolSource} keeps them.
     *
     * @param name identifies the records in states
     * @param records each valid until the next one is asked for
     * @return a source of one partition, for one loader
     */
    static StreamSource once(String name, Iterator<MemorySegment> records) {
        Objects.requireNonNull(records, "records");
        return new CountedSource("iterator", name, true, _ -> CountedSource.records(records));
    }

    /**
     * Records that a {@link Flow.Publisher} sends, such as a subscription to a message queue, and can send again: a
     * saved run continues exactly. The publisher is asked for no more records than fit in memory, so a trainer that
     * stands still stops it.
     *
     * {@snippet id=Streams :
     * StreamSource clicks = StreamSource.published("clicks v1", 1024, first -> feed.from(first));
     * StreamDataset records = StreamDataset.builder(clicks).field("click", DType.F32, 32).shuffle(42, 8192).open();
     * }
     *
     * <p>A record is read on the stream's thread after it was published: it must not change, and any thread must be
     * allowed to read it.
     *
     * @param name identifies the records in states; change it when they change
     * @param capacity the most records that were asked for and are not read yet; at least 1
     * @param from publishes from a record on, by its number from 0
     * @return a source of one partition
     * @throws IllegalArgumentException if the capacity is below 1
     */
    static StreamSource published(String name, int capacity, LongFunction<Flow.Publisher<MemorySegment>> from) {
        Objects.requireNonNull(from, "from");
        PublishedRecords.checkCapacity(capacity);
        return new CountedSource("publisher", name, false,
                first -> PublishedRecords.of(from.apply(first), capacity));
    }

    /**
     * Records that are published only once. As with {@link #once}, those that were read but not trained on are lost.
     *
     * @param name identifies the records in states
     * @param capacity the most records that were asked for and are not read yet; at least 1
     * @param records subscribed to when the loader opens
     * @return a source of one partition, for one loader
     * @throws IllegalArgumentException if the capacity is below 1
     */
    static StreamSource publishedOnce(String name, int capacity, Flow.Publisher<MemorySegment> records) {
        Objects.requireNonNull(records, "records");
        PublishedRecords.checkCapacity(capacity);
        return new CountedSource("publisher", name, true, _ -> PublishedRecords.of(records, capacity));
    }

    /** Reads {@code key=value&key=value} from a place on. */
    private static Map<String, String> settings(String name, int from) {
        Map<String, String> settings = new HashMap<>();
        for (String setting : name.substring(from).split("&")) {
            int equals = setting.indexOf('=');
            if (equals < 1 || settings.put(setting.substring(0, equals), URLDecoder.decode(
                    setting.substring(equals + 1).replace("+", "%2B"), StandardCharsets.UTF_8)) != null) {
                throw new IllegalArgumentException(name + ": found setting '" + setting
                        + "', expected key=value, each key once");
            }
        }
        return settings;
    }

    /** {@return a text that identifies the source, such as the names of files; states of another source are refused} */
    String fingerprint();

    /**
     * Returns the names of the parts of a record, for records that have several: fields of these names are made of
     * them. A record then begins as {@link RecordBuffer#PART_BYTES} says; with one part, it is that part.
     *
     * @return the names; empty, as by default, if a record is one run of bytes without a name
     */
    default List<String> parts() {
        return List.of();
    }

    /** {@return the names of the partitions, at least one; they are unique, and are read by turns in this order} */
    List<String> partitions();

    /**
     * Opens a partition.
     *
     * @param partition its position in {@link #partitions}
     * @param cursor where to begin: what {@link PartitionReader#cursor} gave; empty for the partition's start
     * @return the reader, which the caller closes
     * @throws IOException if the partition cannot be read, or no longer has what the cursor stands for; names it, and
     *     says what was found and expected
     */
    PartitionReader open(int partition, String cursor) throws IOException;

    /** What a source does where its records end for now. */
    enum StreamEnd {
        /** The partition ends there. */
        STOP,
        /** It waits for more. */
        WAIT
    }
}
