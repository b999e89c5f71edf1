// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import static io.penstock.crash.Writer.Promise.LASTS;
import static io.penstock.crash.Writer.Promise.NOTHING;

import io.penstock.cli.CommandRun;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Filtered;
import io.penstock.dataset.TensorRows;
import io.penstock.diagnose.BaselineExamples;
import io.penstock.diagnose.Recording;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.SummaryExamples;
import io.penstock.diagnose.data.DataProfile;
import io.penstock.diagnose.report.ChromeTrace;
import io.penstock.diagnose.report.TraceWindow;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.manifest.Manifest;
import io.penstock.format.manifest.ManifestPart;
import io.penstock.format.manifest.ManifestPart.TokenOrigin;
import io.penstock.format.manifest.PartWriter;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.format.npy.NpyWriter;
import io.penstock.format.safetensors.SafetensorsWriter;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.loader.DataLoader.Role;
import io.penstock.loader.LoaderInfo;
import io.penstock.loader.LoaderMemory;
import io.penstock.loader.LoaderSettings;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.state.Checkpoint;
import io.penstock.state.LoaderState;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.TensorStore;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.LoaderReport.Downloads;
import io.penstock.testing.Digests;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;

/** The table of all that writes files. {@link CrashTest} holds the sources to it. */
final class Writers {

    /** A failure that the command line has reported. */
    static final class CommandFailure extends IOException {
        private static final long serialVersionUID = 1;

        CommandFailure(String line) {
            super(line);
        }
    }

    private static final TokenOrigin ORIGIN = new TokenOrigin("none", "0".repeat(64));
    private static final String CHECKPOINT = Checkpoint.FILE_NAME;
    /** The tokenizer, made where it is used: it takes longer than all that is written with it. */
    private static final class Gpt2 {
        static final Tokenizer TOKENIZER = Tokenizer.of("gpt2");
    }

    /** The folder has files of others too. */
    private static final OpenOptions TARS = OpenOptions.DEFAULT.withFormat("webdataset");
    private static final long SAMPLES_OF_SHARD = 2;
    private static final int OLD = 1;
    private static final int NEW = 2;

    private final Path inputs;

    private Writers(Path inputs) {
        this.inputs = inputs;
    }

    /**
     * The table.
     *
     * @param inputs what {@link #prepare} made
     * @param large whether with what takes long for its size
     */
    static List<Writer> of(Path inputs, boolean large) {
        List<Writer> all = new ArrayList<>(new Writers(inputs).all());
        if (large) {
            // Larger than the writer's buffer, so it is several writes.
            all.add(npy("npy, large", (1 << 20) + 5000));
        }
        return all;
    }

    private static Writer npy(String name, int bytes) {
        return new Writer(name, LASTS, "x.npy", (folder, generation, replace) ->
                NpyWriter.write(folder.resolve("x.npy"), tensor(generation, DType.U8, bytes - generation),
                        ifExists(replace)),
                store("x.npy"));
    }

    // ---- inputs

    /** Makes what the writers read, in an empty folder. */
    static void prepare(Path inputs) throws Exception {
        for (int generation : List.of(OLD, NEW)) {
            Path folder = Files.createDirectories(inputs.resolve(Integer.toString(generation)));
            NpyWriter.write(folder.resolve("array.npy"), tensor(generation, DType.I32, 40 + generation, 8),
                    IfExists.FAIL);
            try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("records.tar"), 1000, 1L << 30)) {
                writeSamples(writer, generation, 6, 1200);
                writer.commit();
            }
            Path big = folder.resolve("big.tar");
            try (WebDatasetWriter writer = WebDatasetWriter.create(big, 1000, 1L << 30)) {
                writeSamples(writer, generation, 3, 40_000);
                writer.commit();
            }
            try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(folder.resolve("big.tar.gz")))) {
                Files.copy(big, out);
            }
            Files.writeString(folder.resolve("text.txt"), "It was the text of generation " + generation + ". ".repeat(
                    40 * generation));
            SummaryExamples.run(generation, 3, generation, 0.1, SummaryExamples.FINGERPRINT)
                    .write(folder.resolve("run"));
            command("stats", folder.resolve("array.npy"), "--batch", 4, "--workers", 1, "--limit", 4 + generation,
                    "--save", folder.resolve("profile.json"));
        }
    }

    private Path input(int generation, String name) {
        return inputs.resolve(Integer.toString(generation)).resolve(name);
    }

    private static byte[] bytes(int seed, int count) {
        byte[] bytes = new byte[count];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    private static Tensor tensor(int seed, DType dtype, long... shape) {
        long count = dtype.byteSize();
        for (long dim : shape) {
            count *= dim;
        }
        return Tensor.of(MemorySegment.ofArray(bytes(seed, (int) count)), dtype, shape);
    }

    private static void writeSamples(WebDatasetWriter writer, int generation, int samples, int byteSize)
            throws IOException {
        for (int i = 0; i < samples; i++) {
            writer.write("sample-" + i, Map.of("bin", MemorySegment.ofArray(bytes(100 * generation + i, byteSize)),
                    "cls", MemorySegment.ofArray(("" + i).getBytes())));
        }
    }

    private static void command(Object... args) throws CommandFailure {
        CommandRun run = CommandRun.of(args);
        if (run.exitCode() != 0) {
            throw new CommandFailure(run.err().strip());
        }
    }

    // ---- the table

    private List<Writer> all() {
        return List.of(
                npy("npy", 5000),
                new Writer("safetensors", LASTS, "x.safetensors", (folder, generation, replace) ->
                        SafetensorsWriter.write(folder.resolve("x.safetensors"),
                                Map.of("a", tensor(generation, DType.F32, 30), "b", tensor(9, DType.U8, generation)),
                                Map.of("generation", "" + generation), ifExists(replace)),
                        store("x.safetensors")),
                new Writer("megatron", LASTS, "corpus", Writers::megatron, megatron("corpus")),
                new Writer("tokenize", LASTS, "corpus", (folder, generation, replace) ->
                        new TokenizeJob(Gpt2.TOKENIZER, List.of(input(generation, "text.txt")),
                                folder.resolve("corpus")).threads(1).ifExists(ifExists(replace)).run(),
                        megatron("corpus")),
                new Writer("part", LASTS, "corpus", (folder, generation, replace) -> {
                    try (PartWriter writer = PartWriter.create(folder.resolve("corpus"), DType.U16, ORIGIN,
                            ifExists(replace))) {
                        writer.documents().append(new int[] {generation, 7}, 0, 2);
                        writer.documents().endDocument();
                        writer.commit(Progress.NONE);
                    }
                }, folder -> {
                    Map<String, String> found = megatron("corpus").read(folder);
                    if (found.isEmpty()) {
                        return found;
                    }
                    // The description is of the tokens that are there.
                    return Map.of("part", found + ManifestPart.read(Location.of(folder.resolve("corpus"))).toJson());
                }),
                new Writer("manifest", LASTS, List.of("all.manifest.json", "p1", "q1", "p2", "q2"), Writers::parts,
                        (folder, generation, replace) -> new Manifest(List.of(
                                ManifestPart.read(Location.of(folder.resolve("p" + generation))),
                                ManifestPart.read(Location.of(folder.resolve("q" + generation)))))
                                .write(folder.resolve("all.manifest.json"), ifExists(replace)),
                        store("all.manifest.json")),
                new Writer("tars", LASTS, "x-", (folder, generation, _) -> {
                    try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("x-%03d.tar"),
                            SAMPLES_OF_SHARD, 1 << 20)) {
                        writeSamples(writer, generation, generation == OLD ? 4 : 6, 700);
                        writer.commit();
                    }
                }, Writers::tars),
                new Writer("tar", LASTS, "x.tar", (folder, generation, _) -> {
                    try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("x.tar"), 2, 1 << 20)) {
                        writeSamples(writer, generation, 2 * generation, 700);
                        writer.commit();
                    }
                }, store("x.tar")),
                convert("tars", "records.tar", "x-{000}.tar", "x-", Writers::tars,
                        "--max-records", "" + SAMPLES_OF_SHARD),
                convert("npy", "array.npy", "x.npy", "x.npy", store("x.npy")),
                convert("safetensors", "array.npy", "x.safetensors", "x.safetensors", store("x.safetensors")),
                convert("megatron", "array.npy", "corpus", "corpus", megatron("corpus")),
                new Writer("checksum", LASTS, List.of("data.bin.crc32c", "data.bin"),
                        (folder, generation) -> Files.write(folder.resolve("data.bin"), bytes(generation, 70_000)),
                        (folder, _, replace) -> command(forced(replace, "checksum", folder.resolve("data.bin"))),
                        folder -> {
                            BlockChecksums found = BlockChecksums.read(Location.of(folder.resolve("data.bin")));
                            return found == null ? Map.of() : Map.of("checksums", "" + found.hashCode()
                                    + found.crc(0) + found.crc(1));
                        }),
                new Writer("loader state", LASTS, "state.json", (folder, generation, _) -> state(generation)
                        .write(folder.resolve("state.json")),
                        file("state.json", file -> LoaderState.read(file).toJson())),
                new Writer("checkpoint", LASTS, List.of("step", "penstock"),
                        (folder, _) -> {
                            Files.createDirectories(folder.resolve("step"));
                            Files.write(folder.resolve("step/weights.bin"), bytes(7, 999));
                        },
                        (folder, generation, _) -> Checkpoint.save(folder.resolve("step"), generation,
                                state(generation), "weights.bin"),
                        file("step/" + CHECKPOINT, file -> Checkpoint.load(file.getParent()).toString())),
                new Writer("checkpoint of a step", LASTS, "run", Writers::nextStep, Writers::latestStep),
                new Writer("filter", LASTS, "keep.filter", this::filter, file("keep.filter", file -> {
                    try (TensorStore store = TensorStore.open(input(OLD, "array.npy"))) {
                        Filtered found = TensorRows.of(store).filter(file);
                        return found.size() + " " + found.fingerprint();
                    }
                })),
                new Writer("settings of tune", LASTS, "settings.json", (folder, generation, _) ->
                        new LoaderSettings(OptionalInt.of(generation), OptionalInt.of(4), Optional.of(ReadMode.AUTO),
                                OptionalInt.empty(), "found").write(folder.resolve("settings.json")),
                        file("settings.json", file -> LoaderSettings.read(file).toJson())),
                new Writer("profile of stats", LASTS, "profile.json", (folder, generation, _) ->
                        DataProfile.read(input(generation, "profile.json")).write(folder.resolve("profile.json")),
                        file("profile.json", file -> DataProfile.read(file).toJson())),
                new Writer("baseline", LASTS, "past.json", (folder, generation, _) -> BaselineExamples.write(
                        folder.resolve("past.json"), generation), file("past.json", BaselineExamples::read)),
                new Writer("summary", LASTS, List.of(Summary.JSON_FILE, Summary.TEXT_FILE, "run"), (_, _) -> { },
                        (folder, generation, _) -> Summary.read(input(generation, "run"))
                                .write(folder.resolve("run")), Writers::summary),
                new Writer("report as HTML", LASTS, "report.html", (folder, generation, _) ->
                        command("report", input(generation, "run"), "--html", folder.resolve("report.html")),
                        file("report.html", Writers::digest)),
                new Writer("trace", LASTS, "trace.json", (folder, generation, _) ->
                        ChromeTrace.write(recording(generation), TraceWindow.ALL, folder.resolve("trace.json")),
                        file("trace.json", Writers::digest)),
                new Writer("index beside a shard", NOTHING, List.of("x.tar.gz"),
                        (folder, generation) -> Files.copy(input(generation, "big.tar.gz"), replaced(folder.resolve(
                                "x.tar.gz"))),
                        (folder, _, _) -> WebDatasetStore.open(Location.of(folder.resolve("x.tar.gz"))).close(),
                        store("x.tar.gz")));
    }

    private Writer convert(String format, String source, String target, String file, Writer.Read read,
            String... options) {
        return new Writer("convert to " + format, LASTS, file, (folder, generation, replace) -> {
            Object[] args = forced(replace, "convert", input(generation, source), folder.resolve(target), "--to",
                    format.equals("tars") ? "webdataset" : format);
            Object[] all = Arrays.copyOf(args, args.length + options.length);
            System.arraycopy(options, 0, all, args.length, options.length);
            command(all);
        }, read);
    }

    private static Object[] forced(boolean force, Object... args) {
        Object[] all = Arrays.copyOf(args, args.length + (force ? 1 : 0));
        if (force) {
            all[args.length] = "--force";
        }
        return all;
    }

    private static IfExists ifExists(boolean replace) {
        return replace ? IfExists.REPLACE : IfExists.FAIL;
    }

    private static void megatron(Path folder, int generation, boolean replace) throws IOException {
        try (MegatronWriter writer = MegatronWriter.create(folder.resolve("corpus"), DType.U16, ifExists(replace))) {
            for (int p = 0; p < 2; p++) {
                try (MegatronPart part = writer.part()) {
                    for (int d = 0; d < generation; d++) {
                        int[] tokens = new SplittableRandom(generation + p).ints(50 + d, 0, 50_000).toArray();
                        part.append(tokens, 0, tokens.length);
                        part.endDocument();
                    }
                }
            }
            writer.commit();
        }
    }

    /** The parts of both generations, as attempts leave them; a manifest names those of one. */
    private static void parts(Path folder, int generation) throws IOException {
        for (String name : List.of("p", "q")) {
            try (PartWriter writer = PartWriter.create(folder.resolve(name + generation), DType.U16, ORIGIN,
                    IfExists.REPLACE)) {
                writer.documents().append(new int[] {generation, 7, 8}, 0, 3);
                writer.documents().endDocument();
                writer.commit(Progress.NONE);
            }
        }
    }

    private static LoaderState state(int generation) {
        return new LoaderState(generation, 10, 7, "feistel", "npy:1234");
    }

    /** As a trainer saves: the next step, unless a run that was stopped has saved it. */
    private static void nextStep(Path folder, int generation, boolean replace) throws IOException {
        Path run = folder.resolve("run");
        Optional<Path> latest = Checkpoint.latest(run);
        Optional<Checkpoint> saved = latest.isPresent() ? Optional.of(Checkpoint.load(latest.get())) : Optional.empty();
        if (saved.isEmpty() || !saved.get().state().equals(state(generation))) {
            long step = saved.map(Checkpoint::step).orElse(0L) + 1;
            Path target = Checkpoint.newFolder(run, step);
            Files.createDirectory(target.resolve("optimizer"));
            try {
                Files.write(target.resolve("weights.bin"), bytes(generation, 999));
                Files.write(target.resolve("optimizer/0"), bytes(generation, 99));
            } catch (IOException e) {
                throw new IOException(target + ": the trainer cannot write: " + e.getMessage(), e);
            }
            Checkpoint.save(target, step, state(generation), "weights.bin", "optimizer/0");
        }
        Checkpoint.keepLatest(run, 1);
    }

    private static Map<String, String> latestStep(Path folder) throws IOException {
        Optional<Path> latest = Checkpoint.latest(folder.resolve("run"));
        return latest.isPresent() ? Map.of("checkpoint", Checkpoint.load(latest.get()).toString()) : Map.of();
    }

    private void filter(Path folder, int generation, boolean replace) throws IOException {
        try (TensorStore store = TensorStore.open(input(OLD, "array.npy"))) {
            Dataset rows = TensorRows.of(store);
            rows.filter("generation " + generation, sample -> true).save(folder.resolve("keep.filter"));
        }
    }

    private static Recording recording(int generation) {
        List<BatchAccount> accounts = new ArrayList<>();
        for (int s = 0; s < 20 * generation; s++) {
            long at = 1000L * s;
            accounts.add(new BatchAccount(s, 0, s == 0, 32, 65_600,
                    new BatchAccount.Making(0, at, at + 1, at + 2, at + 300, 100, -1, -1, 0, 0,
                            new BatchAccount.Usage(500, 4096, 0, 1, 0, 0), null), null,
                    new BatchAccount.Taking(at + 400, at + 500, at + 600, -1, 2, 3), null));
        }
        return new Recording(new LoaderInfo("penstock", Role.TRAIN, "data", 32, 1, 2, 1, ReadMode.AUTO, "host", 1,
                false, false, new LoaderMemory(2, 0, 65_600, 131_200, 0)), accounts, List.of(), null,
                new Recording.Machine(2, Double.NaN, Double.NaN, Double.NaN), List.of(), Downloads.NONE, 1);
    }

    // ---- what is read

    private interface Content {
        String of(Path file) throws IOException;
    }

    private static Writer.Read file(String name, Content content) {
        return folder -> Files.exists(folder.resolve(name)) ? Map.of(name, content.of(folder.resolve(name)))
                : Map.of();
    }

    private static String digest(Path file) throws IOException {
        return Digests.of(MemorySegment.ofArray(Files.readAllBytes(file)));
    }

    /** A store is absent if a reader says that there is no such file, and there is none. */
    private static Writer.Read store(String name) {
        return folder -> {
            try {
                return Map.of(name, StoreContent.verified(folder.resolve(name), OpenOptions.DEFAULT).digest());
            } catch (NoSuchFileException e) {
                if (Files.exists(folder.resolve(name))) {
                    throw e;
                }
                return Map.of();
            }
        };
    }

    private static Writer.Read megatron(String prefix) {
        return store(prefix + ".idx");
    }

    private static Map<String, String> summary(Path folder) throws IOException {
        Map<String, String> parts = new LinkedHashMap<>(file("run/" + Summary.JSON_FILE,
                file -> Summary.read(file).text()).read(folder));
        parts.putAll(file("run/" + Summary.TEXT_FILE, Writers::digest).read(folder));
        return parts;
    }

    /** The shards by their folder, and by a pattern of as many as there are. */
    private static Map<String, String> tars(Path folder) throws IOException {
        StoreContent found;
        try {
            found = StoreContent.verified(folder, TARS);
        } catch (MalformedStoreException e) {
            try (DirectoryStream<Path> shards = Files.newDirectoryStream(folder, "x-*.tar")) {
                if (shards.iterator().hasNext()) {
                    throw e;
                }
            }
            return Map.of();
        }
        long shards = Math.ceilDiv(found.size(), SAMPLES_OF_SHARD);
        Path pattern = folder.resolve("x-{000..00" + (shards - 1) + "}.tar");
        if (!found.equals(StoreContent.of(pattern, TARS))) {
            throw new IOException(folder + ": other samples by its name than by the pattern of its shards");
        }
        return Map.of("samples", found.digest());
    }

    private static Path replaced(Path file) throws IOException {
        Files.deleteIfExists(file);
        return file;
    }
}
