// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.Pad;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.state.LoaderState;
import io.penstock.testing.MemoryTokenStore;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The loaders of several devices of one process, here of host devices. */
class DeviceLoadersTest {

    private static final int ROWS = 203;
    private static final int WIDTH = 8;
    private static final int BATCH = 5;

    private final List<Device> opened = new ArrayList<>();

    /** What a batch is: its rows, where they stand in the order, and its bytes. */
    private record Given(long number, long epoch, List<Long> samples, List<Long> positions, int valid, int bytes) {
    }

    private Device[] devices(int count) {
        Device[] devices = new Device[count];
        Arrays.setAll(devices, _ -> Device.host());
        opened.addAll(List.of(devices));
        return devices;
    }

    @AfterEach
    void closeDevices() {
        opened.forEach(Device::close);
    }

    private static Dataset noisy() {
        return new ByteRows(ROWS, WIDTH).map("row", new TensorSpec("row", DType.I64), "draw", "noise",
                (in, random, out) -> out.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0,
                        random.nextLong() ^ in.segment().get(ValueLayout.JAVA_BYTE, 0)));
    }

    private static DataLoaderBuilder settings(int workers) {
        return DataLoader.builder(noisy()).batchSize(BATCH).shuffle(3).workers(workers).prefetch(2).endEpoch(2);
    }

    private static Given take(DeviceLoader loader) {
        try (Batch batch = loader.next()) {
            return new Given(batch.number(), batch.epoch(),
                    IntStream.range(0, batch.count()).mapToObj(batch::sample).toList(),
                    IntStream.range(0, batch.count()).mapToObj(batch::position).toList(), batch.valid(),
                    Arrays.hashCode(batch.segment().toArray(ValueLayout.JAVA_BYTE)));
        }
    }

    private static List<Given> rest(DeviceLoader loader) {
        List<Given> all = new ArrayList<>();
        while (loader.hasNext()) {
            all.add(take(loader));
        }
        return all;
    }

    /** What a process with one device gives. */
    private static List<Given> alone(DataLoaderBuilder settings, Shard shard) {
        try (DataLoader loader = settings.shard(shard).open()) {
            return rest(loader);
        }
    }

    /** In turns, so that all rings are in use at once. */
    private static List<List<Given>> together(DeviceLoaders loaders) {
        List<List<Given>> all = new ArrayList<>();
        loaders.forEach(_ -> all.add(new ArrayList<>()));
        while (loaders.get(0).hasNext()) {
            for (int i = 0; i < loaders.size(); i++) {
                assertTrue(loaders.get(i).hasNext());
                all.get(i).add(take(loaders.get(i)));
            }
        }
        return all;
    }

    @Test
    void eachDeviceHasTheBatchesOfItsRankWhateverTheNumbersOfDevicesAndWorkers() {
        for (int count = 1; count <= 8; count++) {
            int workers = count % 4;
            TailPolicy tail = TailPolicy.values()[count % TailPolicy.values().length];
            TransferMode transfer = count % 2 == 0 ? TransferMode.COPY : TransferMode.AUTO;
            try (DeviceLoaders loaders = settings(workers).transfer(transfer).shard(new Shard(0, 1, tail))
                    .devices(devices(count)).openAll()) {
                assertEquals(count, loaders.size());
                List<List<Given>> given = together(loaders);
                for (int i = 0; i < count; i++) {
                    assertEquals(alone(settings(1), new Shard(i, count, tail)), given.get(i),
                            "device " + i + " of " + count);
                }
            }
        }
    }

    /** By the words of docs/spec/sharding.md: position p = r + k · W, cut into batches in order. */
    @Test
    void twoProcessesOfFourDevicesTakeTheOrderOfEightRanks() {
        Sampler order = Sampler.shuffled(ROWS, 3);
        for (int process = 0; process < 2; process++) {
            try (DeviceLoaders loaders = settings(3).shard(new Shard(process, 2, TailPolicy.EXACT))
                    .devices(devices(4)).openAll()) {
                List<List<Given>> given = together(loaders);
                for (int device = 0; device < 4; device++) {
                    int rank = 4 * process + device;
                    assertEquals(rank, loaders.get(device).info().rank());
                    assertEquals(8, loaders.get(device).info().worldSize());
                    for (Given batch : given.get(device)) {
                        long inEpoch = batch.number() - batch.epoch() * 6;
                        for (int row = 0; row < batch.samples().size(); row++) {
                            long position = rank + (inEpoch * BATCH + row) * 8;
                            assertEquals(position, batch.positions().get(row));
                            assertEquals(order.epoch(batch.epoch()).at(position % ROWS), batch.samples().get(row));
                        }
                    }
                }
            }
        }
    }

    @Test
    void budgetsOfTokensAreTheSameOnEveryDevice() {
        long[] starts = new long[91];
        for (int d = 0; d < 90; d++) {
            starts[d + 1] = starts[d] + 1 + d * 7 % 23;
        }
        Documents documents = Documents.of(new MemoryTokenStore(DType.U16, starts));
        UnaryOperator<DataLoaderBuilder> budget = of -> of.collator(Pad.toLongest(DType.I32, 0)).shuffle(1)
                .tokenBudget(TokenBudget.padded(60), documents::length).endEpoch(2);
        try (DeviceLoaders loaders = budget.apply(DataLoader.builder(documents)).devices(devices(3)).openAll()) {
            List<List<Given>> given = together(loaders);
            for (int i = 0; i < 3; i++) {
                assertEquals(alone(budget.apply(DataLoader.builder(documents)), new Shard(i, 3, TailPolicy.PAD)),
                        given.get(i));
            }
        }
    }

    @Test
    void aDeviceThatTakesNothingHoldsUpItsOwnSlotsAlone() {
        for (int workers = 1; workers <= 3; workers++) {
            try (DeviceLoaders loaders = settings(workers).endEpoch(3).devices(devices(3)).openAll()) {
                assertEquals(3 * 14, rest(loaders.get(0)).size());
                assertEquals(3 * 14, rest(loaders.get(2)).size());
                assertEquals(3 * 14, rest(loaders.get(1)).size(), "it lost nothing");
            }
        }
    }

    private static DeviceStage failing(Device on, long batch) {
        return failing(on, batch, new CountDownLatch(1));
    }

    /** A stage that fails at a batch of one device, and counts down before it does. */
    private static DeviceStage failing(Device on, long batch, CountDownLatch fails) {
        return (device, fields) -> new OpenStage() {
            private long enqueued;

            @Override
            public SlabLayout outputs() {
                return SlabLayout.of(new TensorSpec("unused", DType.U8, 1));
            }

            @Override
            public void enqueue(DeviceStream stream, DeviceFields inputs, DeviceFields outputs) {
                if (device == on && enqueued++ == batch) {
                    fails.countDown();
                    throw new IllegalStateException("no more");
                }
            }
        };
    }

    @Test
    void anErrorOfADeviceEndsItsLoaderAndNoOther() {
        Device[] devices = devices(3);
        try (DeviceLoaders loaders = settings(2).onDevice(failing(devices[1], 4)).devices(devices).openAll()) {
            IllegalStateException error = assertThrows(IllegalStateException.class, () -> rest(loaders.get(1)));
            assertTrue(error.getMessage().contains("batch 4: no more"), error.getMessage());
            assertEquals(28, rest(loaders.get(0)).size());
            assertEquals(28, rest(loaders.get(2)).size());
            assertThrows(IllegalStateException.class, () -> loaders.seek(1));
        }
    }

    @Test
    void anErrorThatNoCallHasToldIsToldByClose() throws InterruptedException {
        Device[] devices = devices(2);
        var fails = new CountDownLatch(1);
        DeviceLoaders loaders = settings(1).onDevice(failing(devices[1], 0, fails)).devices(devices).openAll();
        assertEquals(42, rest(loaders.get(0)).size());
        fails.await();
        IllegalStateException error = assertThrows(IllegalStateException.class, loaders::close);
        assertTrue(error.getMessage().contains("batch 0: no more"), error.getMessage());
        loaders.close();
    }

    @Test
    void oneStateIsThatOfAllAndGoesOnWithAnyNumberOfDevices() {
        Set<Long> seen = new HashSet<>();
        LoaderState state;
        try (DeviceLoaders loaders = settings(2).endEpoch(1).devices(devices(4)).openAll()) {
            for (int step = 0; step < 3; step++) {
                loaders.forEach(loader -> seen.addAll(take(loader).positions()));
            }
            state = loaders.state();
            assertEquals(state, loaders.get(3).state());
            take(loaders.get(2));
            assertEquals(state, loaders.state(), "a batch that one device alone was given comes again");
        }
        assertEquals(60, state.position());
        try (DeviceLoaders loaders = settings(0).endEpoch(1).shard(new Shard(0, 1, TailPolicy.EXACT)).resume(state)
                .devices(devices(3)).openAll()) {
            together(loaders).forEach(given -> given.forEach(batch ->
                    batch.positions().subList(0, batch.valid()).forEach(at -> assertTrue(seen.add(at)))));
        }
        assertEquals(ROWS, seen.size());
    }

    @Test
    void allAreMovedTogetherAndNoneAlone() {
        try (DeviceLoaders loaders = settings(2).devices(devices(2)).openAll()) {
            List<List<Given>> first = together(loaders);
            loaders.seek(0);
            loaders.forEach(DeviceLoadersTest::take);
            LoaderState after = loaders.state();
            loaders.seek(1);
            assertEquals(1, take(loaders.get(1)).epoch());
            loaders.seek(after);
            for (int i = 0; i < 2; i++) {
                List<List<Long>> expected = first.get(i).stream().skip(1).map(Given::samples).toList();
                assertEquals(expected, rest(loaders.get(i)).stream().map(Given::samples).toList());
            }
        }
    }

    @Test
    void aLoaderThatIsLeftAloneHoldsUpNoOtherAndAllEndTogether() {
        DeviceLoaders loaders = settings(1).devices(devices(2)).openAll();
        take(loaders.get(0));
        assertEquals(42, rest(loaders.get(1)).size());
        loaders.close();
        loaders.close();
        loaders.forEach(loader -> assertThrows(IllegalStateException.class, loader::next));
    }

    @Test
    void eachDeviceIsTrainedByAThreadOfItsOwn() throws InterruptedException {
        int count = 6;
        try (DeviceLoaders loaders = settings(3).transfer(TransferMode.COPY).endEpoch(40).name("six")
                .devices(devices(count)).openAll()) {
            long[] batches = new long[count];
            List<Thread> trainers = IntStream.range(0, count)
                    .mapToObj(i -> Thread.ofPlatform().start(() -> batches[i] = rest(loaders.get(i)).size())).toList();
            for (Thread trainer : trainers) {
                trainer.join();
            }
            long expected = 40L * loaders.get(0).batchesPerEpoch();
            assertEquals(expected * count, Arrays.stream(batches).sum());
            assertEquals(List.of("six-0", "six-1", "six-2", "six-3", "six-4", "six-5"),
                    loaders.get(0).info().devices() == count ? IntStream.range(0, count)
                            .mapToObj(i -> loaders.get(i).info().name()).toList() : List.of());
        }
        assertEquals(List.of(), Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(name -> name.startsWith("six")).toList());
    }

    @Test
    void aLeaseThatIsOutKeepsTheMemoryOfItsLoader() {
        DeviceLoaders loaders = settings(2).leases(LeaseMode.SHARED).devices(devices(2)).openAll();
        Batch kept = loaders.get(1).next();
        byte first = kept.segment().get(ValueLayout.JAVA_BYTE, 0);
        Thread closer = Thread.ofPlatform().start(loaders::close);
        try {
            closer.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertEquals(first, kept.segment().get(ValueLayout.JAVA_BYTE, 0));
        kept.close();
    }

    @Test
    void whatCannotBeOpenedLeavesNothing() {
        Device[] devices = devices(3);
        DeviceStage refuses = (device, fields) -> {
            if (device == devices[2]) {
                throw new IllegalArgumentException("not here");
            }
            return failing(devices[0], Long.MAX_VALUE).open(device, fields);
        };
        var error = assertThrows(IllegalArgumentException.class,
                () -> settings(2).name("unopened").onDevice(refuses).devices(devices).openAll());
        assertTrue(error.getMessage().contains("not here"), error.getMessage());
        assertFalse(Thread.getAllStackTraces().keySet().stream().anyMatch(t -> t.getName().startsWith("unopened")));
        for (Device device : devices) {
            device.close();                             // would log what is still open
        }
    }

    @Test
    void severalDevicesAreOpenedTogetherAndFoundByTheirOrder() {
        Device[] devices = devices(2);
        var error = assertThrows(IllegalArgumentException.class, () -> settings(1).devices(devices).open());
        assertTrue(error.getMessage().contains("openAll()"), error.getMessage());
        assertThrows(IllegalArgumentException.class, () -> settings(1).devices());
        try (DeviceLoaders loaders = settings(1).devices(devices).openAll(); Device other = Device.host()) {
            assertSame(loaders.get(1), loaders.of(devices[1]));
            assertThrows(IllegalArgumentException.class, () -> loaders.of(other));
        }
        try (DeviceLoaders one = settings(1).openAll()) {
            one.seek(1);
            assertEquals(1, take(one.get(0)).epoch());
        }
    }
}
