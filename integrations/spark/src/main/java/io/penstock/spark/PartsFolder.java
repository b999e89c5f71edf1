// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.manifest.ManifestPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.io.Serializable;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
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
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The folder where all attempts write parts, beside the record that will name some: a manifest or an index. An
 * attempt's name tells the number of the part, the run of the job and the attempt: {@code part-00007.5f0c93ab-12}. The
 * driver and the executors use it.
 */
abstract sealed class PartsFolder implements Serializable permits LocalParts, HadoopParts, BucketParts {

    private static final long serialVersionUID = 1;

    private final String folder;
    private final String record;

    PartsFolder(String folder, String record) {
        this.folder = folder;
        this.record = record;
    }

    /**
     * A folder.
     *
     * @param folder a path, or a URI of a bucket or of Hadoop's
     * @param record the file beside it that names the parts which count
     * @param hadoop how Hadoop reaches its file systems
     */
    static PartsFolder of(String folder, String record, Configuration hadoop) {
        URI uri = new org.apache.hadoop.fs.Path(folder).toUri();
        return switch (uri.getScheme()) {
            case null -> new LocalParts(folder, record);
            case "file" -> new LocalParts(uri.getPath(), new org.apache.hadoop.fs.Path(record).toUri().getPath());
            case "s3" -> new BucketParts(folder, record);
            default -> new HadoopParts(folder, record, hadoop);
        };
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

    /** The folder, as users write it. */
    String folder() {
        return folder;
    }

    /** The folder's name, which the record has in the paths of the parts. */
    String name() {
        return folder.substring(folder.lastIndexOf('/') + 1);
    }

    /** The record, as users write it. */
    String record() {
        return record;
    }

    abstract boolean hasRecord() throws IOException;

    /** Fails if there is a record that is to stay. */
    void requireAbsent(IfExists ifExists) throws IOException {
        if (ifExists == IfExists.FAIL && hasRecord()) {
            throw new FileAlreadyExistsException(record, null, "exists already, and is not to be replaced");
        }
    }

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

    /** Writes the record, which appears whole or not at all. */
    abstract void writeRecord(String content, IfExists ifExists) throws IOException;

    /** A step in which the tasks of a run write. */
    @FunctionalInterface
    interface Writing<T> {
        /** Lets the tasks write, under names with that of the run; returns what they wrote. */
        T write(String run) throws IOException;
    }

    /**
     * Lets tasks write.
     *
     * @param keepsAttempts whether a later run may take over what this one finished, if it fails
     * @return what they wrote
     */
    <T> T write(IfExists ifExists, boolean keepsAttempts, Writing<T> writing) throws IOException {
        requireAbsent(ifExists);
        create();
        String run = newRun();
        try {
            return writing.write(run);
        } catch (Throwable t) {                     // Spark's are checked, and not declared
            if (!keepsAttempts) {
                deleteRun(run, t);
            }
            throw t;
        }
    }

    /**
     * Writes the record, after a look at the sizes of the files that it names. Then deletes all other attempts.
     *
     * @param files their sizes by name
     */
    void commit(Map<String, Long> files, String content, IfExists ifExists) throws IOException {
        SortedMap<String, Long> entries = entries();
        for (Map.Entry<String, Long> file : files.entrySet()) {
            Long found = entries.get(file.getKey());
            if (!file.getValue().equals(found)) {
                throw new NoSuchFileException(folder + "/" + file.getKey(), null, "found " + (found == null
                        ? "no such file" : found + " bytes") + ", expected " + file.getValue() + " bytes");
            }
        }
        requireAbsent(ifExists);
        writeRecord(content, ifExists);
        Set<String> attempts = files.keySet().stream().map(PartsFolder::attemptOf).collect(Collectors.toSet());
        delete(entries(entry -> !attempts.contains(attemptOf(entry))));
    }

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

    /** Deletes the files that the attempts of a failed run have left. */
    private void deleteRun(String run, Throwable failure) {
        try {
            delete(entries(entry -> entry.contains("." + run + "-")));
        } catch (IOException | RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    private List<String> entries(Predicate<String> isWanted) throws IOException {
        return entries().keySet().stream().filter(isWanted).toList();
    }

    /** The attempt that a file is of: its name has one dot, and the endings of its files follow another. */
    private static String attemptOf(String entry) {
        int second = entry.indexOf('.', entry.indexOf('.') + 1);
        return second < 0 ? entry : entry.substring(0, second);
    }
}
