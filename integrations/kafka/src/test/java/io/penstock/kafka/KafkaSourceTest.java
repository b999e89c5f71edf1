// SPDX-License-Identifier: Apache-2.0
package io.penstock.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.state.LoaderState;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.StreamDataset;
import io.penstock.stream.StreamSource;
import io.penstock.stream.StreamSource.StreamEnd;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Topics of a real broker. */
class KafkaSourceTest {

    private static final int PARTITIONS = 4;
    private static final int BYTES = 64;

    @TempDir
    private static Path folder;

    private static Broker broker;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = Broker.start(folder);
    }

    @AfterAll
    static void stopBroker() {
        if (broker != null) {
            broker.close();
        }
    }

    private static StreamDataset.Builder dataset(StreamSource source) {
        return StreamDataset.builder(source).field("id", DType.I64, BYTES / Long.BYTES);
    }

    private static void add(Batch batch, List<Long> to) {
        try (batch) {
            Tensor ids = batch.tensor("id");
            for (int row = 0; row < batch.count(); row++) {
                long at = (long) row * BYTES / Long.BYTES;
                to.add(ids.getLong(at) << 32 | ids.getLong(at + 1));
            }
        }
    }

    private static List<Long> all(StreamDataset.Builder settings) {
        List<Long> ids = new ArrayList<>();
        try (StreamDataset stream = settings.open();
                DataLoader loader = DataLoader.builder(stream).batchSize(32).workers(2).open()) {
            loader.epoch().forEach(batch -> add(batch, ids));
        }
        return ids;
    }

    @Test
    void aTopicIsOpenedByItsNameAndTellsItsLag() throws Exception {
        broker.create("named", 1);
        Messages.write(broker, "named", 1, 0, 100, BYTES);
        StreamSource source = StreamSource.open("kafka://" + broker.address() + "/named#client.id=trainer",
                StreamEnd.STOP);
        assertEquals(List.of("named-0"), source.partitions());
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            while (into.count() < 40) {
                reader.poll(into);
            }
            assertEquals(60, reader.lag().behind());
            assertTrue(reader.lag().newestMillis() > 0);
            while (reader.poll(into) != PartitionReader.Found.END) {
                assertTrue(into.count() <= 100);
            }
            assertEquals(0, reader.lag().behind());
        }
        assertThrows(IllegalArgumentException.class, () -> StreamSource.open("kafka://named", StreamEnd.WAIT));
        assertThrows(IOException.class,
                () -> StreamSource.open("kafka://" + broker.address() + "/absent", StreamEnd.WAIT));
    }

    @Test
    void aShuffledTopicIsReadOnceHoweverOftenTheRunStops() throws Exception {
        broker.create("many", PARTITIONS);
        int each = 3000;
        Messages.write(broker, "many", PARTITIONS, 0, each, BYTES);
        StreamSource source = KafkaSource.builder(broker.address(), "many").untilNow().open();
        assertEquals(List.of("many-0", "many-1", "many-2", "many-3"), source.partitions());
        List<Long> straight = all(dataset(source).shuffle(5, 512));
        assertEquals(PARTITIONS * each, new HashSet<>(straight).size());
        List<Long> pieces = new ArrayList<>();
        var random = new Random(1);
        LoaderState state = null;
        while (pieces.size() < straight.size()) {
            try (StreamDataset stream = dataset(source).shuffle(5, 512).open()) {
                DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(1 + random.nextInt(64))
                        .workers(random.nextInt(3));
                if (state != null) {
                    builder.resume(LoaderState.fromJson(state.toJson()));
                }
                try (DataLoader loader = builder.open()) {
                    for (int i = random.nextInt(100); i > 0 && loader.hasNext(); i--) {
                        add(loader.next(), pieces);
                    }
                    state = loader.state();
                }
            }
        }
        assertEquals(straight, pieces);
        assertTrue(state.toJson().length() < 400 + 64 * PARTITIONS, state.toJson());
    }

    @Test
    void aTopicThatGrowsGoesOnThroughARestartOfItsBroker(@TempDir Path own) throws Exception {
        try (Broker restarted = Broker.start(own)) {
            restarted.create("growing", 2);
            Messages.write(restarted, "growing", 2, 0, 50, BYTES);
            StreamSource source = KafkaSource.builder(restarted.address(), "growing").open();
            List<Long> ids = new ArrayList<>();
            try (StreamDataset stream = dataset(source).open();
                    DataLoader loader = DataLoader.builder(stream).batchSize(10).workers(1).open()) {
                for (int i = 0; i < 10; i++) {
                    add(loader.next(), ids);
                }
                restarted.stop();
                restarted.start();
                Messages.write(restarted, "growing", 2, 50, 80, BYTES);
                for (int i = 0; i < 6; i++) {
                    add(loader.next(), ids);
                }
            }
            List<Long> expected = new ArrayList<>();
            for (long number = 0; number < 80; number++) {
                expected.add(number);
                expected.add(1L << 32 | number);
            }
            assertEquals(expected, ids);
        }
    }

    @Test
    void recordsOfAbortedTransactionsAndWithoutAValueAreLeftOut() throws Exception {
        broker.create("transactions", 1);
        broker.awaitLeaders("transactions", 1);
        try (var producer = Messages.producer(broker, Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "t"))) {
            producer.initTransactions();
            for (int transaction = 0; transaction < 6; transaction++) {
                producer.beginTransaction();
                for (int i = 0; i < 5; i++) {
                    producer.send(new ProducerRecord<>("transactions", 0, null,
                            i == 3 ? null : Messages.message(0, 5 * transaction + i, BYTES)));
                }
                if (transaction % 2 == 0) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
        assertEquals(List.of(0L, 1L, 2L, 4L, 10L, 11L, 12L, 14L, 20L, 21L, 22L, 24L),
                all(dataset(KafkaSource.builder(broker.address(), "transactions").untilNow().open())));
    }

    @Test
    void anOffsetThatRetentionHasRemovedIsNamed() throws Exception {
        broker.create("old", 1);
        Messages.write(broker, "old", 1, 0, 100, BYTES);
        StreamSource source = KafkaSource.builder(broker.address(), "old").untilNow().open();
        LoaderState state;
        try (StreamDataset stream = dataset(source).open();
                DataLoader loader = DataLoader.builder(stream).batchSize(10).workers(0).open()) {
            loader.next().close();
            state = loader.state();
        }
        try (Admin admin = broker.admin()) {
            admin.deleteRecords(Map.of(new TopicPartition("old", 0), RecordsToDelete.beforeOffset(60))).all().get();
        }
        try (StreamDataset stream = dataset(source).open()) {
            RuntimeException refused = assertThrows(RuntimeException.class, () -> DataLoader.builder(stream)
                    .batchSize(10).resume(state).open());
            assertTrue(refused.getMessage().contains("old-0: found records from offset 60 on, expected offset"),
                    refused.getMessage());
        }
        assertEquals(40, all(dataset(source)).size());
    }

    @Test
    void anOffsetBehindTheEndOfATopicThatWasCreatedAgainIsRefused() throws Exception {
        broker.create("again", 1);
        Messages.write(broker, "again", 1, 0, 100, BYTES);
        for (boolean endsNow : new boolean[] {false, true}) {
            KafkaSource.Builder settings = KafkaSource.builder(broker.address(), "again");
            StreamSource source = (endsNow ? settings.untilNow() : settings).open();
            source.open(0, "100").close();
            var refused = assertThrows(IOException.class, () -> source.open(0, "101"));
            assertTrue(refused.getMessage().contains("again-0: found records up to offset 100, expected offset 101"),
                    refused.getMessage());
        }
    }

    @Test
    void aTopicThatDoesNotExistIsRefusedAndNotCreated() throws Exception {
        var refused = assertThrows(IOException.class, () -> KafkaSource.builder(broker.address(), "none")
                .setting("default.api.timeout.ms", 5000).open());
        assertTrue(refused.getMessage().contains("topic 'none'"), refused.getMessage());
        try (Admin admin = broker.admin()) {
            assertFalse(admin.listTopics().names().get().contains("none"));
        }
    }
}
