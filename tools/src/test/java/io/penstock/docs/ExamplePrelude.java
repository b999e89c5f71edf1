// SPDX-License-Identifier: Apache-2.0
package io.penstock.docs;

import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.augment.Augment;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.source.SampleMap;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.data.DataStatistics;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.image.StepParameters;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.state.LoaderState;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import io.penstock.stream.StreamSource;
import io.penstock.transform.ImageTransform;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Flow;
import java.util.function.LongUnaryOperator;
import java.util.random.RandomGenerator;

/**
 * Names that the examples of the documents and of the Javadoc use without declaring them, see {@link ExamplesTest}.
 * Nothing here is ever run. An example whose names mean something else says which class has them: in a document by the
 * line {@code <!-- prelude: Djl -->} above it, in Javadoc by {@code @snippet id=Djl :}.
 */
class ExamplePrelude {

    Path path;
    Path file;
    Path folder;
    Path run;
    Path prefix;
    TokenStore store;
    WebDatasetStore shards;
    TensorStore imageStore;
    TensorStore labelStore;
    Tensor tensor;
    Span span;
    Dataset dataset;
    Dataset images;
    Dataset files;
    Dataset web;
    Dataset books;
    Dataset code;
    Documents documents;
    TensorSpec spec;
    LongUnaryOperator work;
    Augment augment;
    float[] mean;
    float[] deviation;
    SampleMap addNoise;
    SampleMap noise;
    int[] classes;
    double[] weights;
    long[] chosen;
    long seed;
    int epoch;
    long step;
    int rank;
    int worldSize;

    DataLoader loader;
    DataLoader other;
    DataLoaderBuilder settings;
    Batch batch;
    Diagnosis diagnosis;
    DataStatistics statistics;
    MeterRegistry registry;
    Trainer trainer;
    Model model;

    Device device;
    DeviceStream stream;
    DeviceStream mine;
    long cudaStream;
    long trainerStream;
    long address;
    long bytes;
    DeviceBuffer pixels;
    DeviceBuffer inputIds;
    DeviceBuffer labels;
    DeviceBuffer positionIds;
    ImageTransform transform;

    Arena arena;
    MemorySegment memory;
    MemorySegment stored;
    long storedBytes;
    MemorySegment image;
    MemorySegment target;
    int top;
    int left;
    int height;
    int width;
    MemorySegment label;
    int[] tokens;

    void train(Object input) {
    }

    void step(Object... inputs) {
    }

    void forward(Batch input) {
    }

    void backward(Batch input) {
    }

    long capture(DeviceStream stream, Runnable launches) {
        return 0;
    }

    void launchGraph(long graph, DeviceStream stream) {
    }

    void launch(long tokens, long count, long onStream) {
    }

    void fill(MemorySegment host) {
    }

    void consume(long pointer) {
    }

    void page(Object message) {
    }

    void mixUp(BatchPlan plan, Object into) {
    }

    void addNoise(Tensor in, float number, Tensor out) {
    }

    void fillWave(float phase, Tensor out) {
    }

    List<StepParameters> changed(List<StepParameters> parameters, RandomGenerator random) {
        return parameters;
    }

    boolean isDark(Tensor picture) {
        return picture != null;
    }

    boolean isEnglish(Tensor text) {
        return text != null;
    }

    /** Somebody's trainer. */
    interface Trainer {

        void saveWeights(Path to);

        void loadWeights(Path from);
    }

    /** Somebody's model, behind a binding of theirs. */
    interface Model {

        void run(long pointer);
    }

    /** For examples that train with DJL. */
    static class Djl extends ExamplePrelude {

        Iterable<Batch> batches;
        DjlTrainer trainer;

        /** As {@code ai.djl.training.dataset.Batch}. */
        interface Batch {

            int getSize();
        }

        /** As {@code ai.djl.training.Trainer}. */
        interface DjlTrainer {

            Iterable<Batch> iterateDataset(Dataset dataset);

            void step();
        }

        /** As {@code ai.djl.training.EasyTrain}. */
        static final class EasyTrain {

            static void trainBatch(DjlTrainer trainer, Batch batch) {
            }
        }
    }

    /** For examples of tables of lakes, which are in jars of their own. */
    static class Lakes extends ExamplePrelude {

        Path stateFile;

        void train(LakeStore rows, LoaderState saved) {
        }

        /** As {@code io.penstock.lake.LakeStore}. */
        interface LakeStore extends AutoCloseable {

            long[] rowsWhere(String where);

            @Override
            void close();
        }

        /** As {@code io.penstock.lake.LakeTable}. */
        interface LakeTable {

            LakeStore open(String version) throws IOException;

            Optional<String> versionOf(LoaderState state);
        }

        /** As {@code io.penstock.delta.DeltaTable}. */
        static final class DeltaTable {

            static LakeTable of(Location folder) throws IOException {
                throw new IOException();
            }
        }

        /** As {@code io.penstock.iceberg.IcebergTable}. */
        static final class IcebergTable {

            static LakeTable rest(Map<String, String> properties, String name) throws IOException {
                throw new IOException();
            }
        }
    }

    /** For examples of streams, whose sources are in jars of their own. */
    static class Streams extends ExamplePrelude {

        StreamSource topic;
        StreamSource texts;
        StreamSource.OfTokens documents;
        Feed feed;
        Object database;
        Path stateFile;

        /** A program's own feed. */
        interface Feed {

            Flow.Publisher<MemorySegment> from(long first);
        }

        /** As {@code io.penstock.kafka.KafkaSource}. */
        interface KafkaSource {

            static KafkaSource builder(String servers, String topic) {
                throw new UnsupportedOperationException();
            }

            StreamSource open() throws IOException;
        }

        /** As {@code io.penstock.jdbc.JdbcSource}. */
        interface JdbcSource {

            static JdbcSource builder(Object database, String table, String... key) {
                throw new UnsupportedOperationException();
            }

            JdbcSource columns(String... names);

            StreamSource open() throws IOException;
        }
    }

    /** For examples of a cluster, whose classes are in a jar of their own. */
    static class Spark extends ExamplePrelude {

        Object documents;
        Object images;

        /** As {@code io.penstock.spark.RowOrder}. */
        interface RowOrder {

            static RowOrder shuffled(long seed, int parts) {
                throw new UnsupportedOperationException();
            }
        }

        /** As {@code io.penstock.spark.TokenizerSource}. */
        interface TokenizerSource {

            static TokenizerSource published(String encoding) {
                throw new UnsupportedOperationException();
            }
        }

        /** As {@code io.penstock.spark.SparkTokenizeJob}. */
        static class SparkTokenizeJob {

            SparkTokenizeJob(Object rows, String column, TokenizerSource tokenizer, String output) {
            }

            SparkTokenizeJob appendEndOfText() {
                return this;
            }

            SparkTokenizeJob dropDuplicates(String... columns) {
                return this;
            }

            SparkTokenizeJob order(RowOrder order) {
                return this;
            }

            void run() throws IOException {
            }
        }

        /** As {@code io.penstock.spark.SparkMdsJob}. */
        static class SparkMdsJob {

            SparkMdsJob(Object rows, String key, String output) {
            }

            SparkMdsJob encoding(String column, String encoding) {
                return this;
            }

            SparkMdsJob order(RowOrder order) {
                return this;
            }

            void run() throws IOException {
            }
        }

        /** As {@code io.penstock.spark.SparkShardJob}. */
        static class SparkShardJob {

            SparkShardJob(Object rows, String key, String pattern) {
            }

            SparkShardJob member(String suffix, String column) {
                return this;
            }

            SparkShardJob order(RowOrder order) {
                return this;
            }

            void run() throws IOException {
            }
        }
    }

    /** For examples of several token stores. */
    static class Stores extends ExamplePrelude {

        TokenStore web;
        TokenStore books;
    }
}
