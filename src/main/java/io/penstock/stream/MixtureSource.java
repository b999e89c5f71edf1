// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.json.Json;
import io.penstock.sampling.Edit;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Mixes streams in given proportions: each record comes from the source that is furthest below its share, as in {@link
 * Mixture}. At any place, the numbers of records differ from the weights by less than one record per source. A
 * {@link DatasetSource} mixes a store with streams.
 *
 * {@snippet id=Streams :
 * var live = new TokenWindowSource(documents, 1025);
 * var books = DatasetSource.of(TokenWindows.of(store, 1024), Sampler.shuffled(1_000_000, 7));
 * StreamSource mixed = MixtureSource.of(new MixtureSource.Part(live, 0.7), new MixtureSource.Part(books, 0.3));
 * StreamDataset windows = StreamDataset.builder(mixed).field("tokens", DType.U16, 1025).shuffle(42, 8192).open();
 * }
 *
 * <p>A source that has nothing yet is waited for. The mixture ends where the next record is of a source that has ended.
 * {@code docs/spec/streams.md} specifies the order and the cursor.
 */
public final class MixtureSource implements StreamSource {

    /**
     * A source and its share.
     *
     * @param source the source
     * @param weight its share relative to the other sources: finite, not negative; the decimal number that it prints as
     *     is taken exactly
     */
    public record Part(StreamSource source, double weight) {

        /** Checks that there is a source. */
        public Part {
            Objects.requireNonNull(source, "source");
        }
    }

    private final List<StreamSource> sources;
    private final int partitions;
    private final List<Double> weights;
    /** A mixture of datasets of one sample each: the samples are the numbers of the sources. */
    private final Mixture draws;
    /** Ascending, from where each partition draws by other weights. */
    private final List<Change> changes;

    /** Other weights from the records on that a place of the stream, of so many lanes, comes before. */
    private record Change(long place, int lanes, Mixture draws) {

        /** The first draw of a partition that has the weights. */
        long firstDraw(int partition, int partitions) {
            int lane = partition % lanes;
            int ofLane = (partitions - lane + lanes - 1) / lanes;
            return fewest(fewest(place - lane, lanes) - partition / lanes, ofLane);
        }

        private static long fewest(long records, int turns) {
            return Math.max(0, Math.ceilDiv(records, (long) turns));
        }
    }

    private MixtureSource(List<StreamSource> sources, int partitions, List<Double> weights, List<Change> changes) {
        this.sources = sources;
        this.partitions = partitions;
        this.weights = weights;
        this.draws = draws(weights, sources.size());
        this.changes = changes;
    }

    /**
     * Mixes streams into one partition. The partitions of each are read by turns.
     *
     * @param parts the sources, whose records have the same form
     * @return the mixture
     * @throws IllegalArgumentException if all weights are 0, or the sources differ in the parts of their records
     */
    public static MixtureSource of(Part... parts) {
        List<StreamSource> sources = Stream.of(parts).map(Part::source).toList();
        var mixed = new MixtureSource(sources, 1, Stream.of(parts).map(Part::weight).toList(), List.of());
        for (StreamSource source : sources) {
            if (!source.parts().equals(mixed.parts())) {
                throw new IllegalArgumentException("found records of the parts " + source.parts() + " in "
                        + source.fingerprint() + ", expected " + mixed.parts() + ", as in the first source");
            }
        }
        return mixed;
    }

    /**
     * The same in several partitions, which {@linkplain StreamDataset.Builder#lanes lanes} divide among ranks.
     * Partition {@code p} of {@code n} mixes the partitions {@code p}, {@code p + n}, … of each source.
     *
     * @param count at most the number of partitions of each source
     * @return the mixture
     */
    public MixtureSource partitioned(int count) {
        int most = sources.stream().mapToInt(source -> source.partitions().size()).min().orElse(1);
        if (count < 1 || count > most) {
            throw new IllegalArgumentException("found " + count + " partitions of a mixture, expected 1 to " + most
                    + ", as many as each source has");
        }
        return new MixtureSource(sources, count, weights, changes);
    }

    private static Mixture draws(List<Double> weights, int sources) {
        return Mixture.of(StreamOrder.ENDLESS, IntStream.range(0, sources)
                .mapToObj(source -> new Mixture.Source(Sampler.sequential(1),
                        source < weights.size() ? weights.get(source) : 0)).toArray(Mixture.Source[]::new));
    }

    /** The weights of the sources, without changes. */
    List<Double> weights() {
        return weights;
    }

    /** The same sources with the weights that edits give them, in place of changes that there may be. */
    MixtureSource reweighed(List<Edit> edits, StreamOrder order) {
        List<Change> changed = edits.stream().filter(Edit.Reweigh.class::isInstance).map(Edit.Reweigh.class::cast)
                .map(edit -> new Change(order.place(edit.epoch(), edit.position()), order.lanes(),
                        draws(edit.weights(), sources.size())))
                .sorted(Comparator.comparingLong(Change::place)).toList();
        return new MixtureSource(sources, partitions, weights, changed);
    }

    @Override
    public String fingerprint() {
        return draws.fingerprint() + sources.stream().map(StreamDataset::partitioned)
                .collect(Collectors.joining("; ", " of [", "]"));
    }

    @Override
    public List<String> parts() {
        return sources.getFirst().parts();
    }

    @Override
    public List<String> partitions() {
        return IntStream.range(0, partitions).mapToObj(part -> "mixture " + part + " of " + partitions).toList();
    }

    /**
     * {@inheritDoc}
     *
     * <p>The cursor is a list in JSON: the number of records that were given, and for each source a list of the
     * partition whose turn is next and the cursors of its partitions.
     */
    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        var reader = new Reader();
        try {
            reader.open(partition, cursor.isEmpty() ? List.of() : Json.array(Json.parse(cursor)));
            return reader;
        } catch (ClassCastException | IllegalArgumentException | ArithmeticException e) {
            reader.close();
            throw new IOException(partitions().get(partition) + ": found cursor '" + cursor + "', expected a number of"
                    + " records, and a turn and cursors for each of " + sources.size() + " sources", e);
        } catch (Throwable t) {
            reader.close();
            throw t;
        }
    }

    /** Mixes some partitions of each source. */
    private final class Reader implements PartitionReader {

        private Order order = draws.epoch(0);
        /** The draw that is the first of the order, and the changes behind it. */
        private long orderFrom;
        private final Deque<Change> changesLeft = new ArrayDeque<>(changes);
        private int partition;
        private final List<List<PartitionReader>> readers = new ArrayList<>();
        private final List<Turns> turns = new ArrayList<>();
        private final List<TurnLog> logs = new ArrayList<>();
        private long given;

        void open(int number, List<?> state) throws IOException {
            partition = number;
            if (!state.isEmpty() && state.size() != sources.size() + 1) {
                throw new IllegalArgumentException("found " + state.size() + " elements");
            }
            given = state.isEmpty() ? 0 : (Long) state.getFirst();
            for (StreamSource source : sources) {
                List<?> at = state.isEmpty() ? List.of() : Json.array(state.get(readers.size() + 1));
                int count = (source.partitions().size() - partition + partitions - 1) / partitions;
                List<PartitionReader> opened = new ArrayList<>();
                readers.add(opened);
                int turn = at.isEmpty() ? 0 : Math.toIntExact((Long) at.getFirst());
                if (turn < 0 || turn >= count || !at.isEmpty() && at.size() != count + 1 || given < 0) {
                    throw new IllegalArgumentException("found turn " + turn + " of " + count + " partitions");
                }
                for (int i = 0; i < count; i++) {
                    opened.add(source.open(partition + i * partitions, at.isEmpty() ? "" : (String) at.get(i + 1)));
                }
                logs.add(new TurnLog(count));
                turns.add(new Turns(opened, count, turn, logs.getLast()));
            }
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            for (Change next = changesLeft.peek(); next != null && next.firstDraw(partition, partitions) <= given;
                    next = changesLeft.peek()) {
                order = next.draws.epoch(0);
                orderFrom = next.firstDraw(partition, partitions);
                changesLeft.remove();
            }
            Found found = turns.get((int) order.at(given - orderFrom)).next(into);
            given += found == Found.RECORD ? 1 : 0;
            return found;
        }

        @Override
        public String cursor() throws IOException {
            List<Object> state = new ArrayList<>();
            state.add(given);
            for (int source = 0; source < sources.size(); source++) {
                List<Object> at = new ArrayList<>();
                at.add(turns.get(source).turn());
                for (PartitionReader reader : readers.get(source)) {
                    at.add(reader.cursor());
                }
                state.add(at);
            }
            return Json.write(state);
        }

        @Override
        public void keep() throws IOException {
            for (List<PartitionReader> of : readers) {
                for (PartitionReader reader : of) {
                    reader.keep();
                }
            }
        }

        @Override
        public boolean hasMetEnd() {
            return logs.stream().anyMatch(TurnLog::hasMetEnd)
                    || readers.stream().flatMap(List::stream).anyMatch(PartitionReader::hasMetEnd);
        }

        /** What the sources have together; unknown if one does not know. */
        @Override
        public Lag lag() {
            long behind = 0;
            long newest = -1;
            long skipped = 0;
            for (List<PartitionReader> of : readers) {
                for (PartitionReader reader : of) {
                    Lag lag = reader.lag();
                    behind = behind < 0 || lag.behind() < 0 ? -1 : behind + lag.behind();
                    newest = Math.max(newest, lag.newestMillis());
                    skipped += lag.skipped();
                }
            }
            return new Lag(behind, newest, skipped);
        }

        @Override
        public void close() throws IOException {
            IOException failure = null;
            for (List<PartitionReader> of : readers) {
                for (PartitionReader reader : of) {
                    try {
                        reader.close();
                    } catch (IOException | RuntimeException e) {
                        IOException cause = e instanceof IOException known ? known
                                : new IOException("a source of a mixture cannot be closed: " + e.getMessage(), e);
                        if (failure == null) {
                            failure = cause;
                        } else {
                            failure.addSuppressed(cause);
                        }
                    }
                }
            }
            if (failure != null) {
                throw failure;
            }
        }
    }
}
