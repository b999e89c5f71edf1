// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.manifest.ManifestPart;
import io.penstock.format.megatron.MegatronWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The folder where all attempts write parts. An attempt's name tells the number of the part, the run of the job and the
 * attempt: {@code part-00007.5f0c93ab-12}.
 */
record PartsFolder(Path path) {

    /** The folder of a store, given without suffix; made if it is not there. */
    static PartsFolder of(Path store) throws IOException {
        return new PartsFolder(Files.createDirectories(store.resolveSibling(store.getFileName() + ".parts")));
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

    /** The path of a part that the running task writes. */
    Path attempt(int part, String run) {
        long attempt = TaskContext.get().taskAttemptId();
        return path.resolve(String.format(Locale.ROOT, "part-%05d.%s-%d", part, run, attempt));
    }

    /**
     * Finds parts that earlier runs of a job finished; of several attempts at one, the first by name.
     *
     * @param job the digest that they have
     */
    Map<Integer, ManifestPart> finished(String job) throws IOException {
        Map<Integer, ManifestPart> finished = new TreeMap<>();
        for (Path file : list(name -> name.endsWith(MegatronWriter.DESCRIPTION) && !name.startsWith("."))) {
            ManifestPart part = ManifestPart.read(file);
            if (part.number().isPresent() && part.number().get().job().equals(job) && isWhole(part)) {
                finished.putIfAbsent(part.number().get().index(), part);
            }
        }
        return finished;
    }

    /** Whether the part's files are there; a writer that is killed while it publishes leaves some behind. */
    private boolean isWhole(ManifestPart part) throws IOException {
        Path tokens = path.resolve(part.path() + ".bin");
        Path index = path.resolve(part.path() + ".idx");
        return Files.isRegularFile(tokens) && Files.size(tokens) == part.tokenBytes()
                && Files.isRegularFile(index) && Files.size(index) == part.indexBytes();
    }

    /** Deletes everything but parts of these names. */
    void deleteAllBut(Set<String> names) throws IOException {
        // The name of an attempt has one dot, and the endings of its files follow another.
        delete(list(name -> !names.contains(name.substring(0, end(name)))));
    }

    /** Deletes what the attempts of a run have left. */
    void deleteRun(String run) throws IOException {
        delete(list(name -> name.contains("." + run + "-")));
    }

    private static int end(String name) {
        int second = name.indexOf('.', name.indexOf('.') + 1);
        return second < 0 ? name.length() : second;
    }

    private List<Path> list(Predicate<String> isWanted) throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.filter(file -> isWanted.test(file.getFileName().toString())).sorted().toList();
        }
    }

    /** Deletes files and folders; an attempt that still runs may do so too. */
    private static void delete(List<Path> entries) throws IOException {
        for (Path entry : entries) {
            List<Path> inside = new ArrayList<>();
            try (Stream<Path> walk = Files.walk(entry)) {
                walk.sorted(Comparator.reverseOrder()).forEach(inside::add);
            } catch (NoSuchFileException | UncheckedIOException _) {
                continue;
            }
            for (Path file : inside) {
                Files.deleteIfExists(file);
            }
        }
    }
}
