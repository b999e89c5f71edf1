// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.error.PenstockException;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A dataset as a stream without an end, epoch after epoch in a sampler's order, to be mixed with other streams by a
 * {@link MixtureSource}. A record is the one field of a sample: of windows of tokens, a window.
 *
 * <p>Samples are read on the stream's thread. The cursor is the number of samples that were given.
 */
public final class DatasetSource implements StreamSource {

    private final Dataset dataset;
    private final Sampler order;
    private final int partitions;

    private DatasetSource(Dataset dataset, Sampler order, int partitions) {
        this.dataset = Objects.requireNonNull(dataset, "dataset");
        this.order = Objects.requireNonNull(order, "order");
        this.partitions = partitions;
        if (dataset.fields().size() != 1 || dataset.arrivals().isPresent() || order.datasetSize() != dataset.size()) {
            throw new IllegalArgumentException("found fields " + dataset.fields() + " of " + dataset.size()
                    + " samples, and an order of " + order.datasetSize() + " samples; expected one field of a store,"
                    + " and an order of its samples");
        }
    }

    /**
     * Reads a dataset as one partition.
     *
     * @param dataset has one field, and must stay open
     * @param order which sample comes when, of the dataset's samples
     * @return the source
     * @throws IllegalArgumentException if the dataset has several fields, or the order is of another one
     */
    public static DatasetSource of(Dataset dataset, Sampler order) {
        return new DatasetSource(dataset, order, 1);
    }

    /**
     * The same in several partitions. Partition {@code p} of {@code n} has the positions {@code p}, {@code p + n}, … of
     * the epochs, counted through.
     *
     * @param count at least 1
     * @return the source
     */
    public DatasetSource partitioned(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("found " + count + " partitions, expected 1 or more");
        }
        return new DatasetSource(dataset, order, count);
    }

    @Override
    public String fingerprint() {
        return "dataset:" + dataset.fingerprint() + ":" + order.fingerprint();
    }

    @Override
    public List<String> partitions() {
        return IntStream.range(0, partitions).mapToObj(part -> "dataset " + part + " of " + partitions).toList();
    }

    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        try {
            long given = cursor.isEmpty() ? 0 : Long.parseLong(cursor);
            if (given >= 0 && given <= (Long.MAX_VALUE - partition) / partitions) {
                return new Reader(partition, given);
            }
        } catch (NumberFormatException _) {
            // Said below.
        }
        throw new IOException(partitions().get(partition) + ": found cursor '" + cursor + "', expected a number of"
                + " samples");
    }

    /** Gives the samples of one partition. */
    private final class Reader implements PartitionReader {

        private final SampleReader reader = new SampleReader(dataset, ReadMode.AUTO);
        private final int partition;
        private long given;
        private @Nullable Order current;
        private long epoch = -1;

        Reader(int partition, long given) {
            this.partition = partition;
            this.given = given;
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            long position = given * partitions + partition;
            long wanted = position / order.size();
            Order of = current;
            if (of == null || epoch != wanted) {
                if (wanted >= order.epochs()) {
                    return Found.END;
                }
                of = order.epoch(wanted);
                current = of;
                epoch = wanted;
            }
            try {
                Span sample = reader.locate(of.at(position % order.size()), 0);
                into.add(sample.segment(), sample.byteOffset(), sample.byteSize());
            } catch (UncheckedIOException | PenstockException e) {
                throw new IOException(e.getMessage(), e);
            }
            given++;
            return Found.RECORD;
        }

        @Override
        public String cursor() {
            return Long.toString(given);
        }

        @Override
        public void close() {
            reader.close();
        }
    }
}
