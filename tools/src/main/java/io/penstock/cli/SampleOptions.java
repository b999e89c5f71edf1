// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.util.Objects.requireNonNullElse;

import io.penstock.chat.ConversationEncoder;
import io.penstock.chat.Conversations;
import io.penstock.collate.Collator;
import io.penstock.collate.Pad;
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.AnswerLengths;
import io.penstock.dataset.Cached;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.DocumentWindows;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.source.FieldSource;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.memory.TensorSpec;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How a store is cut into samples, and how a batch holds their fields. */
final class SampleOptions {

    @Option(names = "--window", paramLabel = "TOKENS",
            description = "Input tokens per sample; a sample has one more, for the labels. Token stores need --window,"
                    + " --pack or --documents.")
    @Nullable Long window;

    @Option(names = "--stride", paramLabel = "TOKENS",
            description = "Distance between the starts of two windows; default: --window.")
    private @Nullable Long stride;

    @Option(names = "--within-documents", description = "Keep each window within one document.")
    private boolean withinDocuments;

    @Option(names = "--pack", paramLabel = "TOKENS",
            description = "Instead of --window: pack whole documents, or lists of integers, into sequences of TOKENS"
                    + " tokens, with positions, document ids, loss mask and cu_seqlens; --tokens-as i32 or i64 adds"
                    + " labels.")
    @Nullable Integer pack;

    @Option(names = "--pack-by", paramLabel = "METHOD",
            description = "best-fit (default) has the least padding, first-fit keeps neighboring documents close.")
    Packing.Method packMethod = Packing.Method.BEST_FIT;

    @Option(names = "--pack-window", paramLabel = "DOCUMENTS",
            description = "With --pack: pack DOCUMENTS documents at a time; default: all, with --source 1000.")
    long packWindow = Long.MAX_VALUE;

    @Option(names = "--documents",
            description = "Instead of --window: one document per sample, padded to the longest of the batch, with"
                    + " attention mask and lengths; --max-length truncates.")
    boolean documents;

    @Option(names = "--tokens-as", paramLabel = "WIDTH",
            description = "store (default): one field, in the store's dtype. i32, i64: inputs and labels, widened. For"
                    + " records with one field of integers: windows if all lengths are equal, else padded.")
    private @Nullable TokensAs tokensAs;

    @Option(names = "--fields", paramLabel = "NAME", split = ",",
            description = "Tensors or columns to load; default: all that can be loaded; of records, those present in"
                    + " the first.")
    List<String> names = List.of();

    @Option(names = "--decode", paramLabel = "NAME=DECODER", mapFallbackValue = "",
            description = "Decoder of a column: " + DecoderText.FORMS + ". Default: chosen by the column's encoding."
                    + " With --source, where the text is: text, or json:FIELD, of tars MEMBER=text; default: text, and"
                    + " json:text of files of JSON lines.")
    Map<String, String> decoders = new LinkedHashMap<>();

    @Option(names = "--image", paramLabel = "HxW",
            description = "Decode images to u8[H,W,3]: resize the shorter side, then crop the center. Default: give"
                    + " the files' bytes.")
    @Nullable String image;

    @Option(names = "--skip-incomplete", description = "Leave out records that lack a field.")
    boolean skipIncomplete;

    @Option(names = "--max-length", paramLabel = "N",
            description = "Truncate variable-length fields, such as text or documents, to N elements.")
    @Nullable Long maxLength;

    @Mixin
    private SplitOptions splitting;

    @Mixin
    AugmentOptions augmenting;

    /** Opens stores as samples, concatenated and augmented; the caller closes them. */
    SampleSource open(List<String> stores, StoreOptions storeOptions) throws IOException {
        return open(stores, storeOptions, null);
    }

    /** The same, of records with conversations if there is an encoder. */
    SampleSource open(List<String> stores, StoreOptions storeOptions, @Nullable ConversationEncoder conversations)
            throws IOException {
        SampleSource plain = openPlain(stores, storeOptions, conversations);
        try {
            return augmenting.over(plain);
        } catch (Throwable t) {
            plain.close();
            throw t;
        }
    }

    /** Opens stores as samples that are not augmented. */
    SampleSource openPlain(List<String> names, StoreOptions storeOptions) throws IOException {
        return openPlain(names, storeOptions, null);
    }

    private SampleSource openPlain(List<String> names, StoreOptions storeOptions,
            @Nullable ConversationEncoder conversations) throws IOException {
        List<Location> stores = storeOptions.locate(names);
        if (pack != null && stores.size() > 1) {
            throw new UsageException("--pack: found " + stores.size() + " stores, expected one");
        }
        List<SampleSource> sources = new ArrayList<>();
        try {
            for (Location store : stores) {
                sources.add(open(store, storeOptions, conversations));
            }
            return sources.size() == 1 ? sources.getFirst() : together(sources);
        } catch (Throwable t) {
            sources.forEach(SampleSource::close);
            throw t;
        }
    }

    private SampleSource together(List<SampleSource> sources) {
        SampleSource first = sources.getFirst();
        Dataset all = UsageException.valid(() -> first.dataset().concat(
                sources.stream().skip(1).map(SampleSource::dataset).toArray(Dataset[]::new)));
        Map<String, @Nullable Object> cut = new LinkedHashMap<>();
        cut.put("stores", sources.stream().map(source -> Json.members("store", source.path(),
                "kind", source.kind(), "samples", source.dataset().size())).toList());
        cut.putAll(first.cut());
        List<Long> sizes = sources.stream().map(source -> source.dataset().size()).toList();
        return new SampleSource(first.path(), first.kind(), () -> sources.reversed().forEach(SampleSource::close), all,
                first.collator(), first.windowTokens(), first.maxLength(), sizes, SampleSource.NO_BLOCKS, cut,
                sources.stream().map(SampleSource::text).collect(Collectors.joining(" and ")));
    }

    private SampleSource open(Location path, StoreOptions storeOptions, @Nullable ConversationEncoder conversations)
            throws IOException {
        Store store = storeOptions.open(path);
        try {
            String kind = storeOptions.format(path);
            if (conversations != null) {
                if (store instanceof RecordStore records) {
                    return conversations(path, kind, records, conversations);
                }
                throw new UsageException("--chat: found " + path + ", which holds no records, expected a store of them;"
                        + " one of penstock tokenize --chat is read without --chat");
            }
            return switch (store) {
                case TokenStore tokens -> windows(path, kind, tokens);
                case TensorStore tensors -> new RowSamples(this, path, kind).of(tensors);
                case RecordStore records -> new RowSamples(this, path, kind).of(records);
            };
        } catch (Throwable t) {
            store.close();
            throw t;
        }
    }

    /** The conversations of records, packed or padded. */
    private SampleSource conversations(Location path, String kind, RecordStore store, ConversationEncoder encoder)
            throws IOException {
        if (window != null || stride != null || withinDocuments || !decoders.isEmpty() || image != null
                || skipIncomplete || pack != null && documents || names.size() > 1) {
            throw new UsageException("--chat: found with --window, --stride, --within-documents, --decode, --image,"
                    + " --skip-incomplete, both --pack and --documents, or several --fields, expected --pack or"
                    + " --documents, and at most one field");
        }
        Conversations chats;
        try {
            chats = names.isEmpty() ? Conversations.of(store, encoder)
                    : Conversations.of(store, names.getFirst(), encoder);
        } catch (IllegalArgumentException e) {
            throw new UsageException("--chat: " + path + ": " + e.getMessage(), e);
        }
        Runnable close = () -> {
            chats.close();
            store.close();
        };
        try {
            Dataset dataset = part(chats);
            if (pack != null) {
                return packed(path, kind, pack, close, dataset);
            }
            Map<String, @Nullable Object> cut = Json.members("conversations", chats.size(),
                    "left_out", chats.leftOut());
            splitting.describe(cut);
            return new SampleSource(path.toString(), kind, close, dataset,
                    encoder.content() == TokenContent.ANSWERS ? width().answers(AnswerLengths.of(dataset, 1))
                            : width().padded(), 0, Long.MAX_VALUE, List.of(dataset.size()), SampleSource.NO_BLOCKS, cut,
                    NumberText.count(dataset.size(), "conversation") + ", " + chats.leftOut() + " left out"
                            + splitting.text());
        } catch (Throwable t) {
            chats.close();
            throw t;
        }
    }

    private SampleSource windows(Location path, String kind, TokenStore store) throws IOException {
        if (!names.isEmpty() || !decoders.isEmpty() || image != null || skipIncomplete
                || maxLength != null && !documents) {
            throw new UsageException(path + " is a token store: --fields, --decode, --image and --skip-incomplete do"
                    + " not apply, and --max-length needs --documents");
        }
        if (documents) {
            return documents(path, kind, store);
        }
        if (pack != null) {
            int capacity = pack;
            Documents whole = Documents.of(store);
            if (whole.source(0) instanceof FieldSource.Stored) {
                return packed(path, kind, capacity, store::close, part(whole));
            }
            Cached together = whole.cache(TokenWindows.TOKENS);
            return packed(path, kind, capacity, () -> {
                together.close();
                store.close();
            }, part(together));
        }
        if (window == null) {
            throw new UsageException("--window: missing; " + path + " is a token store, which needs --window, --pack"
                    + " or --documents");
        }
        UsageException.requireAtLeast(1, "--window", window);
        long tokens = window;
        long step = requireNonNullElse(stride, tokens);
        UsageException.requireAtLeast(1, "--stride", step);
        Dataset windows = UsageException.valid(() -> withinDocuments ? DocumentWindows.of(store, tokens, step)
                : TokenWindows.of(store, tokens, step));
        if (windows.size() == 0) {
            throw new UsageException("--window: found " + tokens + " tokens plus one for the labels, too many for "
                    + (withinDocuments ? "every document of " : "") + path + ", which has "
                    + NumberText.count(store.tokenCount(), "token"));
        }
        Dataset dataset = part(windows);
        Map<String, @Nullable Object> cut = Json.members("window", tokens, "stride", step,
                "within_documents", withinDocuments);
        splitting.describe(cut);
        return new SampleSource(path.toString(), kind, store::close, dataset, windowCollator(), tokens,
                Long.MAX_VALUE, List.of(dataset.size()), SampleSource.NO_BLOCKS, cut,
                NumberText.count(dataset.size(), "window") + " of " + tokens + "+1 tokens"
                        + (step == tokens ? "" : ", one every " + step)
                        + (withinDocuments ? ", within documents" : "") + splitting.text());
    }

    SampleSource packed(Location path, String kind, int tokens, Runnable close, Dataset whole) {
        if (window != null || stride != null || withinDocuments || documents) {
            throw new UsageException("--pack: found with --window, --stride, --within-documents or --documents,"
                    + " expected one of them");
        }
        UsageException.requireAtLeast(1, "--pack", tokens);
        UsageException.requireAtLeast(1, "--pack-window", packWindow);
        PackedSequences sequences = UsageException.valid(
                () -> new Packing(whole, tokens, packMethod, packWindow).pack());
        Map<String, @Nullable Object> cut = Json.members("pack", tokens, "pack_by", packMethod.toString(),
                "pieces", sequences.pieceCount(), "padding_share", sequences.paddingShare());
        splitting.describe(cut);
        return new SampleSource(path.toString(), kind, () -> {
            sequences.close();
            close.run();
        }, sequences,
                width().packed(), tokens, Long.MAX_VALUE, List.of(sequences.size()), SampleSource.NO_BLOCKS, cut,
                NumberText.count(sequences.size(), "sequence") + " of " + tokens + " tokens, "
                        + NumberText.count(sequences.pieceCount(), "piece") + " packed by " + packMethod + ", "
                        + NumberText.percent(sequences.paddingShare()) + " padding" + splitting.text());
    }

    private SampleSource documents(Location path, String kind, TokenStore store) {
        if (window != null || stride != null || withinDocuments || pack != null) {
            throw new UsageException("--documents: found with --window, --stride, --within-documents or --pack,"
                    + " expected one of them");
        }
        long kept = requireNonNullElse(maxLength, Long.MAX_VALUE);
        UsageException.requireAtLeast(1, "--max-length", kept);
        if (store.documentCount() == 0) {
            throw new UsageException("--documents: found no documents in " + path);
        }
        boolean areAnswers = store.content() == TokenContent.ANSWERS;
        if (areAnswers && maxLength != null) {
            throw new UsageException("--max-length: found with answers, which are not cut here: 'penstock tokenize"
                    + " --chat --preferences' has --max-length and --truncate");
        }
        Dataset dataset = part(Documents.of(store, kept));
        Map<String, @Nullable Object> cut = Json.members("max_length", maxLength);
        splitting.describe(cut);
        return new SampleSource(path.toString(), kind, store::close, dataset, areAnswers
                ? width().answers(AnswerLengths.of(dataset, 1)) : width().padded(), 0, kept,
                List.of(dataset.size()), SampleSource.NO_BLOCKS, cut,
                NumberText.count(dataset.size(), "document") + (maxLength == null ? "" : " of up to " + maxLength
                        + " tokens") + splitting.text());
    }

    /** The part of a dataset that --split chooses. */
    Dataset part(Dataset all) {
        return splitting.of(all);
    }

    Collator windowCollator() {
        return width().windows();
    }

    TokensAs width() {
        return requireNonNullElse(tokensAs, TokensAs.STORE);
    }

    SampleSource source(Location path, String kind, Store store, Dataset all, String noun) {
        Dataset dataset = part(all);
        Map<String, @Nullable Object> cut = Json.members("fields",
                dataset.fields().stream().map(TensorSpec::toString).toList());
        splitting.describe(cut);
        return new SampleSource(path.toString(), kind, store::close, dataset, collator(dataset), 0,
                requireNonNullElse(maxLength, Long.MAX_VALUE), List.of(dataset.size()), blocks(store, dataset), cut,
                NumberText.count(dataset.size(), noun) + " of " + dataset.fields() + splitting.text());
    }

    private static long[] blocks(Store store, Dataset dataset) {
        return store instanceof WebDatasetStore shards && shards.size() == dataset.size() ? shards.shardStarts()
                : SampleSource.NO_BLOCKS;
    }

    Collator collator(Dataset dataset) {
        Long longest = maxLength;
        if (tokensAs == null) {
            return longest == null ? StackAndPad.fields() : UsageException.valid(() -> StackAndPad.cutTo(longest));
        }
        TensorSpec only = dataset.fields().getFirst();
        if (dataset.fields().size() != 1 || only.rank() != 1 || !only.dtype().isInteger()) {
            throw new UsageException("--tokens-as: found " + dataset.fields() + ", expected one field of integers"
                    + " (choose one with --fields)");
        }
        if (!only.isVariable()) {
            return windowCollator();
        }
        Pad pad = tokensAs.padded();
        return longest == null ? pad : UsageException.valid(() -> pad.cutTo(longest));
    }

    /** Fails if an option was given that only stores have. */
    void checkForSource() {
        if (splitting.isGiven()) {
            throw new UsageException("--source: found with --split, which needs a store");
        }
        if (stride != null || withinDocuments || !names.isEmpty() || image != null || skipIncomplete) {
            throw new UsageException("--source: found with --stride, --within-documents, --fields, --image or"
                    + " --skip-incomplete, which need a store");
        }
        long ways = Stream.of(window != null, pack != null, documents).filter(given -> given).count();
        if (ways > 1) {
            throw new UsageException("--window, --pack and --documents: found " + ways + ", expected one of them");
        }
    }

    /** Fails if an option was given that needs a token store; {@code advice} says how to get one. */
    void checkNoWindows(Location path, String advice) {
        if (window != null || stride != null || withinDocuments || pack != null || documents) {
            throw new UsageException("--window, --stride, --within-documents, --documents and --pack need a token"
                    + " store (--pack also takes one column of lists, chosen with --fields); " + path + " is not one"
                    + advice);
        }
    }
}
