// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.augment.Augment;
import io.penstock.convert.Conversion;
import io.penstock.convert.ConversionSummary;
import io.penstock.convert.TargetFormat;
import io.penstock.decode.Decoder;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.StoreWriter;
import io.penstock.store.TokenStore;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "convert",
        description = "Converts a store to another format.",
        footer = {"", "Examples: penstock convert dataset/ corpus --to megatron --fields input_ids",
            "          penstock convert images/ train-{000000}.tar --max-records 1000",
            "          penstock convert a.tar out.npy --image 64x64 --augment flip --copies 9",
            "", "megatron takes tokens, a column of integer lists (one document per record) or a tensor of integers"
                + " (one per row). npy takes one token run, tensor or column. safetensors takes tokens (as tokens and"
                + " document_starts), tensors, or columns of one shape. webdataset takes records (one suffix per"
                + " column).",
            "", "The result appears complete or not at all. The command lists what B's format cannot hold, such as"
                + " metadata; it refuses values that do not fit."})
final class ConvertCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(index = "0", paramLabel = "A", description = "Store to read.")
    private String name;

    /** Where the store to read is; set when the command runs. */
    @SuppressWarnings("NullAway.Init")
    private Location source;

    @Parameters(index = "1", paramLabel = "B",
            description = "Store to write: a file, a prefix for megatron, or for several tars a name with {000000} in"
                    + " place of the number; also s3://BUCKET/KEY.")
    private String target;

    @Option(names = "--to", paramLabel = "NAME",
            description = "Target format: megatron, npy, safetensors or webdataset; default: by B's extension.")
    private @Nullable String to;

    @Option(names = "--fields", paramLabel = "NAME", split = ",",
            description = "Tensors or columns to convert; default: all that the target format can hold.")
    private List<String> fields = List.of();

    @Option(names = "--decode", paramLabel = "NAME=DECODER",
            description = "Decoder of a column: " + DecoderText.FORMS + ". Default: chosen by the column's encoding.")
    private Map<String, String> decoders = new LinkedHashMap<>();

    @Option(names = "--image", paramLabel = "HxW",
            description = "Decode images to u8[H,W,3]: resize the shorter side, then crop the center. Default: keep"
                    + " the files' bytes.")
    private @Nullable String image;

    @Mixin
    private AugmentOptions augmenting;

    @Option(names = "--copies", paramLabel = "K",
            description = "With --augment: augmented copies of each sample, those of K epochs; default: 1.")
    private @Nullable Integer copies;

    @Option(names = "--seed", paramLabel = "NUMBER",
            description = "With --augment: seed of what it draws; default: 42.")
    private @Nullable Long seed;

    @Option(names = "--suffix", paramLabel = "NAME=SUFFIX",
            description = "Suffix of a column's files in a tar; default: from its name and encoding.")
    private Map<String, String> suffixes = new LinkedHashMap<>();

    @Option(names = "--token-dtype", paramLabel = "DTYPE",
            description = "Token dtype of a megatron store; refused if a token does not fit. Default: as in A.")
    private @Nullable String tokenDType;

    @Option(names = "--max-records", paramLabel = "N", description = "Samples per tar; default: 100000.")
    private long maxRecords = Long.MAX_VALUE;

    @Option(names = "--max-bytes", paramLabel = "BYTES",
            description = "Start the next tar after so many bytes; default: 3000000000.")
    private long maxBytes = Long.MAX_VALUE;

    @Option(names = "--skip-incomplete",
            description = "Leave out records that lack a value. Default: a missing value becomes an empty document or"
                    + " no tar member; for a tensor it is an error.")
    private boolean skipIncomplete;

    @Option(names = "--force", description = "Replace B if it exists.")
    private boolean force;

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException, InterruptedException {
        ConversionSummary summary;
        source = storeOptions.locate(name);
        IfExists ifExists = force ? IfExists.REPLACE : IfExists.FAIL;
        try (Store store = storeOptions.open(source);
                Target written = Target.of(target, storeOptions.remote(), ifExists).inFolder()) {
            TargetFormat format = format(store, written.path());
            checkOptions(store, format);
            if (format.writer() instanceof StoreWriter.OfDocuments documents) {
                written.requireAbsent(documents.endings().toArray(String[]::new));
            }
            Conversion conversion = new Conversion(store, written.path(), format.name())
                    .fields(fields.isEmpty() ? null : fields).decoders(parsedDecoders(store)).suffixes(suffixes)
                    .tokenDType(tokenDType == null ? null : dtype(tokenDType))
                    .ifExists(ifExists);
            if (skipIncomplete) {
                conversion.skipIncomplete();
            }
            setShards(conversion);
            setCopies(conversion);
            boolean records = store instanceof RecordStore;
            try (ProgressBar bar = report.progressBar("convert", records ? "records" : "B")) {
                summary = conversion.progress(bar::update)
                        .checksumProgress((done, total) -> bar.update("checksum", done, total)).run();
                written.publish(bar);
            }
            report.print(report.isJson() ? describe(summary, written) : text(summary, noun(store, summary)));
        }
        return ExitCode.SUCCESS;
    }

    private static DType dtype(String name) {
        return UsageException.valid("--token-dtype: ", () -> DType.of(name));
    }

    private TargetFormat format(Store store, Path path) throws IOException {
        List<TargetFormat> possible = TargetFormat.of(store);
        String given = to;
        TargetFormat format = given == null ? TargetFormat.ofEnding(path).orElse(null)
                : UsageException.valid("--to: ", () -> TargetFormat.of(given));
        if (format == null) {
            throw new UsageException(target + ": its extension names no target format; add --to; supported targets for "
                    + source + ": " + possible);
        }
        if (!format.canHold(store)) {
            throw new UsageException(source + ": cannot convert " + storeOptions.format(source) + " to " + format
                    + "; supported targets: " + possible);
        }
        return format;
    }

    /** Fails if an option was given that says nothing of such a store or such a target. */
    private void checkOptions(Store store, TargetFormat format) {
        if (tokenDType != null && !(format.writer() instanceof StoreWriter.OfDocuments)) {
            throw new UsageException("--token-dtype: found with " + format + ", expected "
                    + names(StoreWriter.OfDocuments.class));
        }
        if (!suffixes.isEmpty() && !(format.writer() instanceof StoreWriter.OfSamples)) {
            throw new UsageException("--suffix: found with " + format + ", expected "
                    + names(StoreWriter.OfSamples.class));
        }
        if (!(store instanceof RecordStore) && (!decoders.isEmpty() || image != null || skipIncomplete)) {
            throw new UsageException("--decode, --image and --skip-incomplete: found with " + source
                    + ", expected a store of records");
        }
        if (store instanceof TokenStore && !fields.isEmpty()) {
            throw new UsageException("--fields: found with " + source + ", expected a store of tensors or records");
        }
    }

    private static String names(Class<? extends StoreWriter> kind) {
        return TargetFormat.all().stream().filter(format -> kind.isInstance(format.writer())).map(TargetFormat::name)
                .collect(Collectors.joining(" or "));
    }

    private Map<String, Decoder> parsedDecoders(Store store) {
        Map<String, Decoder> parsed = new LinkedHashMap<>();
        String size = image;
        if (size != null && store instanceof RecordStore records) {
            DecoderText.requireImages(records);
            records.columns().stream().filter(DecoderText::isImage).forEach(column -> {
                Decoder decoder = UsageException.valid("--image: ", () -> DecoderText.byEncoding(column, size));
                if (decoder != null) {
                    parsed.put(column.name(), decoder);
                }
            });
        }
        decoders.forEach((name, text) -> parsed.put(name,
                UsageException.valid("--decode: ", () -> DecoderText.parse(text))));
        return parsed;
    }

    private void setCopies(Conversion conversion) throws IOException {
        Optional<Augment> augment = augmenting.pipeline();
        if (augment.isEmpty() && (copies != null || seed != null)) {
            throw new UsageException("--copies and --seed: found without --augment, expected both");
        }
        if (augment.isPresent()) {
            int count = copies == null ? 1 : copies;
            long drawnBy = seed == null ? OrderOptions.DEFAULT_SEED : seed;
            UsageException.valid("--copies: ",
                    () -> conversion.augmented(augment.get(), augmenting.named(), count, drawnBy));
        }
    }

    private void setShards(Conversion conversion) {
        if (maxRecords == Long.MAX_VALUE && maxBytes == Long.MAX_VALUE) {
            return;
        }
        if (maxRecords < 1 || maxBytes < 1) {
            throw new UsageException("--max-records, --max-bytes: found less than 1");
        }
        if (!conversion.isNumbered()) {
            throw new UsageException("--max-records and --max-bytes split the result into several tars: found " + target
                    + ", expected {000000} in its name in place of the number");
        }
        conversion.shardsOf(maxRecords, maxBytes);
    }

    private static String noun(Store store, ConversionSummary summary) {
        return switch (TargetFormat.of(summary.format()).writer()) {
            case StoreWriter.OfDocuments _ -> "document";
            case StoreWriter.OfSamples _ -> "sample";
            case StoreWriter.OfTensors _ -> store instanceof RecordStore ? "record"
                    : store instanceof TokenStore ? "document" : "tensor";
        };
    }

    private Map<String, @Nullable Object> describe(ConversionSummary summary, Target written) {
        return Json.members("source", source.toString(), "target", target,
                "format", summary.format(), "records", summary.records(), "bytes", summary.bytes(),
                "files", summary.files().stream().map(written::shown).toList(), "lost", summary.lost(),
                "seconds", summary.nanos() / 1e9, "bytes_per_second", summary.bytesPerSecond());
    }

    private String text(ConversionSummary summary, String noun) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%s: %s in %s, %s (%s)%n", target,
                NumberText.count(summary.records(), noun), NumberText.count(summary.files().size(), "file"),
                NumberText.of(summary.bytes(), "B"), summary.format()));
        summary.lost().forEach(lost -> text.append("  lost: ").append(lost).append('\n'));
        return text.append(String.format(Locale.ROOT, "converted in %.2f s: %s%n", summary.nanos() / 1e9,
                NumberText.of(summary.bytesPerSecond(), "B/s"))).toString();
    }
}
