// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.device.Device;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;

/** Several devices in one process, as ranks: loaders that share workers, or none. Run by {@link Scenarios}. */
final class MultiDeviceScenarios {

    private static final int ROWS = 501;

    private MultiDeviceScenarios() {
    }

    static void ranksOnTheirOwnDevicesGiveEachSampleOnceAndKeepToTheirDevice() throws Exception {
        for (int world : new int[] {2, 4, 8}) {
            CudaSimulator.setDevices(world);
            CudaSimulator.setSpeed(0, 100);
            var rows = new ByteRows(ROWS, 64);
            var seen = new BitSet();
            var steps = ConcurrentHashMap.<Integer>newKeySet();
            var together = new CyclicBarrier(world);
            var errors = ConcurrentHashMap.<Throwable>newKeySet();
            List<Thread> ranks = new ArrayList<>();
            for (int r = 0; r < world; r++) {
                var shard = new Shard(r, world, TailPolicy.EXACT);
                ranks.add(Thread.ofPlatform().start(() -> {
                    try {
                        together.await();
                        steps.add(epoch(shard, rows, seen));
                    } catch (Throwable t) {
                        errors.add(t);
                        together.reset();
                    }
                }));
            }
            for (Thread rank : ranks) {
                rank.join();
            }
            for (Throwable error : errors) {
                throw new AssertionError("a rank of " + world, error);
            }
            assertEquals(ROWS, seen.cardinality());
            assertEquals(1, steps.size(), "all ranks make the same number of steps");
        }
    }

    private static int epoch(Shard shard, ByteRows rows, BitSet seen) {
        int steps = 0;
        try (var trainer = new SimulatedTrainer(shard.rank());
                DataLoader loader = trainer.loader(rows).shard(shard).endEpoch(1).workers(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next(trainer.stream)) {
                    assertEquals(shard.rank(), CudaSimulator.device(batch.address("row")));
                    trainer.compute(batch, trainer.stream, 200);
                    trainer.look(batch, trainer.stream);
                    synchronized (seen) {
                        for (int row = 0; row < batch.valid(); row++) {
                            assertEquals(false, seen.get((int) batch.sample(row)), "a sample twice");
                            seen.set((int) batch.sample(row));
                        }
                    }
                }
                steps++;
            }
            trainer.stream.synchronize();
            trainer.verify();
            assertEquals(shard.rank(), CudaSimulator.currentDevice());
        }
        return steps;
    }

    /** One thread may drive all of them, whichever device it has current: it takes and closes, and copies nothing. */
    static void oneThreadDrivesLoadersOfSeveralDevices() {
        CudaSimulator.setDevices(3);
        var rows = new ByteRows(300, 16);
        try (var a = new SimulatedTrainer(0); var b = new SimulatedTrainer(1); var c = new SimulatedTrainer(2);
                DataLoader first = a.loader(rows).open();
                DataLoader second = b.loader(rows).open();
                DataLoader third = c.loader(rows).open()) {
            for (int i = 0; i < 40; i++) {
                try (Batch x = first.next(a.stream); Batch y = second.next(b.stream); Batch z = third.next(c.stream)) {
                    a.compute(x, a.stream, 100);
                    b.compute(y, b.stream, 100);
                    c.compute(z, c.stream, 100);
                    assertEquals(x.sample(0), z.sample(0));
                }
            }
        }
    }

    /** One process, one set of workers: each rank's batches go to its device. */
    static void theLoadersOfSeveralDevicesKeepToTheirDevicesAndGiveEachSampleOnce() throws Exception {
        for (int count : new int[] {1, 2, 5, 8}) {
            CudaSimulator.setDevices(count);
            CudaSimulator.setSpeed(0, 50);
            var seen = new BitSet();
            List<SimulatedTrainer> trainers = trainers(count);
            try (DeviceLoaders loaders = together(trainers, new ByteRows(ROWS, 64)).endEpoch(1).openAll()) {
                List<Thread> ranks = new ArrayList<>();
                var errors = ConcurrentHashMap.<Throwable>newKeySet();
                for (int r = 0; r < count; r++) {
                    SimulatedTrainer trainer = trainers.get(r);
                    DeviceLoader loader = loaders.get(r);
                    ranks.add(Thread.ofPlatform().start(() -> {
                        try {
                            trainer.device.makeCurrent();
                            epoch(trainer, loader, seen);
                        } catch (Throwable t) {
                            errors.add(t);
                        }
                    }));
                }
                for (Thread rank : ranks) {
                    rank.join();
                }
                for (Throwable error : errors) {
                    throw new AssertionError("a rank of " + count, error);
                }
            }
            assertEquals(ROWS, seen.cardinality());
            trainers.forEach(SimulatedTrainer::close);
        }
    }

    private static List<SimulatedTrainer> trainers(int count) {
        List<SimulatedTrainer> trainers = new ArrayList<>();
        for (int r = 0; r < count; r++) {
            trainers.add(new SimulatedTrainer(r));
        }
        return trainers;
    }

    private static DataLoaderBuilder together(List<SimulatedTrainer> trainers, ByteRows rows) {
        return trainers.getFirst().loader(rows).shard(new Shard(0, 1, TailPolicy.EXACT))
                .devices(trainers.stream().map(trainer -> trainer.device).toArray(Device[]::new));
    }

    private static void epoch(SimulatedTrainer trainer, DeviceLoader loader, BitSet seen) {
        while (loader.hasNext()) {
            try (Batch batch = loader.next(trainer.stream)) {
                assertEquals(trainer.device.ordinal(), CudaSimulator.device(batch.address("row")));
                trainer.compute(batch, trainer.stream, 100);
                trainer.look(batch, trainer.stream);
                synchronized (seen) {
                    for (int row = 0; row < batch.valid(); row++) {
                        assertEquals(false, seen.get((int) batch.sample(row)), "a sample twice");
                        seen.set((int) batch.sample(row));
                    }
                }
            }
        }
        trainer.stream.synchronize();
        trainer.verify();
    }

    /** Neither its error nor its slots are the others'. */
    static void aDeviceThatFailsOrTakesNothingLeavesTheOthersOfItsWorkersRunning() {
        CudaSimulator.setDevices(3);
        List<SimulatedTrainer> trainers = trainers(3);
        SimulatedTrainer failing = trainers.get(1);
        DeviceLoaders loaders = together(trainers, new ByteRows(300, 16)).workers(1).openAll();
        CudaSimulator.launchFault(failing.stream.handle(), 700);
        RuntimeException error = null;
        while (error == null) {
            try {
                loaders.get(1).next(failing.stream).close();
            } catch (RuntimeException e) {
                error = e;
            }
        }
        trainers.get(0).device.makeCurrent();
        trainers.get(0).train(loaders.get(0), 60);
        trainers.get(2).device.makeCurrent();
        trainers.get(2).train(loaders.get(2), 30);
        loaders.close();
        for (SimulatedTrainer trainer : trainers) {
            try {
                trainer.device.makeCurrent();
                trainer.close();
            } catch (RuntimeException e) {
                assertEquals(failing, trainer);
            }
        }
    }

    static void aBatchOfAnotherDeviceIsRefused() {
        CudaSimulator.setDevices(2);
        List<SimulatedTrainer> trainers = trainers(2);
        try (DeviceLoaders loaders = together(trainers, new ByteRows(300, 16)).openAll()) {
            assertThrows(IllegalArgumentException.class, () -> loaders.get(0).next(trainers.get(1).stream));
            trainers.get(0).device.makeCurrent();
            trainers.get(0).train(loaders.get(0), 5);
        }
        trainers.forEach(SimulatedTrainer::close);
    }

    /** An error of one device is not the others'. */
    static void aDeviceThatFailsLeavesTheOthersRunning() {
        CudaSimulator.setDevices(2);
        var rows = new ByteRows(300, 16);
        try (var well = new SimulatedTrainer(1); DataLoader running = well.loader(rows).open()) {
            var failing = new SimulatedTrainer(0);
            DataLoader ended = failing.loader(rows).open();
            CudaSimulator.launchFault(failing.stream.handle(), 700);
            RuntimeException error = null;
            while (error == null) {
                try {
                    ended.next(failing.stream).close();
                } catch (RuntimeException e) {
                    error = e;
                }
            }
            ended.close();
            try {
                failing.close();
            } catch (RuntimeException e) {
                error.addSuppressed(e);
            }
            well.device.makeCurrent();
            well.train(running, 30);
        }
    }
}
