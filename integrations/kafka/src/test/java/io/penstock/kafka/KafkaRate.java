// SPDX-License-Identifier: Apache-2.0
package io.penstock.kafka;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.PartitionReader.Found;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.StreamDataset;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * How fast a topic becomes windows of records, and shuffled batches, beside Kafka's own consumer, by turns in one run:
 * records of 1 KiB, one reader. Other settings of the consumer may follow.
 *
 * <p>Arguments: records (default 1,000,000), rounds (default 5), settings as {@code name=value}.
 */
public final class KafkaRate {

    private static final int BYTES = 1024;
    private static final int PARTITIONS = 4;
    private static final int WINDOW = 8192;

    private KafkaRate() {
    }

    /**
     * Runs it.
     *
     * @param args records, rounds, settings
     */
    public static void main(String[] args) throws Exception {
        int records = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
        List<String> more = List.of(args).subList(Math.min(2, args.length), args.length);
        Path folder = Files.createTempDirectory("penstock-kafka");
        try (Broker broker = Broker.start(folder)) {
            broker.create("rate", PARTITIONS);
            Messages.write(broker, "rate", PARTITIONS, 0, records / PARTITIONS, BYTES);
            System.out.println("| reader | records/s | CPU µs/record | heap B/record |\n|---|--:|--:|--:|");
            for (int round = 0; round < rounds; round++) {
                measure("Kafka's consumer", () -> consumer(broker, records));
                measure("Penstock, windows of 8192", () -> windows(broker, records, more));
                measure("Penstock, shuffled batches of 256", () -> batches(broker, more));
            }
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    /** Reads everything; returns the records. */
    private interface Reader {

        long read() throws Exception;
    }

    private static void measure(String name, Reader reader) throws Exception {
        var process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long cpu = process.getProcessCpuTime();
        long heap = threads.getTotalThreadAllocatedBytes();
        long begin = System.nanoTime();
        double records = reader.read();
        double seconds = (System.nanoTime() - begin) / 1e9;
        System.out.printf("| %s | %,.0f | %.2f | %,.0f |%n", name, records / seconds,
                (process.getProcessCpuTime() - cpu) / 1e3 / records,
                (threads.getTotalThreadAllocatedBytes() - heap) / records);
    }

    private static long consumer(Broker broker, int records) {
        List<TopicPartition> all = Stream.iterate(0, n -> n + 1).limit(PARTITIONS)
                .map(n -> new TopicPartition("rate", n)).toList();
        try (var consumer = new KafkaConsumer<byte[], byte[]>(Map.of("bootstrap.servers", broker.address(),
                "enable.auto.commit", false, "max.poll.records", 4096, "max.partition.fetch.bytes", 4 << 20),
                new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(all);
            consumer.seekToBeginning(all);
            long read = 0;
            while (read < records) {
                read += consumer.poll(Duration.ofMillis(100)).count();
            }
            return read;
        }
    }

    private static KafkaSource source(Broker broker, List<String> more) throws IOException {
        KafkaSource.Builder settings = KafkaSource.builder(broker.address(), "rate").untilNow();
        for (String setting : more) {
            String[] words = setting.split("=", 2);
            settings.setting(words[0], words[1]);
        }
        return settings.open();
    }

    /** Reads the partitions by turns, one record each, on one thread. */
    private static long windows(Broker broker, int records, List<String> more) throws IOException {
        KafkaSource source = source(broker, more);
        List<PartitionReader> readers = new ArrayList<>();
        try (RecordBuffer into = new RecordBuffer()) {
            for (int partition = 0; partition < PARTITIONS; partition++) {
                readers.add(source.open(partition, ""));
            }
            int read = 0;
            while (read < records) {
                if (readers.get(read % PARTITIONS).poll(into) == Found.RECORD) {
                    read++;
                    if (into.count() == WINDOW) {
                        into.clear();
                    }
                }
            }
            return read;
        } finally {
            for (PartitionReader reader : readers) {
                reader.close();
            }
        }
    }

    private static long batches(Broker broker, List<String> more) throws IOException {
        KafkaSource source = source(broker, more);
        long read = 0;
        try (StreamDataset stream = StreamDataset.builder(source).field("bytes", DType.U8, BYTES).shuffle(1, WINDOW)
                .open();
                DataLoader loader = DataLoader.builder(stream).batchSize(256).workers(1).open()) {
            for (Batch batch : loader.epoch()) {
                read += batch.count();
                batch.close();
            }
        }
        return read;
    }
}
