// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.manifest.Manifest;
import io.penstock.format.manifest.ManifestPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The folder where all attempts write parts, beside the manifest that will name some. An attempt's name tells the
 * number of the part, the run of the job and the attempt: {@code part-00007.5f0c93ab-12}. The driver and the executors
 * use it.
 */
abstract sealed class PartsFolder implements Serializable permits LocalParts, HadoopParts {

    private static final long serialVersionUID = 1;
    private static final String SUFFIX = ".parts";

    /** The folder's name. */
    private final String name;

    PartsFolder(String store) {
        this.name = store.substring(store.lastIndexOf('/') + 1) + SUFFIX;
    }

    /**
     * The folder of a store.
     *
     * @param store the store without suffix: a path, or a URI that Hadoop knows
     * @param hadoop how Hadoop reaches its file systems
     */
    static PartsFolder of(String store, Configuration hadoop) {
        org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(store);
        String scheme = path.toUri().getScheme();
        return scheme == null || scheme.equals("file") ? new LocalParts(Path.of(path.toUri().getPath()))
                : new HadoopParts(store, hadoop);
    }

    /** A name for a run of a job. */
    static String newRun() {
        return UUID.randomUUID().toString().substring(0, 8);
    }

    /** The partitions of rows, as Spark holds them: no object is made for a row. */
    static JavaRDD<InternalRow> partitions(Dataset<Row> rows) {
        if (!(rows instanceof org.apache.spark.sql.classic.Dataset<Row> inProcess)) {
            throw new IllegalArgumentException("rows of " + rows.getClass().getName()
                    + ", expected those of a session in this process, not of Spark Connect");
        }
        JavaRDD<InternalRow> partitions = inProcess.queryExecution().toRdd().toJavaRDD();
        if (partitions.getNumPartitions() == 0) {
            throw new IllegalArgumentException("rows: found no partition, expected at least one");
        }
        return partitions;
    }

    /** The name of the attempt that runs, of a part. */
    static String attempt(int part, String run) {
        long attempt = TaskContext.get().taskAttemptId();
        return String.format(Locale.ROOT, "part-%05d.%s-%d", part, run, attempt);
    }

    /** The folder's name, which the manifest has in the paths of the parts. */
    String name() {
        return name;
    }

    /** Where the manifest is. */
    abstract String manifest();

    abstract boolean hasManifest() throws IOException;

    /** Makes the folder, if it is not there. */
    abstract void create() throws IOException;

    /** A step that writes files of an attempt. */
    @FunctionalInterface
    interface Attempt<T> {
        /** Writes files that start with the path. */
        T write(Path path) throws IOException;
    }

    /** Lets an attempt write its files; when it returns they are in the folder, whole. */
    abstract <T> T write(String attempt, Attempt<T> writes) throws IOException;

    /** The entries of the folder and their sizes; that of a folder is negative. */
    abstract SortedMap<String, Long> entries() throws IOException;

    abstract String read(String entry) throws IOException;

    /** Deletes entries, folders with all that is in them; they may vanish meanwhile. */
    abstract void delete(Collection<String> entries) throws IOException;

    /** Writes the manifest, which appears whole or not at all, after a look at the sizes of the parts. */
    abstract void commit(Manifest manifest, IfExists ifExists) throws IOException;

    /**
     * Finds parts that earlier runs of a job finished; of several attempts at one, the first by name.
     *
     * @param job the digest that they have
     */
    Map<Integer, ManifestPart> finished(String job) throws IOException {
        SortedMap<String, Long> entries = entries();
        Map<Integer, ManifestPart> finished = new TreeMap<>();
        for (String entry : entries.keySet()) {
            if (entry.endsWith(MegatronWriter.DESCRIPTION)) {
                ManifestPart part = ManifestPart.parse(read(entry));
                // A writer that is killed while it publishes leaves some of the files.
                if (part.number().isPresent() && part.number().get().job().equals(job)
                        && entries.getOrDefault(part.path() + ".bin", -1L) == part.tokenBytes()
                        && entries.getOrDefault(part.path() + ".idx", -1L) == part.indexBytes()) {
                    finished.putIfAbsent(part.number().get().index(), part);
                }
            }
        }
        return finished;
    }

    /** Deletes everything but attempts of these names. */
    void deleteAllBut(Set<String> attempts) throws IOException {
        // The name of an attempt has one dot, and the endings of its files follow another.
        delete(entries(entry -> !attempts.contains(entry.substring(0, end(entry)))));
    }

    /** Deletes what the attempts of a run have left. */
    void deleteRun(String run) throws IOException {
        delete(entries(entry -> entry.contains("." + run + "-")));
    }

    private List<String> entries(Predicate<String> isWanted) throws IOException {
        return entries().keySet().stream().filter(isWanted).toList();
    }

    private static int end(String entry) {
        int second = entry.indexOf('.', entry.indexOf('.') + 1);
        return second < 0 ? entry.length() : second;
    }
}
