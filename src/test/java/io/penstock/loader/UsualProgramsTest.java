// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.dataset.Dataset;
import io.penstock.device.Device;
import io.penstock.error.MalformedStoreException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that most users write first, as the guide has them. */
class UsualProgramsTest {

    @TempDir
    Path folder;

    /** Own data: sample n is the pair (n, n / 2), its label is n mod 3. */
    private static Dataset pairs(long size) {
        return Dataset.generate(size, List.of(new TensorSpec("pair", DType.F32, 2), new TensorSpec("label", DType.I64)),
                "pairs v1", (sample, _, out) -> {
                    out.tensor("pair").copyFrom(new float[] {sample, sample / 2f});
                    out.tensor("label").set(sample % 3);
                });
    }

    private static List<Long> samples(Batch batch) {
        float[] pairs = new float[(int) batch.tensor("pair").elementCount()];
        batch.tensor("pair").copyTo(pairs);
        List<Long> samples = new ArrayList<>();
        for (int i = 0; i < pairs.length; i += 2) {
            samples.add((long) pairs[i]);
        }
        return samples;
    }

    @Test
    void ownDataIsALambdaThatWritesArraysAndNumbers() {
        try (DataLoader loader = DataLoader.builder(pairs(6)).batchSize(3).endEpoch(1).open()) {
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    List<Long> samples = samples(batch);
                    for (int i = 0; i < samples.size(); i++) {
                        assertEquals(samples.get(i) / 2f, batch.tensor("pair").getDouble(2L * i + 1));
                        assertEquals(samples.get(i) % 3, batch.tensor("label").getLong(i));
                    }
                }
            }
        }
    }

    @Test
    void resumeIfPresentStartsAfreshWithoutAFileAndContinuesWithOne() throws IOException {
        Path file = folder.resolve("data.json");
        List<Long> seen = new ArrayList<>();
        for (int start = 0; start < 5; start++) {
            try (DataLoader loader = DataLoader.builder(pairs(20)).batchSize(4).shuffle(42).resumeIfPresent(file)
                    .open(); Batch batch = loader.next()) {
                seen.addAll(samples(batch));
                loader.state().write(file);
            }
        }
        assertEquals(LongStream.range(0, 20).boxed().toList(), seen.stream().sorted().toList());
    }

    @Test
    void resumeIfPresentRefusesAFileThatIsNoState() throws IOException {
        Path file = Files.writeString(folder.resolve("data.json"), "{}");
        assertThrows(MalformedStoreException.class, () -> DataLoader.builder(pairs(4)).resumeIfPresent(file));
    }

    @Test
    void severalDevicesShareTheSamplesOfAnEpoch() {
        List<Long> seen = new ArrayList<>();
        try (Device first = Device.host();
                Device second = Device.host();
                DeviceLoaders loaders = DataLoader.builder(pairs(20)).batchSize(5).shuffle(42).endEpoch(1)
                        .shard(new Shard(0, 1, TailPolicy.EXACT)).devices(first, second).openAll()) {
            for (DeviceLoader loader : loaders) {
                for (Batch batch : loader.epoch()) {
                    try (batch) {
                        seen.addAll(samples(batch));
                    }
                }
            }
        }
        assertEquals(LongStream.range(0, 20).boxed().toList(), seen.stream().sorted().toList());
    }
}
