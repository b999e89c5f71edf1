// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.format.npy.NpyWriter;
import io.penstock.format.safetensors.SafetensorsWriter;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.io.Location;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.IfExists;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.integrity.Verification;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;

/** A store of each format that is written, in versions that differ in everything: sizes, types, numbers of files. */
enum WrittenStore {
    NPY("x.npy", "x.npy") {
        @Override
        void write(Path folder, int version) throws IOException {
            NpyWriter.write(folder.resolve("x.npy"), numbers(version), IfExists.REPLACE);
        }
    },
    SAFETENSORS("x.safetensors", "x.safetensors") {
        @Override
        void write(Path folder, int version) throws IOException {
            SafetensorsWriter.write(folder.resolve("x.safetensors"), Map.of("t" + version, numbers(version)),
                    Map.of("version", Integer.toString(version)), IfExists.REPLACE);
        }
    },
    SAFETENSORS_BY_FOLDER("x.safetensors", "") {
        @Override
        void write(Path folder, int version) throws IOException {
            SAFETENSORS.write(folder, version);
        }
    },
    MEGATRON("corpus", "corpus") {
        @Override
        void write(Path folder, int version) throws IOException {
            try (MegatronWriter writer = MegatronWriter.create(folder.resolve("corpus"),
                    version % 2 == 0 ? DType.U16 : DType.I32, IfExists.REPLACE); MegatronPart part = writer.part()) {
                for (int document = 0; document <= version % 5; document++) {
                    int[] tokens = new int[100 + version % 7];
                    Arrays.fill(tokens, version % 60_000);
                    part.append(tokens, 0, tokens.length);
                    part.endDocument();
                }
                writer.commit();
            }
        }
    },
    MEGATRON_BY_INDEX("corpus", "corpus.idx") {
        @Override
        void write(Path folder, int version) throws IOException {
            MEGATRON.write(folder, version);
        }
    },
    MEGATRON_BY_TOKENS("corpus", "corpus.bin") {
        @Override
        void write(Path folder, int version) throws IOException {
            MEGATRON.write(folder, version);
        }
    },
    TAR("x.tar", "x.tar") {
        @Override
        void write(Path folder, int version) throws IOException {
            writeTars(folder.resolve("x.tar"), version);
        }
    },
    TARS_BY_FOLDER("x-%06d.tar", "") {
        @Override
        void write(Path folder, int version) throws IOException {
            writeTars(folder.resolve("x-%06d.tar"), version);
        }
    },
    /** Versions have a shard or four: the first one is named. */
    TARS_BY_LIST("x-%06d.tar", "x-{000000..000000}.tar") {
        @Override
        void write(Path folder, int version) throws IOException {
            writeTars(folder.resolve("x-%06d.tar"), version);
        }
    };

    /** What the writer is told, and what the store is opened by. */
    final String target;
    final String opened;

    WrittenStore(String target, String opened) {
        this.target = target;
        this.opened = opened;
    }

    abstract void write(Path folder, int version) throws IOException;

    private static Tensor numbers(int version) {
        int count = 1000 + version % 13 * 100;
        MemorySegment bytes = Arena.ofAuto().allocate(ValueLayout.JAVA_INT, count);
        for (int i = 0; i < count; i++) {
            bytes.setAtIndex(ValueLayout.JAVA_INT, i, version);
        }
        return Tensor.of(bytes, DType.I32, count);
    }

    private static void writeTars(Path pattern, int version) throws IOException {
        try (WebDatasetWriter writer = WebDatasetWriter.create(pattern, 3, 1 << 30)) {
            for (int i = 0; i < (version % 2 == 0 ? 10 : 2); i++) {
                writer.write("s" + i, Map.of("v" + version, MemorySegment.ofArray(new byte[version % 100 + 1])));
            }
            writer.commit();
        }
    }

    Path path(Path folder) {
        return opened.isEmpty() ? folder : folder.resolve(opened);
    }

    /** All that the store holds, whatever paths its files are at. */
    String read(Path folder) throws IOException {
        Inspection all = Inspection.of(path(folder), Depth.CONTENT);
        return all.kind() + " " + all.details() + " " + all.arrays();
    }

    /** What verify finds wrong. */
    String faults(Path folder) throws IOException, InterruptedException {
        return Verification.run(Location.of(path(folder)), OpenOptions.DEFAULT, 1, Progress.NONE).faults().toString();
    }
}
