// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.stream.MixtureSource.Part;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Mixtures of streams, and of stores with streams. */
class MixtureSourceTest {

    private static final long STORE = 1000;

    /** A store whose samples say which they are: partition 1000 and the sample. */
    private static Dataset store(long size) {
        return Dataset.generate(size, List.of(new TensorSpec("id", DType.I64, 2)), "numbers", (sample, _, out) -> {
            out.tensor(0).segment().setAtIndex(JAVA_LONG_UNALIGNED, 0, STORE);
            out.tensor(0).segment().setAtIndex(JAVA_LONG_UNALIGNED, 1, sample);
        });
    }

    private static StreamDataset.Builder dataset(StreamSource source) {
        return StreamDataset.builder(source).field("id", DType.I64, 2);
    }

    private static void add(Batch batch, List<Long> to) {
        try (batch) {
            Tensor ids = batch.tensor("id");
            for (int row = 0; row < batch.count(); row++) {
                to.add(NumberSource.id(ids.getLong(2L * row), ids.getLong(2L * row + 1)));
            }
        }
    }

    private static List<Long> take(StreamSource source, int count) throws IOException {
        List<Long> ids = new ArrayList<>();
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            while (ids.size() < count && reader.poll(into) == PartitionReader.Found.RECORD) {
                var record = into.record(into.count() - 1);
                ids.add(NumberSource.id(record.get(JAVA_LONG_UNALIGNED, 0),
                        record.get(JAVA_LONG_UNALIGNED, 8)));
            }
        }
        return ids;
    }

    /** The rule of docs/spec/mixtures.md, draw by draw. */
    private static List<Integer> draws(int[] weights, int count) {
        int sum = 0;
        for (int weight : weights) {
            sum += weight;
        }
        int[] drawn = new int[weights.length];
        List<Integer> draws = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int best = -1;
            long most = Long.MIN_VALUE;
            for (int s = 0; s < weights.length; s++) {
                long error = (long) weights[s] * Math.max(i, 1) - (long) sum * drawn[s];
                if (weights[s] > 0 && error > most) {
                    most = error;
                    best = s;
                }
            }
            drawn[best]++;
            draws.add(best);
        }
        return draws;
    }

    @Test
    void eachRecordIsOfTheSourceThatIsFurthestBelowItsShare() throws IOException {
        var first = new NumberSource(4000, 4000);
        var second = NumberSource.of(1, 4000);
        var third = NumberSource.of(3, 4000);
        MixtureSource mixed = MixtureSource.of(new Part(first, 0.7), new Part(second, 0), new Part(third, 0.3));
        List<List<Long>> each = List.of(first.merged(), second.merged(), third.merged());
        int[] at = new int[3];
        List<Long> expected = new ArrayList<>();
        for (int source : draws(new int[] {7, 0, 3}, 2000)) {
            expected.add(each.get(source).get(at[source]++));
        }
        assertEquals(expected, take(mixed, 2000));
        assertEquals(List.of(1400, 0, 600), List.of(at[0], at[1], at[2]));
    }

    @Test
    void theMixtureEndsWhereTheNextRecordIsOfASourceThatHasEnded() throws IOException {
        MixtureSource mixed = MixtureSource.of(new Part(NumberSource.of(1, 10), 1),
                new Part(NumberSource.of(1, 99), 2));
        List<Integer> draws = draws(new int[] {1, 2}, 100);
        int expected = 0;
        for (int zeros = 0; zeros < 10 || draws.get(expected) != 0; expected++) {
            zeros += draws.get(expected) == 0 ? 1 : 0;
        }
        assertEquals(expected, take(mixed, 1000).size());
    }

    @Test
    void aStoreIsMixedEpochAfterEpochInItsOwnOrder() throws IOException {
        Sampler order = Sampler.shuffled(30, 5);
        MixtureSource mixed = MixtureSource.of(new Part(NumberSource.of(1, 500), 1),
                new Part(DatasetSource.of(store(30), order), 3));
        List<Long> expected = new ArrayList<>();
        int record = 0;
        int sample = 0;
        for (int source : draws(new int[] {1, 3}, 400)) {
            expected.add(source == 0 ? NumberSource.id(0, record++)
                    : NumberSource.id(STORE, order.epoch(sample / 30).at(sample++ % 30)));
        }
        assertEquals(expected, take(mixed, 400));
        assertThrows(IllegalArgumentException.class,
                () -> DatasetSource.of(store(30), Sampler.shuffled(31, 5)));
        assertThrows(IOException.class, () -> DatasetSource.of(store(30), order).open(0, "-1"));
        assertThrows(IOException.class, () -> DatasetSource.of(store(30), order).open(0, "x"));
    }

    @Test
    void stoppedAndResumedAnywhereTheRecordsAreTheSame() {
        stopAndResume(20);
    }

    @Test
    @Tag("slow")
    void stoppedAndResumedTwoHundredTimes() {
        stopAndResume(200);
    }

    private static MixtureSource mixture(int each) {
        return MixtureSource.of(new Part(NumberSource.of(5, each), 0.5), new Part(NumberSource.of(4, each), 0.2),
                new Part(DatasetSource.of(store(100), Sampler.shuffled(100, 1)).partitioned(4), 0.3)).partitioned(4);
    }

    private static void stopAndResume(int stops) {
        var random = new Random(18);
        int each = 4 * stops;
        List<Long> straight = new ArrayList<>();
        List<Long> pieces = new ArrayList<>();
        LoaderState state = null;
        int records = 6 * stops;
        int wanted = records / 24 * 24;
        for (boolean isStraight : new boolean[] {true, false}) {
            List<Long> to = isStraight ? straight : pieces;
            for (int run = 0; to.size() < wanted; run++) {
                assertTrue(run < 100 * stops, "the end is never reached");
                try (StreamDataset stream = dataset(mixture(each)).shuffle(7, 23).lanes(2).open()) {
                    int batchSize = isStraight ? 8 : 1 + random.nextInt(9);
                    DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(batchSize)
                            .workers(random.nextInt(3));
                    try (DataLoader loader = (state == null || isStraight ? builder
                            : builder.resume(LoaderState.fromJson(state.toJson()))).open()) {
                        int batches = isStraight ? wanted / 8 + 2 : random.nextInt(4);
                        for (int i = 0; i < batches; i++) {
                            add(loader.next(), to);
                        }
                        state = isStraight ? null : loader.state();
                    }
                }
            }
        }
        assertEquals(straight.subList(0, wanted), pieces.subList(0, wanted));
    }

    @Test
    void ranksWithLanesReadTheRecordsOfOneRank() {
        List<Long> one = new ArrayList<>();
        try (StreamDataset stream = dataset(mixture(100)).lanes(4).open();
                DataLoader loader = DataLoader.builder(stream).batchSize(8).open()) {
            for (int i = 0; i < 5; i++) {
                add(loader.next(), one);
            }
        }
        List<List<Long>> ranks = List.of(new ArrayList<>(), new ArrayList<>());
        for (int rank = 0; rank < 2; rank++) {
            try (StreamDataset stream = dataset(mixture(100)).lanes(4).open(); DataLoader loader =
                    DataLoader.builder(stream).batchSize(4).shard(new Shard(rank, 2, TailPolicy.EXACT)).open()) {
                for (int i = 0; i < 5; i++) {
                    add(loader.next(), ranks.get(rank));
                }
            }
        }
        List<Long> two = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            two.add(ranks.get(i % 2).get(i / 2));
        }
        assertEquals(one, two);
    }

    /** As a publisher may whose subscription is cancelled, or a consumer that is interrupted. */
    @Test
    void aSourceThatCannotBeClosedLeavesNoOtherOneOpen() throws IOException {
        Flow.Publisher<MemorySegment> broken = to -> to.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long more) {
            }

            @Override
            public void cancel() {
                throw new IllegalStateException("cannot be cancelled");
            }
        });
        var numbers = NumberSource.of(3, 10);
        PartitionReader reader = MixtureSource.of(new Part(StreamSource.publishedOnce("broken", 8, broken), 1),
                new Part(numbers, 1)).open(0, "");
        assertEquals(3, numbers.open.get());
        String message = assertThrows(Exception.class, reader::close).getMessage();
        assertTrue(message.contains("cannot be cancelled"), message);
        assertEquals(0, numbers.open.get());
    }

    @Test
    void cursorsOfOtherMixturesAreRefused() throws IOException {
        MixtureSource mixed = MixtureSource.of(new Part(NumberSource.of(2, 10), 1),
                new Part(NumberSource.of(1, 10), 1));
        try (PartitionReader reader = mixed.open(0, "")) {
            assertEquals("[0,[0,\"0\",\"0\"],[0,\"0\"]]", reader.cursor());
        }
        for (String cursor : List.of("x", "1", "[]x", "[0]", "[0,[0,\"0\",\"0\"]]", "[0,[0,\"0\"],[0,\"0\"]]",
                "[0,[2,\"0\",\"0\"],[0,\"0\"]]", "[-1,[0,\"0\",\"0\"],[0,\"0\"]]", "[0,[0,0,\"0\"],[0,\"0\"]]",
                "[\"0\",[0,\"0\",\"0\"],[0,\"0\"]]")) {
            String message = assertThrows(IOException.class, () -> mixed.open(0, cursor), cursor).getMessage();
            assertTrue(message.contains("found cursor '" + cursor + "'"), message);
        }
        assertThrows(IllegalArgumentException.class, () -> mixed.partitioned(2));
        assertThrows(IllegalArgumentException.class, () -> MixtureSource.of());
        assertThrows(IllegalArgumentException.class, () -> MixtureSource.of(new Part(NumberSource.of(1, 1), -1)));
    }
}
