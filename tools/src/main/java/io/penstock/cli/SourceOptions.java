// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.chat.AnswerTokenizer;
import io.penstock.chat.ChatTokenizer;
import io.penstock.chat.ConversationEncoder;
import io.penstock.collate.Collator;
import io.penstock.format.webdataset.ShardList;
import io.penstock.format.webdataset.WebDatasetSource;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.memory.TensorSpec;
import io.penstock.remote.RemoteFiles;
import io.penstock.stream.DatasetSource;
import io.penstock.stream.LineSource;
import io.penstock.stream.MixtureSource;
import io.penstock.stream.PackedSource;
import io.penstock.stream.RecordText;
import io.penstock.stream.SpoolSource;
import io.penstock.stream.StreamDataset;
import io.penstock.stream.StreamSource;
import io.penstock.stream.StreamSource.StreamEnd;
import io.penstock.stream.TokenWindowSource;
import io.penstock.text.ByteText;
import io.penstock.text.TimeText;
import io.penstock.tokenize.TokenDocumentSource;
import io.penstock.tokenize.Tokenizer;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Records that are read in order, instead of stores. */
final class SourceOptions {

    private static final String STANDARD_INPUT = "-";
    private static final Pattern SCHEME = Pattern.compile("[a-z][a-z0-9+.-]+:.*", Pattern.DOTALL);
    private static final Pattern ONCE = Pattern.compile("-|pipe:.*|tcp:.*", Pattern.DOTALL);
    private static final Predicate<String> JSON_LINES =
            Pattern.compile("\\.(jsonl|ndjson|json)(\\.gz|\\.zst)?$", Pattern.CASE_INSENSITIVE).asPredicate();
    private static final int PACKED_AT_A_TIME = 1000;
    private static final long MOST_BYTES = 1 << 20;

    @Option(names = "--source", paramLabel = "SOURCE",
            description = "Instead of STORE: records read in order. Files of lines (.gz, .zst; each a partition), tars"
                    + " of a WebDataset, - for standard input, pipe:COMMAND, tcp://HOST:PORT, kafka://HOST:PORT/TOPIC,"
                    + " or jdbc:URL#table=T&key=K&columns=C (quoted). With --weights, each is mixed with the others"
                    + " and with the stores.")
    private List<String> names = List.of();

    @Option(names = "--follow", description = "Wait for more where the source ends; default: end there.")
    private boolean follow;

    @Option(names = "--passes", defaultValue = "1", paramLabel = "N",
            description = "Read tars N times. With --shuffle-window, each pass has them in another order.")
    private long passes;

    @Option(names = "--spool", paramLabel = "FOLDER",
            description = "Keep what standard input, a pipe or a socket gives in FOLDER, so that --state resumes"
                    + " exactly.")
    private @Nullable Path spool;

    @Option(names = "--spool-bytes", defaultValue = "16G", paramLabel = "BYTES",
            description = "With --spool: delete the oldest records beyond BYTES; default: ${DEFAULT-VALUE}.")
    private String spoolBytes = "";

    @Option(names = "--live", paramLabel = "TIME",
            description = "Pass over partitions that have had nothing for TIME, such as 2s, and log that in the state;"
                    + " default: wait for each.")
    private @Nullable String live;

    @Option(names = "--lanes", defaultValue = "1", paramLabel = "N",
            description = "Divide the partitions into N lanes, so that each rank reads only its own; default: every"
                    + " rank reads all.")
    private int lanes;

    @Mixin
    private TokenizerOptions tokenizer;

    @Option(names = "--chat",
            description = "Records are conversations, of --source as lines of JSON, of stores in columns or in one that"
                    + " --fields names: make their tokens by --template, and mark those to train on. Needs --pack,"
                    + " --documents or, with --source, --window; --max-length limits their tokens.")
    private boolean chat;

    @Option(names = "--preferences",
            description = "With --chat and --documents: all answers of a record, as tokenize --preferences has them.")
    private boolean preferences;

    @Option(names = "--answers", defaultValue = "2", paramLabel = "N",
            description = "With --preferences and --source: the most answers of a record; default: ${DEFAULT-VALUE}.")
    private int answers;

    @Mixin
    private ChatOptions chats;

    /** Opens the sources, or else the stores; mixes them if there are weights. */
    SampleSource open(List<String> stores, SampleOptions samples, StoreOptions storeOptions, PlanOptions plan)
            throws IOException {
        if (names.isEmpty() == stores.isEmpty() && (names.isEmpty() || plan.weights().isEmpty())) {
            throw new UsageException("STORE and --source: found " + (stores.isEmpty() ? "neither" : "both")
                    + ", expected one of them, or --weights to mix them");
        }
        checkChat(samples);
        if (names.isEmpty()) {
            checkForStores();
            return samples.open(stores, storeOptions, encoder(samples));
        }
        samples.checkForSource();
        List<SampleSource> mixedIn = new ArrayList<>();
        SampleSource plain;
        try {
            for (String store : stores) {
                mixedIn.add(samples.openPlain(List.of(store), storeOptions));
            }
            boolean isText = samples.window != null || samples.pack != null || samples.documents;
            plain = isText ? tokens(samples, storeOptions, plan, mixedIn)
                    : records(samples, storeOptions, plan, mixedIn);
        } catch (Throwable t) {
            mixedIn.forEach(SampleSource::close);
            throw t;
        }
        try {
            return samples.augmenting.over(plain);
        } catch (Throwable t) {
            plain.close();
            throw t;
        }
    }

    private void checkChat(SampleOptions samples) {
        if (chat != chats.isGiven() || preferences && !chat) {
            throw new UsageException("--chat, --template and --preferences: found one without the others, expected both"
                    + " --chat and --template, or none");
        }
        UsageException.requireAtLeast(1, "--answers", answers);
        if (chat && samples.maxLength != null) {
            UsageException.requireAtLeast(1, "--max-length", samples.maxLength);
        }
        if (preferences ? !samples.documents : chat && !samples.documents && samples.pack == null
                && (samples.window == null || names.isEmpty())) {
            throw new UsageException("--chat: found without " + (preferences ? "--documents, which --preferences needs"
                    : "--pack or --documents, expected one of them" + (names.isEmpty() ? "" : ", or --window")));
        }
    }

    /** What makes tokens of conversations; null without --chat. */
    private @Nullable ConversationEncoder encoder(SampleOptions samples) throws IOException {
        if (!chat) {
            return null;
        }
        ChatTokenizer made = chats.open(chats.tokenizer(tokenizer),
                samples.maxLength == null ? Long.MAX_VALUE : samples.maxLength);
        return preferences ? AnswerTokenizer.of(made) : made;
    }

    /** Fails if an option was given that only sources have. */
    private void checkForStores() {
        if (follow || passes != 1 || spool != null || live != null || lanes != 1) {
            throw new UsageException("--follow, --passes, --spool, --live and --lanes: found one of them without"
                    + " --source, which they need");
        }
    }

    /** What is opened as one source: all names, or each by itself if they are mixed. */
    private List<List<String>> groups(PlanOptions plan) {
        return plan.weights().isEmpty() ? List.of(names) : names.stream().map(List::of).toList();
    }

    /** Opens files or a named source, of whose records some members are read if they are tars. */
    private StreamSource source(List<String> group, Collection<String> members, StoreOptions storeOptions,
            PlanOptions plan) throws IOException {
        if (group.stream().allMatch(SourceOptions::isTar)) {
            return tars(group, members, storeOptions, plan);
        }
        if (passes != 1) {
            throw new UsageException("--passes: found " + passes + " with " + group + ", expected tars");
        }
        for (String name : group) {
            if (RemoteFiles.isRemote(name)) {
                return open(name);      // its error says what is read from there
            }
        }
        boolean isNamed = group.stream().anyMatch(name -> ONCE.matcher(name).matches() || isUri(name));
        if (isNamed && group.size() > 1) {
            throw new UsageException("--source: found " + group + ", expected one source, or files");
        }
        String first = group.getFirst();
        Path folder = spool;
        if (folder != null) {
            if (!ONCE.matcher(first).matches() || names.size() > 1) {
                throw new UsageException("--spool: found with " + names + ", expected standard input, a pipe or a"
                        + " socket");
            }
            StreamSource once = open(first);
            return UsageException.valid("--spool-bytes: ",
                    () -> new SpoolSource(once, folder, ByteText.read(spoolBytes)));
        }
        if (isNamed) {
            return open(first);
        }
        Path[] files = group.stream().map(Path::of).toArray(Path[]::new);
        return UsageException.valid("--source: ", () -> follow ? LineSource.growing(files)
                : LineSource.of(files).withDecodeLimit(storeOptions.textLimit()));
    }

    private StreamSource open(String name) throws IOException {
        if (name.equals(STANDARD_INPUT)) {
            // Of a channel, because a thread that reads it can be interrupted.
            return LineSource.once("standard input",
                    Channels.newInputStream(new FileInputStream(FileDescriptor.in).getChannel()));
        }
        try {
            return StreamSource.open(name, follow ? StreamEnd.WAIT : StreamEnd.STOP);
        } catch (IllegalArgumentException e) {
            throw new UsageException("--source: " + e.getMessage(), e);
        }
    }

    private StreamSource tars(List<String> group, Collection<String> members, StoreOptions storeOptions,
            PlanOptions plan) throws IOException {
        if (members.isEmpty() || follow) {
            throw new UsageException("--source: found tars" + (follow ? " with --follow" : " without --decode")
                    + ", expected --decode MEMBER=DECODER, of text MEMBER=text or MEMBER=json:FIELD");
        }
        List<Location> shards = new ArrayList<>();
        for (String name : group) {
            shards.addAll(ShardList.of(storeOptions.locate(name)));
        }
        WebDatasetSource source = WebDatasetSource.of(shards, storeOptions.options().decodeLimit(),
                members.toArray(String[]::new));
        return UsageException.valid("--source: ", () -> {
            WebDatasetSource all = source.passes(passes).partitioned(lanes);
            return plan.skipsBadSamples() ? plan.shuffled(all).skippingIncomplete() : plan.shuffled(all);
        });
    }

    private static boolean isTar(String name) {
        return !ONCE.matcher(name).matches()
                && (ShardList.hasShardName(name) || Files.isDirectory(Path.of(name)));
    }

    private static boolean isUri(String name) {
        return SCHEME.matcher(name).matches() && !Files.exists(Path.of(name));
    }

    /** Mixes sources with stores, or returns the only source. */
    private StreamSource mixed(List<StreamSource> sources, List<SampleSource> stores, PlanOptions plan) {
        List<Double> weights = plan.weights();
        if (weights.isEmpty()) {
            return sources.getFirst();
        }
        List<StreamSource> all = new ArrayList<>();
        stores.forEach(store -> all.add(UsageException.valid(
                () -> DatasetSource.of(store.dataset(), plan.orderOf(store.dataset().size())).partitioned(lanes))));
        all.addAll(sources);
        if (all.size() != weights.size()) {
            throw new UsageException("--weights: found " + weights.size() + " numbers, expected one per store and"
                    + " source, " + all.size() + " in all");
        }
        MixtureSource.Part[] parts = IntStream.range(0, all.size())
                .mapToObj(i -> new MixtureSource.Part(all.get(i), weights.get(i))).toArray(MixtureSource.Part[]::new);
        return UsageException.valid(() -> MixtureSource.of(parts).partitioned(lanes));
    }

    private StreamDataset.Builder builder(StreamSource source, PlanOptions plan) {
        return UsageException.valid(() -> {
            StreamDataset.Builder builder = plan.shuffled(StreamDataset.builder(source)).lanes(lanes);
            return live == null ? builder : builder.live(Duration.ofNanos(TimeText.readNanos(live)));
        });
    }

    /** Records as they are, or decoded. */
    private SampleSource records(SampleOptions samples, StoreOptions storeOptions, PlanOptions plan,
            List<SampleSource> stores) throws IOException {
        List<StreamSource> sources = new ArrayList<>();
        for (List<String> group : groups(plan)) {
            sources.add(source(group, samples.decoders.keySet(), storeOptions, plan));
        }
        StreamDataset.Builder builder = builder(mixed(sources, stores, plan), plan);
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
        return sampleSource(dataset, samples, stores, samples.collator(dataset), 0,
                Json.members("fields", dataset.fields().toString()), "records of " + dataset.fields());
    }

    /** The tokenizer that the options choose. */
    Tokenizer tokenizer() throws IOException {
        return tokenizer.open();
    }

    /** The text of records as tokens. */
    private SampleSource tokens(SampleOptions samples, StoreOptions storeOptions, PlanOptions plan,
            List<SampleSource> stores) throws IOException {
        ConversationEncoder conversations = encoder(samples);
        if (samples.maxLength != null && !samples.documents && conversations == null) {
            throw new UsageException("--max-length: found with --window or --pack, expected --documents");
        }
        Tokenizer encoder = conversations == null ? tokenizer.open() : conversations.tokenizer();
        List<TokenDocumentSource> texts = new ArrayList<>();
        for (List<String> group : groups(plan)) {
            boolean isTar = group.stream().allMatch(SourceOptions::isTar);
            if (conversations != null && samples.decoders.size() > (isTar ? 1 : 0)) {
                throw new UsageException("--decode: found with --chat, expected it for tars alone, as MEMBER=text");
            }
            RecordText text = text(samples.decoders, group, isTar);
            StreamSource records = source(group, isTar ? samples.decoders.keySet() : List.of(), storeOptions, plan);
            var documents = conversations == null ? TokenDocumentSource.of(records, text, encoder)
                    : TokenDocumentSource.of(records, encoder, conversations);
            texts.add(plan.skipsBadSamples() ? documents.skippingBad() : documents);
        }
        TokenDocumentSource first = texts.getFirst();
        String name = first.content().fieldName();
        for (SampleSource store : stores) {
            TensorSpec field = store.dataset().fields().getFirst();
            if (field.dtype() != first.dtype() || conversations != null && !field.name().equals(name)) {
                throw new UsageException(store.path() + ": found " + store.dataset().fields() + ", expected "
                        + (conversations == null ? "tokens" : name) + " as " + first.dtype() + ", as those of the"
                        + " source");
            }
        }
        if (samples.pack != null) {
            if (!plan.weights().isEmpty()) {
                throw new UsageException("--pack: found with --weights, expected --window or --documents");
            }
            int capacity = samples.pack;
            int window = samples.packWindow == Long.MAX_VALUE ? PACKED_AT_A_TIME
                    : (int) Math.min(samples.packWindow, Integer.MAX_VALUE);
            PackedSource packed = UsageException.valid(
                    () -> new PackedSource(first, capacity, samples.packMethod, window));
            StreamDataset dataset = UsageException.valid(builder(packed, plan)::openPacked);
            return sampleSource(dataset, samples, stores, samples.width().packed(), capacity,
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
            StreamSource documents = mixed(List.copyOf(texts), stores, plan);
            StreamDataset dataset = UsageException.valid(
                    () -> builder(documents, plan).list(name, first.dtype(), preferences
                            ? 1 + answers * (longest + 2) : longest).open());
            return sampleSource(dataset, samples, stores, preferences ? samples.width().answers(answers, longest)
                    : samples.width().padded(), 0,
                    Json.members("max_length", longest), "documents of up to " + longest + " tokens");
        }
        long window = samples.window == null ? 0 : samples.window;
        UsageException.requireAtLeast(1, "--window", window);
        int length = Math.toIntExact(window + 1);
        StreamSource windows = mixed(texts.stream().<StreamSource>map(of -> new TokenWindowSource(of, length)).toList(),
                stores, plan);
        StreamDataset dataset = UsageException.valid(
                () -> builder(windows, plan).field(name, first.dtype(), window + 1).open());
        return sampleSource(dataset, samples, stores, samples.windowCollator(), window,
                Json.members("window", window), "windows of " + window + "+1 tokens");
    }

    /** Where the text of a record is. Of a tar, a member is named with it. */
    private static RecordText text(Map<String, String> decoders, List<String> group, boolean isTar) {
        String form = isTar && decoders.size() == 1 ? decoders.values().iterator().next()
                : !decoders.isEmpty() ? decoders.keySet().iterator().next()
                : group.stream().allMatch(JSON_LINES) ? "json:text" : "text";
        if (decoders.size() > 1 || !isTar && !decoders.getOrDefault(form, "").isEmpty()
                || !form.equals("text") && !form.startsWith("json:")) {
            throw new UsageException("--decode: found " + decoders + ", expected text or json:FIELD for tokens"
                    + (isTar ? ", behind MEMBER=" : ""));
        }
        return form.equals("text") ? RecordText.WHOLE : RecordText.jsonField(form.substring("json:".length()));
    }

    private SampleSource sampleSource(StreamDataset dataset, SampleOptions samples, List<SampleSource> stores,
            Collator collator, long windowTokens, Map<String, @Nullable Object> cut, String text) {
        Stream<String> paths = Stream.concat(stores.stream().map(SampleSource::path), names.stream());
        return new SampleSource(paths.collect(Collectors.joining(" ")), "stream", () -> {
            dataset.close();
            stores.forEach(SampleSource::close);
        }, dataset, collator, windowTokens, samples.maxLength == null ? Long.MAX_VALUE : samples.maxLength,
                List.of(dataset.size()), SampleSource.NO_BLOCKS, cut, text);
    }
}
