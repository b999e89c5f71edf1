// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.remote.RemoteFiles;
import io.penstock.remote.RemoteSettings;
import io.penstock.remote.SentFile;
import io.penstock.remote.Upload;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.util.CollectionAccumulator;

/** Where the tasks of a job write the shards of a WebDataset, which gets them all at once. */
sealed interface ShardPlace extends Serializable {

    /**
     * What a task tells the driver of the shard that it wrote.
     *
     * @param part the number of the partition, and of the shard
     * @param name what the driver finds the shard by, or knows it by
     * @param sent the files that were sent to a bucket
     */
    record Shard(int part, String name, List<SentFile> sent) implements Serializable {
    }

    /** Lets an attempt write its shard, a committed tar with the files beside it. */
    Shard write(int part, String attempt, Step tar) throws IOException;

    /**
     * Lets the tasks of a job write, and makes the dataset.
     *
     * @param job runs the tasks, whose attempts have the name of the run in theirs; returns the shards by their numbers
     * @return the shards' paths or URIs, in order
     */
    List<String> publish(IfExists ifExists, Function<String, List<Shard>> job) throws IOException;

    /** A step that writes a shard. */
    @FunctionalInterface
    interface Step {
        void write(Path tar) throws IOException;
    }

    /** Chooses the place of a pattern: a path, or a URI of a bucket. */
    static ShardPlace of(String pattern, SparkContext context) {
        String scheme = new org.apache.hadoop.fs.Path(pattern).toUri().getScheme();
        return switch (scheme) {
            case null -> folder(Path.of(pattern));
            case "file" -> folder(Path.of(new org.apache.hadoop.fs.Path(pattern).toUri().getPath()));
            case "s3" -> Bucket.of(pattern, context);
            default -> throw new IllegalArgumentException("shards: found " + pattern + ", expected a path that the"
                    + " driver and all executors have, or s3://BUCKET/KEY");
        };
    }

    private static ShardPlace folder(Path pattern) {
        Path whole = pattern.toAbsolutePath();
        return new Folder(whole.toString(),
                new LocalParts(whole + ".parts", WebDatasetWriter.recordFor(whole).toString()));
    }

    /**
     * A folder that the driver and all executors have: the driver gives the shards that count their names.
     *
     * @param pattern the path of a shard, with a place for its number
     * @param attempts the folder in which tasks write
     */
    record Folder(String pattern, LocalParts attempts) implements ShardPlace {

        @Override
        public Shard write(int part, String attempt, Step tar) throws IOException {
            String name = attempt + ".tar";
            tar.write(attempts.path().resolve(name));
            return new Shard(part, name, List.of());
        }

        @Override
        public List<String> publish(IfExists ifExists, Function<String, List<Shard>> job) throws IOException {
            List<String> shards = attempts.write(ifExists, false, run -> {
                try (WebDatasetWriter all = WebDatasetWriter.create(Path.of(pattern), Long.MAX_VALUE,
                        Long.MAX_VALUE)) {
                    for (Shard shard : job.apply(run)) {
                        all.adopt(attempts.path().resolve(shard.name()));
                    }
                    return all.commit().stream().map(Path::toString).toList();
                }
            });
            LocalParts.deleteTree(attempts.path());
            return shards;
        }
    }

    /**
     * A bucket. A task writes its shard on the local disk and sends it under its last name, but leaves it to the driver
     * to make the object: so an attempt that does not count is never seen.
     *
     * @param pattern the URI of a shard, with a place for its number
     * @param sent what the tasks that succeeded have sent, so that it can be removed if the job fails
     */
    record Bucket(String pattern, CollectionAccumulator<SentFile> sent) implements ShardPlace {

        static Bucket of(String pattern, SparkContext context) {
            Bucket made = new Bucket(pattern, context.collectionAccumulator());
            if (WebDatasetWriter.shardName(made.name(), 0).indexOf('%') >= 0) {
                throw new IllegalArgumentException("shards: found the name " + made.name()
                        + ", expected no percent sign but for the number");
            }
            return made;
        }

        private String folder() {
            return pattern.substring(0, pattern.lastIndexOf('/') + 1);
        }

        private String name() {
            return pattern.substring(pattern.lastIndexOf('/') + 1);
        }

        @Override
        public Shard write(int part, String attempt, Step tar) throws IOException {
            RemoteFiles remote = RemoteFiles.of(RemoteSettings.fromEnvironment());
            Path local = Files.createTempDirectory("penstock-shard");
            List<SentFile> files = new ArrayList<>();
            boolean isWhole = false;
            try {
                Path shard = local.resolve(WebDatasetWriter.shardName(name(), part));
                tar.write(shard);
                for (Path file : list(local)) {
                    files.add(remote.send(file, folder() + file.getFileName()));
                }
                TaskContext.get().killTaskIfInterrupted();      // nobody takes its result
                Shard written = new Shard(part, WebDatasetWriter.describe(shard), List.copyOf(files));
                isWhole = true;
                files.forEach(sent::add);
                return written;
            } finally {
                LocalParts.deleteTree(local);
                if (!isWhole) {
                    abort(remote, files);
                }
            }
        }

        private static List<Path> list(Path folder) throws IOException {
            try (Stream<Path> files = Files.list(folder)) {
                return files.sorted().toList();
            }
        }

        private static void abort(RemoteFiles remote, List<SentFile> files) throws IOException {
            for (SentFile file : files) {
                remote.abort(file);
            }
        }

        @Override
        public List<String> publish(IfExists ifExists, Function<String, List<Shard>> job) throws IOException {
            RemoteFiles remote = RemoteFiles.of(RemoteSettings.fromEnvironment());
            try (Upload upload = remote.upload(pattern, ifExists)) {
                List<Shard> shards;
                try {
                    shards = job.apply(PartsFolder.newRun());
                } catch (Throwable t) {             // Spark's are checked, and not declared
                    abort(remote, List.copyOf(sent.value()));
                    throw t;
                }
                Path record = WebDatasetWriter.recordFor(upload.path());
                Files.write(record, WebDatasetWriter.record(name(), shards.stream().map(Shard::name).toList()));
                shards.stream().flatMap(shard -> shard.sent().stream()).forEach(upload::adopt);
                upload.publish();
                return shards.stream().map(shard -> folder() + WebDatasetWriter.shardName(name(), shard.part()))
                        .toList();
            }
        }
    }
}
