// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.megatron.MegatronWriter;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.spark.util.SerializableConfiguration;

/**
 * A folder of a file system of Hadoop, such as HDFS or an object store. Attempts write to the local disk, and what is
 * complete is copied; its description is copied last. Nothing but the record is renamed.
 */
final class HadoopParts extends PartsFolder {

    private static final long serialVersionUID = 1;

    private final SerializableConfiguration configuration;

    HadoopParts(String folder, String record, Configuration configuration) {
        super(folder, record);
        this.configuration = new SerializableConfiguration(configuration);
    }

    private static org.apache.hadoop.fs.Path path(String path) {
        return new org.apache.hadoop.fs.Path(path);
    }

    private FileSystem files() throws IOException {
        return path(folder()).getFileSystem(configuration.value());
    }

    private org.apache.hadoop.fs.Path entry(String entry) {
        return new org.apache.hadoop.fs.Path(path(folder()), entry);
    }

    @Override
    boolean hasRecord() throws IOException {
        return files().exists(path(record()));
    }

    @Override
    void create() throws IOException {
        files().mkdirs(path(folder()));
    }

    @Override
    <T> T write(String attempt, Attempt<T> writes) throws IOException {
        Path local = Files.createTempDirectory("penstock-part");
        try {
            T result = writes.write(local.resolve(attempt));
            List<Path> written;
            try (Stream<Path> list = Files.list(local)) {
                written = list.sorted(Comparator.comparing((Path file) ->
                        file.toString().endsWith(MegatronWriter.DESCRIPTION)).thenComparing(file -> file)).toList();
            }
            for (Path file : written) {
                files().copyFromLocalFile(false, true, new org.apache.hadoop.fs.Path(file.toUri()),
                        entry(file.getFileName().toString()));
            }
            return result;
        } finally {
            LocalParts.deleteTree(local);
        }
    }

    @Override
    SortedMap<String, Long> entries() throws IOException {
        SortedMap<String, Long> entries = new TreeMap<>();
        for (FileStatus file : files().listStatus(path(folder()))) {
            entries.put(file.getPath().getName(), file.isFile() ? file.getLen() : -1);
        }
        return entries;
    }

    @Override
    String read(String entry) throws IOException {
        try (InputStream in = files().open(entry(entry))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Override
    void delete(Collection<String> entries) throws IOException {
        for (String entry : entries) {
            files().delete(entry(entry), true);
        }
    }

    @Override
    void writeRecord(String content, IfExists ifExists) throws IOException {
        org.apache.hadoop.fs.Path record = path(record());
        org.apache.hadoop.fs.Path written = entry(record.getName() + ".writing");
        try (OutputStream out = files().create(written, true)) {
            out.write(content.getBytes(StandardCharsets.UTF_8));
        }
        FileContext.getFileContext(record.makeQualified(files().getUri(), files().getWorkingDirectory()).toUri(),
                configuration.value()).rename(written, record,
                        ifExists == IfExists.REPLACE ? Rename.OVERWRITE : Rename.NONE);
    }
}
