// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.Store;
import io.penstock.store.StoreFormats;
import io.penstock.store.integrity.Verification.Fault;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every store of the tests' resources, whole and damaged in seeded ways, is opened and inspected, verified, inspected
 * with digests, and loaded sample by sample. They agree:
 *
 * <ul>
 *   <li>what one of them refuses to open, all do;
 *   <li>of what opens, either all of it is read by the verification, by the digests and by the loader, or none of the
 *       three calls it good.
 * </ul>
 *
 * <p>Damage that only a checksum shows, of the format's own or of a file beside the store, is the verification's alone.
 */
@Tag("slow")
class AgreementTest {

    private static final long SEED = Long.getLong("penstock.agreement.seed", 20261122);
    private static final int MUTATIONS = Thorough.times("penstock.agreement.mutations", 1, 2);
    private static final String ONLY = System.getProperty("penstock.agreement.only", "");
    private static final long MOST_BYTES = 400_000;

    @TempDir
    private static Path folder;

    /** What became of a store in one way of reading it. */
    private enum Outcome {
        /** It does not open. */
        REFUSED,
        /** It opens, and not all of it can be read. */
        BAD,
        /** All of it is read. */
        READ
    }

    /** The ways. */
    private enum Way { INSPECT, DIGEST, VERIFY, LOAD }

    /** A file or folder of the resources that is a store, and what must be copied for it to be one elsewhere. */
    private record Sample(String name, Path path, List<Path> files) {
    }

    @TestFactory
    Stream<DynamicTest> whatOneRefusesNoOtherReads() throws Exception {
        return samples().stream().filter(sample -> sample.name().contains(ONLY))
                .map(sample -> DynamicTest.dynamicTest(sample.name(), () -> check(sample)));
    }

    private static List<Sample> samples() throws IOException, URISyntaxException {
        List<Sample> samples = new ArrayList<>();
        for (String home : List.of("fixtures", "arrow", "hdf5", "npz", "parquet", "webdataset", "written/element_types",
                "written/lmdb", "written/mds", "written/megatron_indexes")) {
            Path root = root(home);
            try (Stream<Path> all = Files.walk(root.resolve(home))) {
                for (Path path : all.sorted().toList()) {
                    List<Path> files = files(path);
                    if (!files.isEmpty()) {
                        samples.add(new Sample(root.relativize(path).toString(), path, files));
                    }
                }
            }
        }
        return samples;
    }

    /** The folder of classes that has a folder of resources: the engine's or this module's. */
    private static Path root(String home) throws URISyntaxException {
        Path root = Path.of(AgreementTest.class.getResource("/" + home).toURI());
        for (int i = 0; i < Path.of(home).getNameCount(); i++) {
            root = root.getParent();
        }
        return root;
    }

    /** The files of a store, if it is one by its content or name and is not too large; otherwise none. */
    private static List<Path> files(Path path) throws IOException {
        String format;
        try {
            format = StoreFormats.recognize(Location.of(path)).name();
        } catch (MalformedStoreException _) {
            return List.of();
        }
        if (format.equals("files") || format.equals("nanogpt") && Files.isDirectory(path)) {
            return List.of();
        }
        List<Path> files = new ArrayList<>();
        if (Files.isDirectory(path)) {
            try (Stream<Path> all = Files.walk(path)) {
                all.filter(Files::isRegularFile).sorted().forEach(files::add);
            }
        } else {
            String name = path.getFileName().toString();
            String stem = name.contains(".") ? name.substring(0, name.indexOf('.')) : name;
            boolean hasCompanions = List.of("megatron", "datatrove", "mds").contains(format);
            try (Stream<Path> beside = Files.list(path.getParent())) {
                beside.filter(Files::isRegularFile).filter(file -> file.equals(path) || hasCompanions
                        && (format.equals("mds") || file.getFileName().toString().startsWith(stem + ".")))
                        .sorted().forEach(files::add);
            }
        }
        long bytes = 0;
        for (Path file : files) {
            bytes += Files.size(file);
        }
        return bytes <= MOST_BYTES ? files : List.of();
    }

    private static void check(Sample sample) throws Exception {
        SplittableRandom random = new SplittableRandom(SEED ^ sample.name().hashCode());
        Path home = Files.createTempDirectory(folder, "store");
        Path base = Files.isDirectory(sample.path()) ? sample.path() : sample.path().getParent();
        Map<Path, byte[]> originals = new TreeMap<>();
        for (Path file : sample.files()) {
            Path copy = home.resolve(base.relativize(file).toString());
            Files.createDirectories(copy.getParent());
            originals.put(copy, Files.readAllBytes(file));
            Files.write(copy, originals.get(copy));
        }
        Path opened = Files.isDirectory(sample.path()) ? home : home.resolve(sample.path().getFileName().toString());
        List<Path> files = List.copyOf(originals.keySet());
        assertAgree(opened, "as it is");
        for (int i = 0; i < MUTATIONS; i++) {
            Path target = files.get(random.nextInt(files.size()));
            byte[] original = originals.get(target);
            String what = "seed " + SEED + ", mutation " + i + " of " + target.getFileName() + ": "
                    + mutate(target, original, random);
            assertAgree(opened, what);
            Files.write(target, original);
        }
    }

    /** Damages a file; says how. */
    private static String mutate(Path target, byte[] original, SplittableRandom random) throws IOException {
        byte[] bytes = original.clone();
        int length = bytes.length;
        int at = length == 0 ? 0 : random.nextInt(random.nextBoolean() ? length : Math.min(length, 256));
        String what;
        switch (length == 0 ? 7 : random.nextInt(9)) {
            case 0 -> {
                bytes = Arrays.copyOf(bytes, at);
                what = "cut to " + at;
            }
            case 1 -> {
                int page = random.nextBoolean() ? 4096 : 512;
                int cut = random.nextInt(length / page + 1) * page;
                bytes = Arrays.copyOf(bytes, cut);
                what = "cut to pages, " + cut;
            }
            case 2 -> {
                bytes[at] ^= (byte) (1 << random.nextInt(8));
                what = "a bit of byte " + at;
            }
            case 3 -> {
                bytes[at] = (byte) random.nextInt();
                what = "byte " + at;
            }
            case 4 -> {
                int page = at / 512 * 512;
                Arrays.fill(bytes, page, Math.min(length, page + 512), (byte) 0);
                what = "zeros from " + page;
            }
            case 5 -> {
                int word = 2 << random.nextInt(3);
                for (int i = 0; i < length / word * word; i++) {
                    bytes[i] = original[i - i % word + word - 1 - i % word];
                }
                what = "words of " + word + " swapped";
            }
            case 6 -> {
                int other = random.nextInt(length);
                int count = Math.min(random.nextInt(1, 64), length - Math.max(at, other));
                System.arraycopy(original, other, bytes, at, count);
                System.arraycopy(original, at, bytes, other, count);
                what = count + " bytes at " + at + " and " + other + " exchanged";
            }
            case 7 -> {
                bytes = Arrays.copyOf(bytes, length + random.nextInt(1, 5000));
                for (int i = length; i < bytes.length; i++) {
                    bytes[i] = (byte) (random.nextBoolean() ? 0 : random.nextInt());
                }
                what = "lengthened to " + bytes.length;
            }
            default -> {
                Files.delete(target);
                return "deleted";
            }
        }
        Files.write(target, bytes);
        return what;
    }

    private static void assertAgree(Path path, String what) throws Exception {
        if (!Files.exists(path)) {
            return;
        }
        Map<Way, Outcome> outcomes = new EnumMap<>(Way.class);
        List<String> reasons = new ArrayList<>();
        try {
            inspect(path, outcomes, reasons);
            outcomes.put(Way.VERIFY, verify(path, reasons));
            outcomes.put(Way.LOAD, load(path, reasons));
        } catch (RuntimeException | Error e) {
            throw new AssertionError(what + ": " + outcomes + " " + reasons, e);
        }
        String found = what + ": " + outcomes + " " + reasons;
        assertEquals(outcomes.get(Way.DIGEST), outcomes.get(Way.VERIFY), found);
        assertEquals(outcomes.get(Way.DIGEST), outcomes.get(Way.LOAD), found);
        assertEquals(outcomes.get(Way.DIGEST) == Outcome.REFUSED, outcomes.get(Way.INSPECT) == Outcome.REFUSED, found);
    }

    /** Inspects a store that is opened once, without digests and with them. */
    private static void inspect(Path path, Map<Way, Outcome> outcomes, List<String> reasons) {
        try (Store store = Store.open(path)) {
            outcomes.put(Way.INSPECT, inspect(path, store, Depth.STRUCTURE, Outcome.REFUSED, reasons));
            outcomes.put(Way.DIGEST, inspect(path, store, Depth.CONTENT, Outcome.BAD, reasons));
        } catch (IOException | PenstockException e) {
            reasons.add("open: " + e.getMessage());
            outcomes.put(Way.INSPECT, Outcome.REFUSED);
            outcomes.put(Way.DIGEST, Outcome.REFUSED);
        }
    }

    private static Outcome inspect(Path path, Store store, Depth depth, Outcome failed, List<String> reasons) {
        try {
            Inspection.of(Location.of(path), store, depth, Progress.NONE);
            return Outcome.READ;
        } catch (IOException | PenstockException e) {
            reasons.add("inspect, " + depth + ": " + e.getMessage());
            return failed;
        }
    }

    private static Outcome verify(Path path, List<String> reasons) throws IOException, InterruptedException {
        List<Fault> faults = Verification.run(Location.of(path), OpenOptions.DEFAULT, 1, Progress.NONE).faults();
        faults.forEach(fault -> reasons.add("verify: " + fault.check() + ": " + fault.message()));
        if (faults.stream().anyMatch(fault -> fault.check().equals("structure"))) {
            return Outcome.REFUSED;
        }
        return faults.stream().anyMatch(fault -> fault.check().equals("content")) ? Outcome.BAD : Outcome.READ;
    }

    private static Outcome load(Path path, List<String> reasons) {
        try (Store store = Store.open(path)) {
            try {
                EverySample.read(path, store);
                return Outcome.READ;
            } catch (IOException | UncheckedIOException | PenstockException e) {
                reasons.add("load: " + e.getMessage());
                return Outcome.BAD;
            }
        } catch (IOException | PenstockException _) {
            return Outcome.REFUSED;
        }
    }
}
