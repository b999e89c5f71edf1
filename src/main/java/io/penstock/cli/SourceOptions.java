// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.collate.Collator;
import io.penstock.collate.PackedLm;
import io.penstock.collate.Pad;
import io.penstock.dataset.TokenWindows;
import io.penstock.json.Json;
import io.penstock.stream.LineSource;
import io.penstock.stream.PackedSource;
import io.penstock.stream.RecordText;
import io.penstock.stream.StreamDataset;
import io.penstock.stream.StreamEnd;
import io.penstock.stream.StreamSource;
import io.penstock.stream.TokenDocumentSource;
import io.penstock.stream.TokenWindowSource;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Records that are read in order, instead of stores. */
final class SourceOptions {

    private static final String STANDARD_INPUT = "-";
    private static final Pattern SCHEME = Pattern.compile("[a-z][a-z0-9+.-]+:.*", Pattern.DOTALL);
    private static final Predicate<String> JSON_LINES =
            Pattern.compile("\\.(jsonl|ndjson|json)(\\.gz|\\.zst)?$", Pattern.CASE_INSENSITIVE).asPredicate();
    private static final int PACKED_AT_A_TIME = 1000;
    private static final long MOST_BYTES = 1 << 20;

    @Option(names = "--source", paramLabel = "SOURCE",
            description = "Instead of STORE: records read in order. Files of lines (.gz, .zst; each a partition), - for"
                    + " standard input, kafka://HOST:PORT/TOPIC, or jdbc:URL#table=T&key=K&columns=C (quoted).")
    private List<String> names = List.of();

    @Option(names = "--follow", description = "Wait for more where the source ends; default: end there.")
    private boolean follow;

    @Option(names = "--lanes", defaultValue = "1", paramLabel = "N",
            description = "Divide the partitions into N lanes, so that each rank reads only its own; default: every"
                    + " rank reads all.")
    private int lanes;

    @Mixin
    private TokenizerOptions tokenizer;

    /** Opens the source, or else the stores. */
    SampleSource open(List<String> stores, SampleOptions samples, StoreOptions storeOptions, PlanOptions plan)
            throws IOException {
        if (names.isEmpty() == stores.isEmpty()) {
            throw new UsageException("STORE and --source: found " + (stores.isEmpty() ? "neither" : "both")
                    + ", expected one of them");
        }
        if (names.isEmpty()) {
            return samples.open(stores, storeOptions);
        }
        samples.checkForSource();
        StreamSource records = records();
        SampleSource plain = samples.window != null || samples.pack != null || samples.documents
                ? tokens(records, samples, plan) : records(records, samples, plan);
        try {
            return samples.augmenting.over(plain);
        } catch (Throwable t) {
            plain.close();
            throw t;
        }
    }

    private StreamSource records() throws IOException {
        boolean isNamed = names.stream().anyMatch(name -> name.equals(STANDARD_INPUT) || isUri(name));
        if (isNamed && names.size() > 1) {
            throw new UsageException("--source: found " + names + ", expected one source, or files");
        }
        StreamEnd end = follow ? StreamEnd.WAIT : StreamEnd.STOP;
        String first = names.getFirst();
        if (first.equals(STANDARD_INPUT)) {
            // Of a channel, because a thread that reads it can be interrupted.
            return LineSource.once("standard input",
                    Channels.newInputStream(new FileInputStream(FileDescriptor.in).getChannel()));
        }
        if (isNamed) {
            try {
                return StreamSource.open(first, end);
            } catch (IllegalArgumentException e) {
                throw new UsageException("--source: " + e.getMessage(), e);
            }
        }
        Path[] files = names.stream().map(Path::of).toArray(Path[]::new);
        return UsageException.valid("--source: ", () -> follow ? LineSource.growing(files) : LineSource.of(files));
    }

    private static boolean isUri(String name) {
        return SCHEME.matcher(name).matches() && !Files.exists(Path.of(name));
    }

    private StreamDataset.Builder builder(StreamSource source, PlanOptions plan) {
        return UsageException.valid(() -> plan.shuffled(StreamDataset.builder(source)).lanes(lanes));
    }

    /** Records as they are, or decoded. */
    private SampleSource records(StreamSource source, SampleOptions samples, PlanOptions plan) {
        StreamDataset.Builder builder = builder(source, plan);
        long longest = samples.maxLength == null ? MOST_BYTES : samples.maxLength;
        samples.decoders.forEach((name, decoder) -> {
            if (decoder.isEmpty()) {
                throw new UsageException("--decode " + name + " needs --window, --pack or --documents; expected"
                        + " NAME=DECODER");
            }
            UsageException.valid("--decode: ", () -> builder.field(name, DecoderText.parse(decoder), longest));
        });
        if (samples.decoders.isEmpty()) {
            builder.field("record");
        }
        StreamDataset dataset = UsageException.valid(builder::open);
        return sampleSource(dataset, samples, samples.collator(dataset), 0,
                Json.members("fields", dataset.fields().toString()), "records of " + dataset.fields());
    }

    /** The text of records as tokens. */
    private SampleSource tokens(StreamSource source, SampleOptions samples, PlanOptions plan) throws IOException {
        var encoded = TokenDocumentSource.of(source, text(samples.decoders), tokenizer.open());
        TokenDocumentSource documents = plan.skipsBadSamples() ? encoded.skippingBad() : encoded;
        if (samples.pack != null) {
            int capacity = samples.pack;
            int window = samples.packWindow == Long.MAX_VALUE ? PACKED_AT_A_TIME
                    : (int) Math.min(samples.packWindow, Integer.MAX_VALUE);
            PackedSource packed = UsageException.valid(
                    () -> new PackedSource(documents, capacity, samples.packMethod, window));
            StreamDataset dataset = UsageException.valid(builder(packed, plan)::openPacked);
            return sampleSource(dataset, samples, PackedLm.of(samples.width()), capacity,
                    Json.members("pack", capacity, "pack_by", samples.packMethod.toString(), "pack_window", window),
                    "sequences of " + capacity + " tokens, packed by " + samples.packMethod + " from " + window
                            + " documents at a time");
        }
        if (samples.documents) {
            if (samples.maxLength == null) {
                throw new UsageException("--documents with --source: found no --max-length, expected the most tokens"
                        + " of a document");
            }
            long longest = samples.maxLength;
            StreamDataset dataset = UsageException.valid(
                    () -> builder(documents, plan).list(TokenWindows.TOKENS, documents.dtype(), longest).open());
            return sampleSource(dataset, samples, Pad.toLongest(samples.width(), 0), 0,
                    Json.members("max_length", longest), "documents of up to " + longest + " tokens");
        }
        long window = samples.window == null ? 0 : samples.window;
        UsageException.requireAtLeast(1, "--window", window);
        StreamDataset dataset = UsageException.valid(() -> builder(
                new TokenWindowSource(documents, Math.toIntExact(window + 1)), plan)
                .field(TokenWindows.TOKENS, documents.dtype(), window + 1).open());
        return sampleSource(dataset, samples, samples.windowCollator(), window,
                Json.members("window", window), "windows of " + window + "+1 tokens");
    }

    /** Where the text of a record is. */
    private RecordText text(Map<String, String> decoders) {
        String form = decoders.isEmpty() ? names.stream().allMatch(JSON_LINES) ? "json:text" : "text"
                : decoders.keySet().iterator().next();
        if (decoders.size() > 1 || !decoders.getOrDefault(form, "").isEmpty()
                || !form.equals("text") && !form.startsWith("json:")) {
            throw new UsageException("--decode: found " + decoders + ", expected text or json:FIELD for tokens");
        }
        return form.equals("text") ? RecordText.WHOLE : RecordText.jsonField(form.substring("json:".length()));
    }

    private SampleSource sampleSource(StreamDataset dataset, SampleOptions samples, Collator collator,
            long windowTokens, Map<String, @Nullable Object> cut, String text) {
        return new SampleSource(String.join(" ", names), "stream", dataset::close, dataset, collator, windowTokens,
                samples.maxLength == null ? Long.MAX_VALUE : samples.maxLength, List.of(dataset.size()),
                SampleSource.NO_BLOCKS, cut, text);
    }
}
