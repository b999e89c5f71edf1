// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.collate.StackAndPad;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A trainer to be killed: all ranks of a run over files of lines, each of which is a number. It writes each number at
 * its position in a file, saves a state after each step, and says so.
 */
final class KilledTrainer {

    private static final int BATCH = 4;
    private static final int LINE = 10;

    private KilledTrainer() {
    }

    /** Takes a folder with lines, files to write and for the state, ranks, workers, the epoch's records, and lanes. */
    public static void main(String[] args) throws Exception {
        Path[] files;
        try (Stream<Path> listed = Files.list(Path.of(args[0]))) {
            files = listed.sorted().toArray(Path[]::new);
        }
        Path saved = Path.of(args[2]);
        int ranks = Integer.parseInt(args[3]);
        int workers = Integer.parseInt(args[4]);
        int lanes = Integer.parseInt(args[6]);
        LoaderState from = Files.exists(saved) ? LoaderState.read(saved) : null;
        List<StreamDataset> streams = new ArrayList<>();
        List<DataLoader> loaders = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            StreamDataset stream = StreamDataset.builder(LineSource.of(files)).field("line").shuffle(5, 50).lanes(lanes)
                    .epochRecords(Long.parseLong(args[5])).open();
            streams.add(stream);
            DataLoaderBuilder builder = DataLoader.builder(stream).collator(StackAndPad.cutTo(LINE)).batchSize(BATCH)
                    .workers(workers).endEpoch(1).shard(new Shard(rank, ranks, TailPolicy.EXACT));
            loaders.add((from == null ? builder : builder.resume(from)).open());
        }
        try (RandomAccessFile out = new RandomAccessFile(args[1], "rw")) {
            long position = from == null ? 0 : from.epoch() > 0 ? Long.parseLong(args[5]) : from.position();
            while (loaders.getFirst().hasNext()) {
                int rows = 0;
                for (int rank = 0; rank < ranks; rank++) {
                    try (Batch batch = loaders.get(rank).next()) {
                        Tensor lines = batch.tensor("line");
                        rows = batch.count();
                        for (int row = 0; row < rows; row++) {
                            write(out, position + rank + (long) row * ranks, lines, row);
                        }
                    }
                }
                position += (long) rows * ranks;
                LoaderState.join(loaders.stream().map(DataLoader::state).toList()).write(saved);
                System.out.println(position);
            }
        }
        loaders.forEach(DataLoader::close);
        streams.forEach(StreamDataset::close);
    }

    /** Fails if another record was at that position before. */
    private static void write(RandomAccessFile out, long position, Tensor lines, int row) throws Exception {
        byte[] line = new byte[LINE];
        for (int i = 0; i < LINE; i++) {
            line[i] = (byte) lines.getLong((long) row * LINE + i);
        }
        byte[] before = new byte[LINE];
        out.seek(position * LINE);
        if (out.length() >= (position + 1) * LINE) {
            out.readFully(before);
            if (before[0] != 0 && !Arrays.equals(before, line)) {
                throw new IllegalStateException("position " + position + ": found " + new String(line) + ", expected "
                        + new String(before));
            }
        }
        out.seek(position * LINE);
        out.write(line);
    }
}
