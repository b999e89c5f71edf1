// SPDX-License-Identifier: Apache-2.0
package io.penstock.kafka;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.stream.StreamDataset;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * How fast a topic becomes shuffled batches, beside Kafka's own consumer, by turns in one run: records of 1 KiB, one
 * reader.
 *
 * <p>Arguments: records (default 400,000), rounds (default 4).
 */
public final class KafkaRate {

    private static final int BYTES = 1024;
    private static final int PARTITIONS = 4;

    private KafkaRate() {
    }

    /**
     * Runs it.
     *
     * @param args records, rounds
     */
    public static void main(String[] args) throws Exception {
        int records = args.length > 0 ? Integer.parseInt(args[0]) : 400_000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 4;
        Path folder = Files.createTempDirectory("penstock-kafka");
        try (Broker broker = Broker.start(folder)) {
            broker.create("rate", PARTITIONS);
            Messages.write(broker, "rate", PARTITIONS, 0, records / PARTITIONS, BYTES);
            System.out.println("| reader | records/s | CPU µs/record | heap B/record |\n|---|--:|--:|--:|");
            for (int round = 0; round < rounds; round++) {
                measure("Kafka's consumer", () -> consumer(broker, records));
                measure("Penstock, shuffled batches of 256", () -> batches(broker));
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

    private static long batches(Broker broker) throws Exception {
        var source = KafkaSource.builder(broker.address(), "rate").untilNow().open();
        long read = 0;
        try (StreamDataset stream = StreamDataset.builder(source).field("bytes", DType.U8, BYTES).shuffle(1, 8192)
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
