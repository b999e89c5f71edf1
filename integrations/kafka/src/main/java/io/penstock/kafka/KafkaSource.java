// SPDX-License-Identifier: Apache-2.0
package io.penstock.kafka;

import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteBufferDeserializer;

/**
 * The values of a Kafka topic's records. A partition of the topic is a partition of the stream, and a cursor is an
 * offset.
 *
 * {@snippet :
 * StreamSource clicks = KafkaSource.builder("broker:9092", "clicks").open();
 * try (StreamDataset records = StreamDataset.builder(clicks).field("click", decoder, 1).shuffle(42, 8192).open();
 *         DataLoader loader = DataLoader.builder(records).batchSize(256).open()) {
 *     train(loader);
 * }
 * }
 *
 * <p>The offsets are part of the loader's state, and nowhere else: partitions are assigned by hand, nothing is
 * committed to the broker, and there is no consumer group. Records of transactions that were aborted are left out, and
 * so are records without a value. Where retention has removed the offset that a state needs, opening fails and names
 * it.
 *
 * <p>Each partition has a consumer of its own, used by the stream's thread. While a broker is away, the consumer waits
 * for it.
 */
public final class KafkaSource implements StreamSource {

    /** How long the calls of all partitions may take when nothing is there, and the least of one. */
    private static final long MOMENT_MILLIS = 20;
    private static final long LEAST_MILLIS = 1;
    /** What the consumers of all partitions ask for at once, and the bounds of one. */
    private static final int FETCHED_BYTES = 64 << 20;
    private static final int LEAST_FETCH_BYTES = 256 << 10;
    private static final int MOST_FETCH_BYTES = 4 << 20;
    /** The system's: it grows, so that records arrive while others are read. */
    private static final int SYSTEM_BUFFER = -1;

    private final String topic;
    private final List<Integer> partitions;
    private final boolean endsNow;
    private final Map<String, Object> settings;
    private final Duration moment;

    private KafkaSource(Builder builder, List<Integer> partitions) {
        this.topic = builder.topic;
        this.endsNow = builder.endsNow;
        this.partitions = List.copyOf(partitions);
        this.moment = Duration.ofMillis(Math.max(LEAST_MILLIS, MOMENT_MILLIS / partitions.size()));
        Map<String, Object> all = new HashMap<>(builder.settings);
        all.putIfAbsent(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG,
                Math.clamp(FETCHED_BYTES / partitions.size(), LEAST_FETCH_BYTES, MOST_FETCH_BYTES));
        this.settings = Map.copyOf(all);
    }

    /**
     * Returns the settings of a source.
     *
     * @param servers brokers to begin with, {@code host:port}, separated by commas
     * @param topic the topic's name
     * @return the settings
     */
    public static Builder builder(String servers, String topic) {
        return new Builder(servers, topic);
    }

    @Override
    public String fingerprint() {
        return "kafka:" + topic;
    }

    @Override
    public List<String> partitions() {
        return partitions.stream().map(partition -> topic + "-" + partition).toList();
    }

    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        var at = new TopicPartition(topic, partitions.get(partition));
        KafkaConsumer<ByteBuffer, ByteBuffer> consumer = null;
        try {
            consumer = new KafkaConsumer<>(settings);
            consumer.assign(List.of(at));
            long first = first(consumer, at);
            long last = Objects.requireNonNull(consumer.endOffsets(List.of(at)).get(at));
            long from = cursor.isEmpty() ? first : offset(at, cursor);
            if (from < first) {
                throw new IOException(at + ": found records from offset " + first + " on, expected offset " + from
                        + ", where the saved state goes on: retention has removed the records between");
            }
            if (from > last) {
                throw new IOException(at + ": found records up to offset " + last + ", expected offset " + from
                        + ", where the saved state goes on: was the topic created again?");
            }
            consumer.seek(at, from);
            return new Reader(at, consumer, moment, from, endsNow ? last : Long.MAX_VALUE);
        } catch (KafkaException | IOException e) {
            if (consumer != null) {
                consumer.close();
            }
            throw e instanceof IOException known ? known : new IOException(at + ": " + e.getMessage(), e);
        }
    }

    /** The first offset that a partition still has. */
    private static long first(KafkaConsumer<ByteBuffer, ByteBuffer> consumer, TopicPartition at) {
        return Objects.requireNonNull(consumer.beginningOffsets(List.of(at)).get(at));
    }

    private static long offset(TopicPartition at, String cursor) throws IOException {
        try {
            return Long.parseLong(cursor);
        } catch (NumberFormatException e) {
            throw new IOException(at + ": found cursor '" + cursor + "', expected an offset", e);
        }
    }

    /** Reads one partition. */
    private static final class Reader implements PartitionReader {

        private final TopicPartition at;
        private final KafkaConsumer<ByteBuffer, ByteBuffer> consumer;
        private final Duration moment;
        private final long end;
        /** Records whose values are in the broker's answer, and how many of them were given. */
        private List<ConsumerRecord<ByteBuffer, ByteBuffer>> fetched = List.of();
        private int given;
        /** The offset behind the last record, and when that was written. */
        private long next;
        private long newestMillis = -1;

        Reader(TopicPartition at, KafkaConsumer<ByteBuffer, ByteBuffer> consumer, Duration moment, long from,
                long end) {
            this.at = at;
            this.consumer = consumer;
            this.moment = moment;
            this.next = from;
            this.end = end;
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            try {
                while (true) {
                    while (given < fetched.size()) {
                        ConsumerRecord<ByteBuffer, ByteBuffer> record = fetched.get(given++);
                        if (record.offset() >= end) {
                            return Found.END;
                        }
                        next = record.offset() + 1;
                        ByteBuffer value = record.value();
                        if (value != null) {
                            newestMillis = record.timestamp();
                            into.add(MemorySegment.ofBuffer(value), 0, value.remaining());
                            return Found.RECORD;
                        }
                    }
                    // Behind the last record may be markers of transactions, which have offsets and are not given.
                    if (consumer.position(at) >= end) {
                        return Found.END;
                    }
                    fetched = consumer.poll(moment).records(at);
                    given = 0;
                    if (fetched.isEmpty()) {
                        return consumer.position(at) >= end ? Found.END : Found.NOTHING_YET;
                    }
                }
            } catch (OffsetOutOfRangeException e) {
                long first = first(consumer, at);
                throw new IOException(at + ": found records from offset " + first + " on, expected offset " + next
                        + ": retention has removed the records between before they were read", e);
            } catch (KafkaException e) {
                throw new IOException(at + ", offset " + next + ": " + e.getMessage(), e);
            }
        }

        @Override
        public String cursor() {
            return Long.toString(next);
        }

        /** Of the latest answer of the broker, and of the records in memory. */
        @Override
        public Lag lag() {
            OptionalLong behind = consumer.currentLag(at);
            return behind.isEmpty() ? new Lag(-1, newestMillis, 0)
                    : new Lag(behind.getAsLong() + consumer.position(at) - next, newestMillis, 0);
        }

        @Override
        public void close() {
            consumer.close();
        }
    }

    /** The settings of a {@link KafkaSource}. */
    public static final class Builder {

        private final String topic;
        private final Map<String, Object> settings = new HashMap<>();
        private boolean endsNow;

        private Builder(String servers, String topic) {
            this.topic = Objects.requireNonNull(topic, "topic");
            settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, Objects.requireNonNull(servers, "servers"));
            settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
            settings.put(ConsumerConfig.RECEIVE_BUFFER_CONFIG, SYSTEM_BUFFER);
            settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 4096);
        }

        /**
         * Sets what Kafka's consumer takes, such as {@code security.protocol}. What the source depends on cannot be
         * changed: the deserializers, the reset policy and commits.
         *
         * @param name the setting's name
         * @param value its value
         * @return this
         */
        public Builder setting(String name, Object value) {
            settings.put(name, Objects.requireNonNull(value, "value"));
            return this;
        }

        /**
         * Ends each partition where it ends when it is opened. Default: the source waits for more.
         *
         * @return this
         */
        public Builder untilNow() {
            this.endsNow = true;
            return this;
        }

        /**
         * Asks the broker for the topic's partitions.
         *
         * @return the source
         * @throws IOException if the broker cannot be reached, or has no such topic
         */
        public KafkaSource open() throws IOException {
            settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
            settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
            settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
            settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteBufferDeserializer.class);
            settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteBufferDeserializer.class);
            try (var consumer = new KafkaConsumer<ByteBuffer, ByteBuffer>(settings)) {
                List<PartitionInfo> found = consumer.partitionsFor(topic);
                if (found == null || found.isEmpty()) {
                    throw new IOException("topic '" + topic + "': found no such topic, expected one that exists");
                }
                return new KafkaSource(this, found.stream().map(PartitionInfo::partition).sorted().toList());
            } catch (KafkaException e) {
                throw new IOException("topic '" + topic + "' at "
                        + settings.get(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG) + ": " + e.getMessage(), e);
            }
        }
    }
}
